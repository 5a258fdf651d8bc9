"""`mlflow_tfexec.attach` and `mlflow_tfexec.pull`: a benchmark on runs and models that MLflow already has."""

import os
from typing import TYPE_CHECKING, Any

from mlflow_tfexec.api.result import Benchmark
from mlflow_tfexec.api.words import in_python_words
from mlflow_tfexec.records.recording import Recording

if TYPE_CHECKING:
    from mlflow_tfexec.tracking.attacher import Attached


def attach(
    benchmark: Benchmark | Recording | str | os.PathLike[str],
    to: str,
    *,
    prefix: str = "tfexec",
    force: bool = False,
    tracking_uri: str | None = None,
) -> "Attached":
    """Write a benchmark's headline to a run or model that exists, and the target's name to the benchmark's run.

    A run gets the metrics `tfexec/latency_ms/<mode>` and `tfexec/speedup/<mode>_vs_eager` of the ranked modes, and so
    does a LoggedModel, whose metrics MLflow keeps in a run: here the benchmark's own. Every target gets the tags
    `tfexec.fastest`, `tfexec.speedup`, `tfexec.best_set`, `tfexec.ordering`, `tfexec.benchmark_id`,
    `tfexec.benchmark_run_id`, `tfexec.attached` and `tfexec.attachment`. Where no mode is proven fastest, the first two
    are absent. The status of a run stays as it is. The same benchmark twice changes nothing.

    Args:
        benchmark: what `benchmark` returned, a recording, the path of one, or a run id of a benchmark or of one of its
            modes. From a recording there is no run to link with.
        to: a run id, `models:/m-…`, `models:/name/version` or `models:/name@alias`.
        prefix: what tags and metrics begin with.
        force: replace what is there.
        tracking_uri: MLflow store of the target and the benchmark's run. None: as MLflow is set.

    Raises:
        RequestError: something else is there already, nothing was compared, or the prefix cannot be one.
        RecordingError: there is no such benchmark.
        TrackingError: the store does not answer, or has no such target.
        LoggingFailed: MLflow did not take all of it. Calling again completes it.
    """
    from mlflow_tfexec.benchmarking.attaching import attach_recording, find

    with in_python_words(attach):
        if isinstance(benchmark, Benchmark):
            recording, run_id = benchmark.recording, benchmark.run_id
        elif isinstance(benchmark, Recording):
            recording, run_id = benchmark, None
        else:
            recording, run_id = find(os.fspath(benchmark), tracking_uri=tracking_uri)
        return attach_recording(recording, run_id, to, prefix=prefix, force=force, tracking_uri=tracking_uri)


def pull(target: str, *, prefix: str = "tfexec", tracking_uri: str | None = None) -> dict[str, Any]:
    """Give what was attached to a run or model, or what a benchmark's own run says, as the command `pull` prints it.

    Args:
        target: as `to` of `attach`; or the run id of a benchmark or of one of its modes.
        prefix: under which it was attached.
        tracking_uri: MLflow store. None: as MLflow is set.

    Returns:
        What `tracking/attachment.schema.json` describes. What is not known is None.

    Raises:
        RequestError: nothing is attached there under this prefix, or not all of it.
        TrackingError: the store does not answer, or has no such target.
        RecordingError: the recording of a benchmark's own run is not readable.
    """
    from mlflow_tfexec.benchmarking.attaching import pull_document

    with in_python_words(pull):
        return pull_document(target, prefix=prefix, tracking_uri=tracking_uri)
