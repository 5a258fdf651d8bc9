"""Find a benchmark again in MLflow."""

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlflow_tfexec.errors import RecordingError
from mlflow_tfexec.records.codec import decode
from mlflow_tfexec.records.recording import Recording
from mlflow_tfexec.tracking import keys
from mlflow_tfexec.tracking.connection import (
    NAMING,
    REACHING,
    TRANSFERRING,
    connect,
    is_absent,
    is_gone,
    quiet,
    reached,
    reason,
)
from mlflow_tfexec.tracking.destination import unreached
from mlflow_tfexec.tracking.filters import shown
from mlflow_tfexec.tracking.query import FoundBenchmark

_PATH = f"{keys.ARTIFACT_DIRECTORY}/{keys.RECORDING_FILE}"

# Databricks' own files need the profile of the tracking URI, which MLflow adds when it is asked by run.
_ASKED_BY_RUN = "dbfs:"


@dataclass(frozen=True)
class FoundRecording:
    """A recording and the run that it was in."""

    run_id: str
    """The benchmark's own run, the parent."""
    recording: Recording


def find_recording(reference: str, *, tracking_uri: str | None) -> Recording:
    """Download the recording of a benchmark: that of `find_logged`, which says what is raised."""
    return find_logged(reference, tracking_uri=tracking_uri).recording


def find_logged(reference: str, *, tracking_uri: str | None) -> FoundRecording:
    """Find the run of a benchmark and download its recording.

    Args:
        reference: run id of the parent or of one of its modes.
        tracking_uri: where to look. None: MLFLOW_TRACKING_URI, or MLflow's default.

    Raises:
        TrackingError: the store does not answer.
        RecordingError: the run does not exist or is no benchmark, or its recording is gone or damaged.
    """
    asked = unreached(tracking_uri=tracking_uri, experiment=None, environ=os.environ)
    uri = asked.reachable_uri(os.environ)
    with quiet(REACHING, uri), reached(uri, NAMING):
        client = connect(uri)
        run = _run(client, reference, store=asked.tracking_uri)
        if run.data.tags.get(keys.KIND) == keys.KIND_MODE and keys.PARENT_RUN_ID in run.data.tags:
            run = _run(client, run.data.tags[keys.PARENT_RUN_ID], store=asked.tracking_uri)
    if run.data.tags.get(keys.KIND) != keys.KIND_BENCHMARK:
        raise RecordingError(f"Run {reference!r} is no benchmark: {_what_it_is(run.data.tags)}")
    run_id = str(run.info.run_id)
    return FoundRecording(run_id, _read(run_id, run.info.artifact_uri, uri))


def read_recording(found: FoundBenchmark, *, tracking_uri: str | None) -> Recording:
    """Download the recording of a benchmark that a query found. The tracking store is not asked again.

    Raises:
        RecordingError: its recording is gone or damaged, or cannot be reached.
    """
    asked = unreached(tracking_uri=tracking_uri, experiment=None, environ=os.environ)
    return _read(found.run_id, found.artifact_uri, asked.reachable_uri(os.environ))


def _what_it_is(tags: Mapping[str, str]) -> str:
    """Say what a run is that is no benchmark, and what to do."""
    if tags.get(keys.KIND) != keys.KIND_REPORT:
        return "it was not written by mlflow-tfexec."
    about = shown(tags.get(keys.BENCHMARK_IDS, ""))
    return f"it is a report, on {about}. Its text is in its artifacts; `mlflow-tfexec runs` lists benchmarks by run id."


def _run(client: Any, run_id: str, *, store: str) -> Any:
    try:
        return client.get_run(run_id)
    except Exception as error:
        # MLflow answers a malformed id with a complaint about its characters.
        if is_absent(error) or getattr(error, "error_code", None) == "INVALID_PARAMETER_VALUE":
            raise RecordingError(
                f"Run {run_id!r} does not exist in {store}. Correct the id, or --tracking-uri."
            ) from None
        raise


def _read(run_id: str, artifact_uri: str | None, uri: str) -> Recording:
    with quiet(TRANSFERRING, uri), tempfile.TemporaryDirectory(prefix="mlflow-tfexec-") as directory:
        try:
            path = Path(_download(run_id, artifact_uri, uri, directory))
        except Exception as error:  # noqa: BLE001 - every artifact store raises types of its own
            raise RecordingError(_not_fetched(run_id, error, uri)) from None
        # Line by line: the text of a large recording is not held beside what is read from it.
        with path.open(encoding="utf-8", newline="\n") as stream:
            try:
                return decode(stream, name=f"run {run_id}")
            except UnicodeDecodeError:
                raise RecordingError(f"The recording of run {run_id!r} is damaged: it is not text.") from None


def _not_fetched(run_id: str, error: Exception, uri: str) -> str:
    """Say why there is no recording: a file that is gone is another matter than a store that does not answer."""
    if is_gone(error):
        return (
            f"Run {run_id!r} has no readable {_PATH}: {reason(error, uri)}. "
            "It was deleted, or the benchmark was not completely written: `mlflow-tfexec sync` writes it again."
        )
    return (
        f"The recording of run {run_id!r} cannot be fetched: {reason(error, uri)}. "
        "The place of its artifacts must be reachable from here, like the tracking store."
    )


def _download(run_id: str, artifact_uri: str | None, uri: str, directory: str) -> str:
    """Fetch the file. By run, MLflow would first ask for the run, and then whether a model of it has such a file."""
    from mlflow.artifacts import download_artifacts
    from mlflow.utils.uri import append_to_uri_path

    if artifact_uri is None or artifact_uri.startswith(_ASKED_BY_RUN):
        return str(download_artifacts(run_id=run_id, artifact_path=_PATH, dst_path=directory, tracking_uri=uri))
    file = append_to_uri_path(artifact_uri, _PATH)
    return str(download_artifacts(artifact_uri=file, dst_path=directory, tracking_uri=uri))
