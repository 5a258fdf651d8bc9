"""The recordings of the benchmarks that match a query."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mlflow_tfexec.benchmarking.notices import say
from mlflow_tfexec.benchmarking.request import unless_auto
from mlflow_tfexec.cli.query_options import QueryOptions, build_query, none_found
from mlflow_tfexec.errors import RecordingError, RequestError

if TYPE_CHECKING:
    from mlflow_tfexec.records.recording import Recording


def load_matching(options: QueryOptions, *, tracking_uri: str) -> Iterator["Recording"]:
    """Read the recordings of the benchmarks that match, newest first; without any condition, of the newest one.

    Only these are downloaded, each when it is asked for. One that cannot be read is told in one line on standard error
    and left out; so is, in addition to being read, what is unusual about how one is kept.

    Raises, once the first is asked for:
        RequestError: an option cannot be right, or nothing matches.
        RecordingError: none of those that match can be read; after the last one.
        TrackingError: the store does not answer, or an experiment is not there.
    """
    from mlflow_tfexec.tracking.query import find_benchmarks
    from mlflow_tfexec.tracking.reader import read_recording

    where = unless_auto(tracking_uri)
    found = find_benchmarks(build_query(options, default_limit=None if options.given else 1), tracking_uri=where)
    if not found:
        raise RequestError(none_found(options))
    unreadable = 0
    for one in found:
        try:
            recording = read_recording(one, tracking_uri=where)
        except RecordingError as error:
            _say(f"{error} Left out.")
            unreadable += 1
        else:
            if one.note is not None:
                _say(f"Run {one.run_id}: {one.note}.")
            yield recording
            # It may be large, and is not held while the next one is read.
            del recording
    if unreadable == len(found):
        raise RecordingError("Of the benchmarks that match, none has a readable recording.")


def _say(text: str) -> None:
    from mlflow_tfexec.text import plain

    say(plain(text))
