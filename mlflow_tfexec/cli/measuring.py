"""One benchmark of `run`: measured, judged, logged; and the report on all of them."""

import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlflow_tfexec.cli.notices import say
from mlflow_tfexec.cli.request import unless_auto
from mlflow_tfexec.errors import EXIT_DONE, EXIT_INCOMPLETE, Interrupted, LoggingFailed, SpoolError

if TYPE_CHECKING:
    from mlflow_tfexec.protocol import ModelSource
    from mlflow_tfexec.records.findings import Finding
    from mlflow_tfexec.records.judgement import Judgement
    from mlflow_tfexec.records.recording import Recording
    from mlflow_tfexec.records.spec import Spec
    from mlflow_tfexec.reports import Format
    from mlflow_tfexec.spool import SpooledBenchmark
    from mlflow_tfexec.tracking.destination import Destination


@dataclass(frozen=True)
class Delivery:
    """Where results go."""

    destination: "Destination"
    offline: bool
    report_format: "Format"
    strict: bool


@dataclass(frozen=True)
class Measured:
    """One benchmark that has been measured."""

    recording: "Recording"
    judgement: "Judgement"
    where: list[tuple[str, str]]
    """(label, text): where it is kept."""
    failure: LoggingFailed | None
    """Why MLflow does not have it. None: it has, or was not to have it."""


def open_spool(spool_dir: str, destination: "Destination") -> "SpooledBenchmark":
    """Make a place for one benchmark, and note there where it is to be logged.

    Raises:
        RequestError: the place cannot be written to.
    """
    from mlflow_tfexec.spool import SpooledBenchmark, prune, spool_root

    root = spool_root(unless_auto(spool_dir))
    spooled = SpooledBenchmark(root / uuid.uuid4().hex)
    spooled.create()
    prune(root)
    spooled.write_destination(destination.to_json())
    return spooled


def measure(spec: "Spec", spooled: "SpooledBenchmark", source: "ModelSource | None") -> Interrupted | None:
    """Measure until all is decided, or somebody wants an end. *source* is where a model lies that was fetched.

    Returns:
        What ended it before its time. None: nothing did.

    Raises:
        RequestError: the model or the device cannot be had as asked; nothing was measured.
        SpoolError: not even the first line could be written.
    """
    from mlflow_tfexec.cli.progress import make_progress
    from mlflow_tfexec.cli.request import mode_variables
    from mlflow_tfexec.session.benchmark import run_session

    progress = make_progress()
    try:
        variables = mode_variables(spec)
        run_session(spec, spooled, progress, variables=variables, findings=_request_findings(), source=source)
    except SpoolError as error:
        if not spooled.recording_path.exists():
            raise
        say(str(error))
    except Interrupted as interruption:
        return interruption
    finally:
        progress.close()
    return None


def log(spooled: "SpooledBenchmark", destination: "Destination", *, offline: bool) -> Measured:
    """Judge, and write to MLflow unless *offline*."""
    from mlflow_tfexec.cli.publish import publish, where_lines
    from mlflow_tfexec.statistics.judge import judge

    recording = spooled.load()
    judgement = judge(recording)
    failure: LoggingFailed | None = None
    where = [("Not logged yet", f"mlflow-tfexec sync {spooled.directory}")]
    if not offline:
        say("logging to MLflow")
        try:
            where = where_lines(publish(spooled, recording, judgement, destination))
        except LoggingFailed as error:
            failure = error
    where.append(("Recording", str(spooled.recording_path)))
    return Measured(recording, judgement, where, failure)


def show(measured: Sequence[Measured], report_format: "Format") -> None:
    """Print one report on all benchmarks, whether MLflow has taken them or not."""
    from mlflow_tfexec import reports
    from mlflow_tfexec.cli.output import emit

    entries = [(one.recording, one.judgement) for one in measured]
    emit(reports.table(entries, where={one.judgement.benchmark_id: one.where for one in measured}), report_format)
    if report_format.name != "console":
        for label, text in (line for one in measured for line in one.where):
            say(f"{label}: {text}")


def exit_code(measured: Measured, *, strict: bool) -> int:
    """Return 0 when the baseline and one more ranked mode were measured (all of them, if *strict*)."""
    recording, judgement = measured.recording, measured.judgement
    complete = judgement.has_comparison and recording.end is not None and recording.end.status == "complete"
    if strict:
        complete = complete and all(mode.status == "ok" for mode in judgement.modes)
    return EXIT_DONE if complete and measured.failure is None else EXIT_INCOMPLETE


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
