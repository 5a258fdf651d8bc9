"""`mlflow-tfexec run`: measure a model's ways of executing, judge them, keep the result in MLflow."""

import functools
import os
from typing import Annotated

import typer

from mlflow_tfexec.benchmarking.request import AUTO, DTYPES, TASKS, RunOptions, unless_auto
from mlflow_tfexec.cli.shared_options import FormatOption
from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.records.spec import PRESETS

_DEFAULTS = RunOptions(model="")
_MODEL = (
    "A name of keras.applications, in any case, a .keras or .h5 file, a SavedModel, path/to/file.py:function, "
    "package.module:function, or a model in MLflow: models:/name/version, models:/name@alias, runs:/id/path."
)


def _presets_in_words() -> str:
    """Say what each preset is."""
    said = []
    for name, preset in PRESETS.items():
        fewest, most = preset.looks[0], preset.looks[-1]
        launches = f"{fewest} launch" if most == 1 else f"{fewest} to {most} launches"
        said.append(f"{name}: {launches} × {preset.rounds} rounds")
    return f"{'; '.join(said)}."


def command(
    model: Annotated[str, typer.Argument(help=_MODEL)],
    *,
    modes: Annotated[
        str, typer.Option(help="Names separated by commas, `eager` among them; auto: the default set.")
    ] = _DEFAULTS.modes,
    task: Annotated[str, typer.Option(help=f"What is timed: {' or '.join(TASKS)}.")] = _DEFAULTS.task,
    preset: Annotated[str, typer.Option(help=_presets_in_words())] = _DEFAULTS.preset,
    batch_size: Annotated[
        str, typer.Option(help="Items per call; several, as 1,8,32, are a benchmark each; auto: the inputs' own, or 1.")
    ] = _DEFAULTS.batch_size,
    input_shape: Annotated[
        str,
        typer.Option(
            help="One item without the batch, such as 384,384,3, or name=shape;name=shape; auto: the model's own."
        ),
    ] = _DEFAULTS.input_shape,
    shapes: Annotated[
        str, typer.Option(help="Several shapes, a benchmark each: 224x224x3,384x384x3; auto: only --input-shape.")
    ] = _DEFAULTS.shapes,
    inputs: Annotated[
        str,
        typer.Option(help="Inputs from a.npz, .npy, .json, .parquet (a.npz,b.npz: in turn) or file.py:function."),
    ] = _DEFAULTS.inputs,
    include_transfer: Annotated[
        bool,
        typer.Option(
            "--include-transfer/--no-include-transfer",
            help="Time the inputs' way from the host to the device as well.",
        ),
    ] = _DEFAULTS.include_transfer,
    dtype: Annotated[str, typer.Option(help=f"Keras dtype policy: {', '.join(DTYPES)}.")] = _DEFAULTS.dtype,
    weights: Annotated[
        str,
        typer.Option(help="imagenet, or a weights file; none is random weights from the seed, without a download."),
    ] = _DEFAULTS.weights,
    custom_objects: Annotated[
        str, typer.Option(help="Classes and functions that a file needs: module:Class,path/to/file.py:Class.")
    ] = _DEFAULTS.custom_objects,
    endpoint: Annotated[
        str, typer.Option(help="Which function of a SavedModel; auto: the only one, serve or serving_default.")
    ] = _DEFAULTS.endpoint,
    safe_mode: Annotated[
        bool,
        typer.Option(
            "--safe-mode/--no-safe-mode",
            help="Refuse a file that holds code; with --no-safe-mode it may run any code that it holds.",
        ),
    ] = _DEFAULTS.safe_mode,
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
    loss: Annotated[
        str, typer.Option(help="Of --task train: Keras's name; auto: the model's own, or a default.")
    ] = _DEFAULTS.loss,
    optimizer: Annotated[
        str, typer.Option(help="Of --task train: Keras's name; auto: the model's own, or adam.")
    ] = _DEFAULTS.optimizer,
    float64_reference: Annotated[
        bool,
        typer.Option(
            "--float64-reference/--no-float64-reference",
            help="Also compare outputs with those of the model in float64.",
        ),
    ] = _DEFAULTS.float64_reference,
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
    from mlflow_tfexec.cli.delivery import Delivery
    from mlflow_tfexec.cli.output import find_format
    from mlflow_tfexec.cli.sizes import build_specs
    from mlflow_tfexec.cli.sweep import run_all
    from mlflow_tfexec.tracking.destination import resolve, unreached

    options = RunOptions(
        model=model,
        modes=modes,
        task=task,
        preset=preset,
        batch_size=batch_size,
        input_shape=input_shape,
        shapes=shapes,
        inputs=inputs,
        include_transfer=include_transfer,
        dtype=dtype,
        weights=weights,
        custom_objects=custom_objects,
        endpoint=endpoint,
        safe_mode=safe_mode,
        device=device,
        seed=seed,
        launches=launches,
        rounds=rounds,
        block_ms=block_ms,
        warmup=warmup,
        timeout=timeout,
        margin=margin,
        time_budget=time_budget,
        loss=loss,
        optimizer=optimizer,
        float64_reference=float64_reference,
    )
    specs = build_specs(options)
    settle = functools.partial(
        unreached if offline or dry_run else resolve,
        tracking_uri=unless_auto(tracking_uri),
        experiment=unless_auto(experiment),
        environ=os.environ,
    )
    if dry_run:
        from mlflow_tfexec.cli import dry_run as planning

        if len(specs) > 1:
            raise RequestError(f"--dry-run foresees one benchmark, and {len(specs)} are asked for. Give one size.")
        return planning.dry_run(specs[0], report_format, settle)
    delivery = Delivery(
        report_format=find_format(report_format),
        destination=settle(),
        offline=offline,
        strict=strict,
    )
    return run_all(specs, delivery, spool_dir)
