"""What is named on the command line, found: a benchmark by its run id or by the path of its recording."""

import os.path
from typing import TYPE_CHECKING

from mlflow_tfexec.benchmarking.request import unless_auto

if TYPE_CHECKING:
    from mlflow_tfexec.records.recording import Recording


def load_reference(reference: str, *, tracking_uri: str) -> "Recording":
    """Read the recording that *reference* names.

    Args:
        reference: path of a recording or of its directory, or run id of a benchmark or of one of its modes. What exists
            as a path is one.
        tracking_uri: where run ids are looked up, or `auto`.

    Raises:
        RecordingError: there is no such benchmark, or its recording is not readable.
        TrackingError: the store does not answer.
    """
    if os.path.exists(reference):  # noqa: PTH110 - Path.exists raises for a name that is too long
        from mlflow_tfexec.records.codec import load_recording

        return load_recording(reference)
    from mlflow_tfexec.tracking.reader import find_recording

    return find_recording(reference, tracking_uri=unless_auto(tracking_uri))
