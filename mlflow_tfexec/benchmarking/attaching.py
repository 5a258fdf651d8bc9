"""Attaching a benchmark to runs and models that exist, and pulling what is attached."""

import os.path
import re
from typing import TYPE_CHECKING, Any

from mlflow_tfexec.errors import RequestError

if TYPE_CHECKING:
    from mlflow_tfexec.records.recording import Recording
    from mlflow_tfexec.tracking.attacher import Attached

# With the longest name behind it, within the 250 characters that MLflow takes.
_PREFIX = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


def find(reference: str, *, tracking_uri: str | None) -> "tuple[Recording, str | None]":
    """Read the recording that *reference* names, and say in which run it is. What exists as a path is one.

    Returns:
        The recording; id of the benchmark's own run, None for a path.

    Raises:
        RecordingError: there is no such benchmark, or its recording is not readable.
        TrackingError: the store does not answer.
    """
    if os.path.exists(reference):  # noqa: PTH110 - Path.exists raises for a name that is too long
        from mlflow_tfexec.records.codec import load_recording

        return load_recording(reference), None
    from mlflow_tfexec.tracking.reader import find_logged

    found = find_logged(reference, tracking_uri=tracking_uri)
    return found.recording, found.run_id


def attach_recording(
    recording: "Recording", run_id: str | None, to: str, *, prefix: str, force: bool, tracking_uri: str | None
) -> "Attached":
    """Judge a recording and write its headline to what *to* names.

    Raises:
        RequestError: as `attach_to`; the prefix cannot be one; or nothing was compared.
        LoggingFailed: as `attach_to`.
    """
    from mlflow_tfexec.statistics.judge import judge
    from mlflow_tfexec.tracking.attacher import attach_to
    from mlflow_tfexec.tracking.attachment import describe, refuse_empty
    from mlflow_tfexec.tracking.content import benchmark_times

    checked_prefix(prefix)
    judgement = judge(recording)
    refuse_empty(judgement)
    _, end = benchmark_times(recording)
    return attach_to(
        to,
        describe(recording, judgement),
        run_id=run_id,
        time_ms=end,
        prefix=prefix,
        force=force,
        tracking_uri=tracking_uri,
    )


def pull_document(target: str, *, prefix: str, tracking_uri: str | None) -> dict[str, Any]:
    """Give what is attached to *target*, or what a benchmark's own run says, as `attachment.schema.json` has it.

    Raises:
        RequestError: as `read_attached`; the prefix cannot be one; or a benchmark's recording is not readable.
    """
    from mlflow_tfexec.statistics.judge import judge
    from mlflow_tfexec.tracking.attacher import read_attached
    from mlflow_tfexec.tracking.attachment import describe, document
    from mlflow_tfexec.tracking.reader import find_logged

    pulled = read_attached(target, prefix=checked_prefix(prefix), tracking_uri=tracking_uri)
    if pulled.attachment is not None:
        return document(pulled.attachment, target=pulled.target, run_id=pulled.run_id, attached=pulled.attached)
    found = find_logged(pulled.target.removeprefix("runs:/"), tracking_uri=tracking_uri)
    attachment = describe(found.recording, judge(found.recording))
    return document(attachment, target=f"runs:/{found.run_id}", run_id=found.run_id, attached=None)


def checked_prefix(prefix: str) -> str:
    """Return *prefix*. Raises RequestError for one that MLflow would not take, or keeps for itself."""
    if not _PREFIX.fullmatch(prefix) or prefix == "mlflow" or prefix.startswith("mlflow."):
        raise RequestError(
            f"--prefix {prefix!r} cannot begin tags and metrics. "
            "Take up to 100 letters, digits, underscores, dots and hyphens, and not mlflow."
        )
    return prefix
