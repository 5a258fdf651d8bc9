"""`mlflow_tfexec.log_to_mlflow`: bring a benchmark to MLflow that is not there yet."""

import functools
import os
from typing import TYPE_CHECKING

from mlflow_tfexec.api.result import Benchmark
from mlflow_tfexec.errors import LoggingFailed
from mlflow_tfexec.records.recording import Recording

if TYPE_CHECKING:
    from mlflow_tfexec.spool import SpooledBenchmark
    from mlflow_tfexec.tracking.destination import Destination


def log_to_mlflow(
    benchmark: Benchmark | Recording, *, experiment: str | None = None, tracking_uri: str | None = None
) -> str:
    """Write a benchmark to MLflow, or complete an earlier attempt, as the command `sync` does.

    Doing it twice in one experiment makes no second copy: runs are found again by the benchmark's id.

    Args:
        benchmark: what `benchmark` returned, or a recording from `load_recording`.
        experiment: by name. None: where a benchmark was meant to go; a recording goes beneath the active run, if there
            is one, else where MLflow is set.
        tracking_uri: MLflow store. None: likewise.

    Returns:
        Id of the benchmark's own run, the parent of the modes' runs.

    Raises:
        TrackingError: the store cannot be used as asked.
        LoggingFailed: MLflow did not take all of it, or another process logs it at this moment. Calling again completes
            it.
    """
    from mlflow_tfexec.benchmarking.publish import publish, write
    from mlflow_tfexec.records.codec import encode
    from mlflow_tfexec.spool import SpooledBenchmark
    from mlflow_tfexec.statistics.judge import judge
    from mlflow_tfexec.tracking.destination import settle

    settled = functools.partial(settle, tracking_uri=tracking_uri, experiment=experiment, environ=os.environ)
    if isinstance(benchmark, Recording):
        destination = settled()
        lines = (benchmark.header, *benchmark.lines)
        content = "".join(f"{encode(line)}\n" for line in lines).encode()
        return write(benchmark, judge(benchmark), destination, content=content).run_id
    spooled = SpooledBenchmark(benchmark.recording_path.parent)
    noted = _noted(spooled) if experiment is None and tracking_uri is None else None
    destination = noted or settled()
    if not spooled.claim():
        raise LoggingFailed(f"Another process logs benchmark {benchmark.benchmark_id} at this moment. Try again later.")
    try:
        return publish(spooled, benchmark.recording, benchmark.judgement, destination).run_id
    finally:
        spooled.release()


def _noted(spooled: "SpooledBenchmark") -> "Destination | None":
    """Read where a benchmark was meant to go. None: that was not noted."""
    from mlflow_tfexec.tracking.destination import Destination

    noted = spooled.read_destination()
    return Destination.from_json(noted) if noted else None
