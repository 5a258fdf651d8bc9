"""Write a report on benchmarks to MLflow: one run, which is no benchmark and is never listed as one.

The run is opened when all that it will hold is there, and is closed whatever happens: FINISHED with everything in it,
FAILED where MLflow did not take something, KILLED where we were interrupted. The description and the tag
`tfexec.logged` come after the files, so that a run that has them has all.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from mlflow_tfexec.errors import LoggingFailed, TfexecError
from mlflow_tfexec.tracking import content, keys, steps
from mlflow_tfexec.tracking.connection import RETRIES, TRANSFERRING, connect, environment, quiet, reason
from mlflow_tfexec.tracking.destination import Destination, holding


@dataclass(frozen=True)
class LoggedReport:
    """Where a report is kept in MLflow."""

    run_id: str
    tracking_uri: str
    """Without credentials."""
    url: str | None
    """The run's page on the tracking server. None: there is no server, only a database."""


def log_report(
    benchmark_ids: Sequence[str],
    destination: Destination,
    *,
    name: str,
    artifacts: Mapping[str, bytes],
    note: str,
) -> LoggedReport:
    """Write a report to the run that *destination* says to resume, or to a new one.

    Args:
        benchmark_ids: what it is about.
        destination: where it goes; from `resolve`.
        name: of the run, where it is a new one.
        artifacts: file name → content, kept under `tfexec/`.
        note: Markdown for the run's description. A description that somebody gave the run already is kept.

    Raises:
        LoggingFailed: MLflow did not take it all. If there is a run, it has ended as FAILED.
    """
    uri = destination.reachable_uri(os.environ)
    with quiet(TRANSFERRING, uri):
        client, run = _open(destination, uri, name, content.report_tags(benchmark_ids))
        with _closing(client, run.info.run_id, destination, uri):
            steps.write_artifacts(client, run.info.run_id, artifacts)
            _set_tags(client, run, {} if run.data.tags.get(keys.NOTE) else content.note_tag(note))
        return LoggedReport(
            run_id=run.info.run_id,
            tracking_uri=destination.tracking_uri,
            url=steps.page_url(destination.tracking_uri, run.info.experiment_id, run.info.run_id),
        )


def _open(destination: Destination, uri: str, name: str, tags: Mapping[str, str]) -> tuple[Any, Any]:
    """Connect, and fetch the run to resume or create one; either says from now on that it is a report."""
    try:
        client = connect(uri)
        if destination.run_id is not None:
            return client, _resume(client, destination.run_id, tags)
        experiment_id = steps.experiment_id(client, destination)
        # MLflow's own retry would create a second run where only the answer was lost.
        with environment({RETRIES: "0"}):
            return client, client.create_run(experiment_id, run_name=name, tags={**steps.origin_tags(), **tags})
    except TfexecError:
        raise
    except Exception as error:  # noqa: BLE001 - stores and their drivers raise types of their own
        raise LoggingFailed(_not_taken(destination, error, uri)) from None


def _resume(client: Any, run_id: str, tags: Mapping[str, str]) -> Any:
    run = client.get_run(run_id)
    held = holding(run.data.tags)
    if held is not None:
        raise LoggingFailed(f"Run {run_id!r} already holds {held}; the report was not written.")
    _set_tags(client, run, tags)
    return run


def _set_tags(client: Any, run: Any, tags: Mapping[str, str]) -> None:
    from mlflow.entities import RunTag

    client.log_batch(run.info.run_id, tags=[RunTag(key, value) for key, value in tags.items()], synchronous=True)


@contextmanager
def _closing(client: Any, run_id: str, destination: Destination, uri: str) -> Iterator[None]:
    """End the run as what happens inside says, and turn what MLflow raises into a LoggingFailed."""
    try:
        yield
        client.set_terminated(run_id, content.FINISHED)
        client.set_tag(run_id, keys.LOGGED, "1", synchronous=True)
    except Exception as error:  # noqa: BLE001 - stores, artifact stores and their drivers raise types of their own
        marked = f"is marked as {content.FAILED}" if _end(client, run_id, content.FAILED) else "is left unfinished"
        raise LoggingFailed(
            f"{_not_taken(destination, error, uri)}\nRun {run_id} {marked}. Run the command again."
        ) from None
    except BaseException:
        _end(client, run_id, content.KILLED)
        raise


def _end(client: Any, run_id: str, status: str) -> bool:
    """End a run that went wrong. False: MLflow does not take even that."""
    try:
        client.set_terminated(run_id, status)
    except Exception:  # noqa: BLE001 - the first error is the one to tell
        return False
    return True


def _not_taken(destination: Destination, error: Exception, uri: str) -> str:
    return f"MLflow at {destination.tracking_uri} did not take the report: {reason(error, uri)}."
