"""`mlflow-tfexec run`: measure a model's ways of executing, judge them, keep the result in MLflow."""

import os
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from mlflow_tfexec.cli.request import AUTO, DTYPES, TASKS, RunOptions, unless_auto
from mlflow_tfexec.cli.shared_options import FormatOption
from mlflow_tfexec.errors import EXIT_DONE, EXIT_INCOMPLETE, EXIT_INTERRUPTED, Interrupted, LoggingFailed, SpoolError
from mlflow_tfexec.records.spec import PRESETS

if TYPE_CHECKING:
    from mlflow_tfexec.records.findings import Finding
    from mlflow_tfexec.records.judgement import Judgement
    from mlflow_tfexec.records.recording import Recording
    from mlflow_tfexec.records.spec import Spec
    from mlflow_tfexec.reports import Format
    from mlflow_tfexec.spool import SpooledBenchmark
    from mlflow_tfexec.tracking.destination import Destination

_DEFAULTS = RunOptions(model="")


def _presets_in_words() -> str:
    """Say what each preset is."""
    said = []
    for name, preset in PRESETS.items():
        fewest, most = preset.looks[0], preset.looks[-1]
        launches = f"{fewest} launch" if most == 1 else f"{fewest} to {most} launches"
        said.append(f"{name}: {launches} × {preset.rounds} rounds")
    return f"{'; '.join(said)}."


@dataclass(frozen=True)
class _Delivery:
    """Where the result goes."""

    destination: "Destination"
    offline: bool
    report_format: "Format"
    strict: bool


def command(
    model: Annotated[
        str,
        typer.Argument(
            help="A name of keras.applications, in any case, or path/to/file.py:function or package.module:function."
        ),
    ],
    *,
    modes: Annotated[
        str, typer.Option(help="Names separated by commas, `eager` among them; auto: the default set.")
    ] = _DEFAULTS.modes,
    task: Annotated[str, typer.Option(help=f"What is timed: {', '.join(TASKS)}.")] = _DEFAULTS.task,
    preset: Annotated[str, typer.Option(help=_presets_in_words())] = _DEFAULTS.preset,
    batch_size: Annotated[str, typer.Option(help="Items per call.")] = _DEFAULTS.batch_size,
    input_shape: Annotated[
        str, typer.Option(help="One item without the batch, such as 384,384,3; auto: the model's own.")
    ] = _DEFAULTS.input_shape,
    dtype: Annotated[str, typer.Option(help=f"Keras dtype policy: {', '.join(DTYPES)}.")] = _DEFAULTS.dtype,
    weights: Annotated[
        str,
        typer.Option(help="imagenet, or a weights file; none is random weights from the seed, without a download."),
    ] = _DEFAULTS.weights,
    device: Annotated[
        str, typer.Option(help="cpu, gpu or gpu:N; auto takes a GPU if TensorFlow can use one.")
    ] = _DEFAULTS.device,
    seed: Annotated[str, typer.Option(help="Of weights, inputs and the order of rounds.")] = _DEFAULTS.seed,
    launches: Annotated[
        str,
        typer.Option(
            help="Sets of fresh processes; auto: by preset, ending once all is decided. A number has no early end."
        ),
    ] = _DEFAULTS.launches,
    rounds: Annotated[str, typer.Option(help="Rounds per launch; auto: by preset.")] = _DEFAULTS.rounds,
    block_ms: Annotated[str, typer.Option(help="Timed work per mode and round, in ms.")] = _DEFAULTS.block_ms,
    warmup: Annotated[str, typer.Option(help="Longest warm-up per mode and launch, in s.")] = _DEFAULTS.warmup,
    timeout: Annotated[
        str, typer.Option(help="Longest wait for one step of one mode, such as a compile, in s.")
    ] = _DEFAULTS.timeout,
    margin: Annotated[
        str, typer.Option(help="Margin of equivalence: modes shown to be closer than this are equivalent.")
    ] = _DEFAULTS.margin,
    time_budget: Annotated[
        str, typer.Option(help="Begin no launch that would end later than this, in s; auto: no limit.")
    ] = _DEFAULTS.time_budget,
    experiment: Annotated[str, typer.Option(help="MLflow experiment; auto: MLflow's own setting.")] = AUTO,
    tracking_uri: Annotated[str, typer.Option(help="MLflow tracking URI; auto: MLflow's own setting.")] = AUTO,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Measure a little, keep nothing, say what each preset takes and tells here."),
    ] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Only measure; log later with `sync`.")] = False,
    spool_dir: Annotated[
        str,
        typer.Option(
            help="Where results are kept until MLflow has them; auto: $MLFLOW_TFEXEC_SPOOL, else "
            "~/.mlflow-tfexec/spool."
        ),
    ] = AUTO,
    report_format: FormatOption = "console",
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 if any mode is not ok.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> int:
    """Measure one model in several modes, side by side."""
    del debug  # read from the command line by `app.run`, where errors become text
    from mlflow_tfexec.cli.output import find_format
    from mlflow_tfexec.cli.request import build_spec
    from mlflow_tfexec.tracking.destination import resolve, unreached

    options = RunOptions(
        model=model,
        modes=modes,
        task=task,
        preset=preset,
        batch_size=batch_size,
        input_shape=input_shape,
        dtype=dtype,
        weights=weights,
        device=device,
        seed=seed,
        launches=launches,
        rounds=rounds,
        block_ms=block_ms,
        warmup=warmup,
        timeout=timeout,
        margin=margin,
        time_budget=time_budget,
    )
    spec = build_spec(options)
    if dry_run:
        from mlflow_tfexec.cli import dry_run as planning

        return planning.dry_run(spec, report_format)
    settle = unreached if offline else resolve
    delivery = _Delivery(
        report_format=find_format(report_format),
        destination=settle(
            tracking_uri=unless_auto(tracking_uri),
            experiment=unless_auto(experiment),
            environ=os.environ,
        ),
        offline=offline,
        strict=strict,
    )
    return _run(spec, delivery, _open_spool(spool_dir, delivery.destination))


def _open_spool(spool_dir: str, destination: "Destination") -> "SpooledBenchmark":
    from mlflow_tfexec.spool import SpooledBenchmark, prune, spool_root

    root = spool_root(unless_auto(spool_dir))
    spooled = SpooledBenchmark(root / uuid.uuid4().hex)
    spooled.create()
    prune(root)
    spooled.write_destination(destination.to_json())
    return spooled


def _run(spec: "Spec", delivery: _Delivery, spooled: "SpooledBenchmark") -> int:
    """Measure, then report and log; an interruption ends the first and not the second."""
    from mlflow_tfexec.cli.interrupts import interruptible

    try:
        with interruptible():
            try:
                _measure(spec, spooled)
            except Interrupted as interruption:
                if not spooled.recording_path.exists():
                    _say(f"{interruption} Nothing was measured yet.")
                    return EXIT_INTERRUPTED
                _say(f"{interruption} What was measured is being logged.")
                _deliver(spooled, delivery)
                return EXIT_INTERRUPTED
            return _deliver(spooled, delivery)
    except Interrupted as interruption:
        _say(f"{interruption} What was measured is kept; log it with: mlflow-tfexec sync {spooled.directory}")
        return EXIT_INTERRUPTED
    finally:
        spooled.release()


def _measure(spec: "Spec", spooled: "SpooledBenchmark") -> None:
    from mlflow_tfexec.cli.progress import make_progress
    from mlflow_tfexec.cli.request import mode_variables
    from mlflow_tfexec.session.benchmark import run_session

    progress = make_progress()
    try:
        run_session(spec, spooled, progress, variables=mode_variables(spec), findings=_request_findings())
    except SpoolError as error:
        if not spooled.recording_path.exists():
            raise
        _say(str(error))
    finally:
        progress.close()


def _request_findings() -> "tuple[Finding, ...]":
    """Say what in the environment was overridden, or bends the result."""
    from mlflow_tfexec.session import findings

    found = []
    backend = os.environ.get("KERAS_BACKEND")
    if backend and backend != "tensorflow":
        found.append(findings.keras_backend_overridden(backend))
    flags = os.environ.get("TF_XLA_FLAGS", "")
    if "auto_jit" in flags:
        found.append(findings.auto_jit(flags))
    return tuple(found)


def _deliver(spooled: "SpooledBenchmark", delivery: _Delivery) -> int:
    """Judge, log and print. The report is printed even if MLflow does not take the result."""
    from mlflow_tfexec import reports
    from mlflow_tfexec.cli.output import emit
    from mlflow_tfexec.cli.publish import publish, where_lines
    from mlflow_tfexec.statistics.judge import judge

    recording = spooled.load()
    judgement = judge(recording)
    failure: LoggingFailed | None = None
    where = [("Not logged yet", f"mlflow-tfexec sync {spooled.directory}")]
    if not delivery.offline:
        _say("logging to MLflow")
        try:
            where = where_lines(publish(spooled, recording, judgement, delivery.destination))
        except LoggingFailed as error:
            failure = error
    where.append(("Recording", str(spooled.recording_path)))
    table = reports.table([(recording, judgement)], where={judgement.benchmark_id: where})
    emit(table, delivery.report_format)
    if delivery.report_format.name != "console":
        for label, text in where:
            _say(f"{label}: {text}")
    if failure is not None:
        raise failure
    return _exit_code(recording, judgement, strict=delivery.strict)


def _exit_code(recording: "Recording", judgement: "Judgement", *, strict: bool) -> int:
    """Return 0 when the baseline and one more ranked mode were measured (all of them, if *strict*)."""
    complete = judgement.has_comparison and recording.end is not None and recording.end.status == "complete"
    if strict:
        complete = complete and all(mode.status == "ok" for mode in judgement.modes)
    return EXIT_DONE if complete else EXIT_INCOMPLETE


def _say(line: str) -> None:
    typer.echo(f"mlflow-tfexec: {line}", err=True)
