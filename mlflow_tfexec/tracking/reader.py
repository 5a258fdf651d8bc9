"""Find a benchmark again in MLflow."""

import os
import tempfile
from pathlib import Path
from typing import Any

from mlflow_tfexec.errors import RecordingError
from mlflow_tfexec.records.codec import decode
from mlflow_tfexec.records.recording import Recording
from mlflow_tfexec.tracking import keys
from mlflow_tfexec.tracking.connection import REACHING, TRANSFERRING, connect, is_absent, quiet, reason
from mlflow_tfexec.tracking.destination import reached, unreached

_PATH = f"{keys.ARTIFACT_DIRECTORY}/{keys.RECORDING_FILE}"


def find_recording(reference: str, *, tracking_uri: str | None) -> Recording:
    """Download the recording of a benchmark.

    Args:
        reference: run id of the parent or of one of its modes.
        tracking_uri: where to look. None: MLFLOW_TRACKING_URI, or MLflow's default.

    Raises:
        TrackingError: the store does not answer.
        RecordingError: the run does not exist or is no benchmark, or its recording is gone or damaged.
    """
    asked = unreached(tracking_uri=tracking_uri, experiment=None, environ=os.environ)
    uri = asked.reachable_uri(os.environ)
    with quiet(REACHING, uri), reached(uri):
        client = connect(uri)
        run = _run(client, reference, shown=asked.tracking_uri)
        if run.data.tags.get(keys.KIND) == keys.KIND_MODE and keys.PARENT_RUN_ID in run.data.tags:
            run = _run(client, run.data.tags[keys.PARENT_RUN_ID], shown=asked.tracking_uri)
    if run.data.tags.get(keys.KIND) != keys.KIND_BENCHMARK:
        raise RecordingError(f"Run {reference!r} is no benchmark: it was not written by mlflow-tfexec.")
    with quiet(TRANSFERRING, uri):
        return decode(_download(client, run.info.run_id, uri), name=f"run {run.info.run_id}")


def _run(client: Any, run_id: str, *, shown: str) -> Any:
    try:
        return client.get_run(run_id)
    except Exception as error:
        # MLflow answers a malformed id with a complaint about its characters.
        if is_absent(error) or getattr(error, "error_code", None) == "INVALID_PARAMETER_VALUE":
            raise RecordingError(
                f"Run {run_id!r} does not exist in {shown}. Correct the id, or --tracking-uri."
            ) from None
        raise


def _download(client: Any, run_id: str, uri: str) -> str:
    with tempfile.TemporaryDirectory(prefix="mlflow-tfexec-") as directory:
        try:
            return Path(client.download_artifacts(run_id, _PATH, directory)).read_text(encoding="utf-8")
        except Exception as error:  # noqa: BLE001 - every artifact store raises types of its own
            raise RecordingError(
                f"Run {run_id!r} has no readable {_PATH}: {reason(error, uri)}. "
                "It was deleted, or the benchmark was not completely written: `mlflow-tfexec sync` writes it again."
            ) from None
