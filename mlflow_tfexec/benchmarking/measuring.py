"""The steps of one benchmark: a place to keep it, measuring, judging and logging."""

import os
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlflow_tfexec.benchmarking.notices import say
from mlflow_tfexec.errors import Interrupted, LoggingFailed, SpoolError

if TYPE_CHECKING:
    from mlflow_tfexec.benchmarking.progress import Display
    from mlflow_tfexec.protocol import ModelSource
    from mlflow_tfexec.records.findings import Finding
    from mlflow_tfexec.records.judgement import Judgement
    from mlflow_tfexec.records.recording import Recording
    from mlflow_tfexec.records.spec import Spec
    from mlflow_tfexec.spool import SpooledBenchmark
    from mlflow_tfexec.tracking.destination import Destination
    from mlflow_tfexec.tracking.writer import LoggedBenchmark


@dataclass(frozen=True)
class Measured:
    """One benchmark that has been measured."""

    recording: "Recording"
    judgement: "Judgement"
    where: list[tuple[str, str]]
    """(label, text): where it is kept."""
    failure: LoggingFailed | None
    """Why MLflow does not have it. None: it has, or was not to have it."""
    logged: "LoggedBenchmark | None" = None
    """Where in MLflow it is. None: it is not there."""


def open_spool(spool_dir: str | None, destination: "Destination") -> "SpooledBenchmark":
    """Make a place for one benchmark, and note there where it is to be logged.

    Args:
        spool_dir: the spool. None: $MLFLOW_TFEXEC_SPOOL, else under the home directory.
        destination: where it is to be logged.

    Raises:
        RequestError: the place cannot be written to.
    """
    from mlflow_tfexec.spool import SpooledBenchmark, prune, spool_root

    root = spool_root(spool_dir)
    spooled = SpooledBenchmark(root / uuid.uuid4().hex)
    spooled.create()
    prune(root)
    spooled.write_destination(destination.to_json())
    return spooled


def measure(
    spec: "Spec",
    spooled: "SpooledBenchmark",
    source: "ModelSource | None",
    *,
    progress: "Display",
    findings: "tuple[Finding, ...]" = (),
) -> Interrupted | None:
    """Measure until all is decided, or somebody wants an end.

    Args:
        spec: what is to be measured.
        spooled: a created, empty directory of the spool.
        source: where a model lies that was brought here. None: its reference says that.
        progress: told of every step, and closed at the end.
        findings: what is known before it begins, beside what the environment says.

    Returns:
        What ended it before its time. None: nothing did.

    Raises:
        RequestError: the model or the device cannot be had as asked; nothing was measured.
        SpoolError: not even the first line could be written.
    """
    from mlflow_tfexec.benchmarking.request import mode_variables
    from mlflow_tfexec.session.benchmark import run_session

    try:
        variables = mode_variables(spec)
        known = (*findings, *_request_findings())
        run_session(spec, spooled, progress, variables=variables, findings=known, source=source)
    except SpoolError as error:
        if not spooled.recording_path.exists():
            raise
        say(str(error))
    except KeyboardInterrupt as interruption:
        return interruption if isinstance(interruption, Interrupted) else Interrupted("Interrupted.")
    finally:
        progress.close()
    return None


def log(spooled: "SpooledBenchmark", destination: "Destination", *, offline: bool) -> Measured:
    """Judge, and write to MLflow unless *offline*."""
    from mlflow_tfexec.benchmarking.publish import publish, where_lines
    from mlflow_tfexec.statistics.judge import judge

    recording = spooled.load()
    judgement = judge(recording)
    failure: LoggingFailed | None = None
    logged: LoggedBenchmark | None = None
    where = [("Not logged yet", f"mlflow-tfexec sync {spooled.directory}")]
    if not offline:
        try:
            logged = publish(spooled, recording, judgement, destination)
            where = where_lines(logged)
        except LoggingFailed as error:
            failure = error
    where.append(("Recording", str(spooled.recording_path)))
    return Measured(recording, judgement, where, failure, logged)


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
