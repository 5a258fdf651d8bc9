"""The newest earlier benchmark of the same on the same machine, for `check --against latest`."""

from collections.abc import Iterator
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from mlflow_tfexec.errors import RecordingError, RequestError
from mlflow_tfexec.records.differences import differences, recorded
from mlflow_tfexec.records.recording import Recording
from mlflow_tfexec.tracking import keys
from mlflow_tfexec.tracking.filters import Query
from mlflow_tfexec.tracking.query import find_benchmarks
from mlflow_tfexec.tracking.reader import read_recording

if TYPE_CHECKING:
    from mlflow_tfexec.tracking.query import FoundBenchmark

# Benchmarks that are looked at, and recordings that are downloaded, before giving up: beyond these an earlier benchmark
# is not what anybody means by the latest one.
_CANDIDATES = 200
_DOWNLOADS = 20

_COMPLETE = "complete"


def latest_before(new: Recording, *, tracking_uri: str | None, any_machine: bool) -> Recording:
    """Find the newest complete benchmark that began before *new*: the same model, task and inputs on a like machine.

    Args:
        new: the benchmark that is to be held against it.
        tracking_uri: where to look. None: MLFLOW_TRACKING_URI, or MLflow's default.
        any_machine: True takes one of any machine and inputs.

    Raises:
        RequestError: there is none.
        TrackingError: the store does not answer.
    """
    query = Query(model=new.spec.model, task=new.spec.task, until_ms=_began_ms(new), limit=_CANDIDATES)
    candidates = [
        found
        for found in find_benchmarks(query, tracking_uri=tracking_uri)
        if found.benchmark_id != new.header.benchmark_id and found.status == _COMPLETE
    ]
    if not any_machine:
        candidates = [found for found in candidates if _is_like(found, new)]
    for recording in _readable(candidates[:_DOWNLOADS], tracking_uri):
        weighty = {"subject", "machine"} & {d.kind for d in differences([new.header, recording.header])}
        if any_machine or not weighty:
            return recording
    raise RequestError(
        f"No earlier benchmark of {new.spec.model!r} with the same inputs on the same kind of machine is in this "
        "tracking store. Name another one with --against."
    )


def _readable(candidates: "list[FoundBenchmark]", tracking_uri: str | None) -> Iterator[Recording]:
    """Download one recording after the other, as they are asked for; those that are gone are passed over."""
    for found in candidates:
        try:
            yield read_recording(found, tracking_uri=tracking_uri)
        except RecordingError:
            continue


def _is_like(found: "FoundBenchmark", new: Recording) -> bool:
    """Say whether the tags allow that it ran on a like machine, so that few recordings are downloaded in vain."""
    facts = {
        keys.GPU_NAME: recorded(new.header.measured_gpu, "name"),
        keys.CPU_NAME: recorded(new.header.environment, "cpu", "name"),
    }
    return all(found.tags.get(tag) == fact for tag, fact in facts.items())


def _began_ms(recording: Recording) -> int | None:
    """Return when a benchmark began, in ms since 1970. None: its time is not readable."""
    try:
        began = datetime.fromisoformat(recording.header.created.replace("Z", "+00:00"))
    except ValueError:
        return None
    return int((began if began.tzinfo else began.replace(tzinfo=timezone.utc)).timestamp() * 1000)
