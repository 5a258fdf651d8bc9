"""What is named on the command line, found: a benchmark by its run id or by the path of its recording."""

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
    from mlflow_tfexec.benchmarking.attaching import find

    recording, _ = find(reference, tracking_uri=unless_auto(tracking_uri))
    return recording
