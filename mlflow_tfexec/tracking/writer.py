"""Write a benchmark to MLflow: one parent run, one child per mode; the same benchmark twice gives the same runs.

Everything is found again by the tag `tfexec.benchmark_id`, and every time stamp comes from the recording: points that
were already stored are the same points (MLflow's key is run, name, time, step and value), so an attempt that broke off
anywhere can be completed by writing again. The tag `tfexec.logged` is set last and says that nothing is missing.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from mlflow_tfexec.errors import LoggingFailed, TfexecError
from mlflow_tfexec.records.judgement import Judgement, ModeSummary
from mlflow_tfexec.records.recording import Recording
from mlflow_tfexec.tracking import content, keys, steps
from mlflow_tfexec.tracking.connection import RETRIES, TRANSFERRING, connect, environment, quiet, reason
from mlflow_tfexec.tracking.destination import Destination, holding


@dataclass(frozen=True)
class LoggedBenchmark:
    """Where a benchmark is kept in MLflow."""

    run_id: str
    """The parent run."""
    experiment_id: str
    tracking_uri: str
    """Without credentials."""
    child_run_ids: Mapping[str, str]
    """Mode → run id."""
    url: str | None
    """The parent's page on the tracking server. None: there is no server, only a database."""


def log_benchmark(
    recording: Recording,
    judgement: Judgement,
    destination: Destination,
    *,
    artifacts: Mapping[str, bytes],
    note: str,
) -> LoggedBenchmark:
    """Write *recording* to MLflow, or complete an earlier attempt; what is there already is left alone.

    Args:
        recording: the benchmark.
        judgement: what is claimed of it.
        destination: where it goes; from `resolve` or from a spool directory.
        artifacts: file name → content, kept under `tfexec/` of the parent run.
        note: Markdown for the parent's description. A description that somebody gave the run already is kept.

    Raises:
        LoggingFailed: MLflow did not take it all. Calling again completes it.
    """
    uri = destination.reachable_uri(os.environ)
    with quiet(TRANSFERRING, uri), _reported(recording, destination, uri):
        client = connect(uri)
        resumed = _resumed_run(client, destination, recording)
        experiment_id = resumed.info.experiment_id if resumed else steps.experiment_id(client, destination)
        runs = _Runs(client, experiment_id, recording.header.benchmark_id)
        parent = resumed or _parent(runs, recording, judgement, note, beneath=destination.parent_run_id)
        if parent.data.tags.get(keys.LOGGED) != "1":
            _write(runs, parent, recording, judgement, artifacts=artifacts, note=note)
        children = {mode: run.info.run_id for mode, run in runs.children(parent.info.run_id).items()}
        return LoggedBenchmark(
            run_id=parent.info.run_id,
            experiment_id=experiment_id,
            tracking_uri=destination.tracking_uri,
            child_run_ids=children,
            url=steps.page_url(destination.tracking_uri, experiment_id, parent.info.run_id),
        )


class _Runs:
    """The runs of one benchmark as MLflow knows them: asked for once, and again only after a doubtful answer."""

    def __init__(self, client: Any, experiment_id: str, benchmark_id: str) -> None:
        if not re.fullmatch(r"[\w.-]+", benchmark_id):
            raise LoggingFailed(
                f"Benchmark id {benchmark_id!r} cannot be looked up in MLflow: the recording is damaged."
            )
        self.client = client
        self.experiment_id = experiment_id
        self._filter = f"tags.`{keys.BENCHMARK_ID}` = '{benchmark_id}'"
        self._known = self._search()

    def parent(self) -> Any | None:
        """Find the parent, a completely written one before any other."""
        parents = [run for run in self._known if run.data.tags.get(keys.KIND) == keys.KIND_BENCHMARK]
        return min(parents, key=lambda run: (keys.LOGGED not in run.data.tags, run.info.run_id), default=None)

    def children(self, parent_id: str) -> dict[str, Any]:
        """Find the children of a parent by mode."""
        mine = [run for run in self._known if run.data.tags.get(keys.PARENT_RUN_ID) == parent_id]
        return {run.data.tags[keys.MODE]: run for run in mine if keys.MODE in run.data.tags}

    def create(self, find: Callable[[], Any | None], **fields: Any) -> Any:
        """Create a run once, even if the answer is lost: MLflow's own retry would create a second one."""
        try:
            return self._create(fields)
        except Exception:  # noqa: BLE001 - whatever it was, what the store holds now decides
            self._known = self._search()
            return find() or self._create(fields)

    def _create(self, fields: Mapping[str, Any]) -> Any:
        with environment({RETRIES: "0"}):
            run = self.client.create_run(self.experiment_id, **fields)
        self._known.append(run)
        return run

    def _search(self) -> list[Any]:
        return list(self.client.search_runs([self.experiment_id], filter_string=self._filter))


def _resumed_run(client: Any, destination: Destination, recording: Recording) -> Any | None:
    """Fetch the run that the destination says to resume, and make sure that it is free for this benchmark."""
    if destination.run_id is None:
        return None
    run = client.get_run(destination.run_id)
    if run.info.lifecycle_stage == "deleted":
        raise LoggingFailed(
            f"Run {destination.run_id!r} is deleted. Restore it in MLflow, then run `mlflow-tfexec sync`."
        )
    held = holding(run.data.tags)
    mine = (keys.KIND_BENCHMARK, recording.header.benchmark_id)
    if held is not None and (run.data.tags.get(keys.KIND), run.data.tags.get(keys.BENCHMARK_ID)) != mine:
        raise LoggingFailed(f"Run {destination.run_id!r} already holds {held}; this benchmark was not written.")
    return run


def _parent(runs: _Runs, recording: Recording, judgement: Judgement, note: str, *, beneath: str | None) -> Any:
    """Find the parent run, or create it with all its tags, as a child of the run *beneath* if there is one."""
    found = runs.parent()
    if found is not None:
        return found
    start, _ = content.benchmark_times(recording)
    return runs.create(
        runs.parent,
        run_name=content.run_name(recording),
        start_time=start,
        tags={
            **steps.origin_tags(),
            **({} if beneath is None else {keys.PARENT_RUN_ID: beneath}),
            **content.benchmark_tags(recording, judgement, note),
        },
    )


def _write(
    runs: _Runs,
    parent: Any,
    recording: Recording,
    judgement: Judgement,
    *,
    artifacts: Mapping[str, bytes],
    note: str,
) -> None:
    """Write what is missing: the resumed parent's tags, the children, the parent's metrics and artifacts, the end."""
    from mlflow.entities import Metric, RunTag

    client, run_id = runs.client, parent.info.run_id
    tags = content.benchmark_tags(recording, judgement, note)
    if keys.BENCHMARK_ID not in parent.data.tags:
        # First of all, so that an attempt that breaks off here can be found again.
        tags.update({keys.NOTE: parent.data.tags[keys.NOTE]} if keys.NOTE in parent.data.tags else {})
        client.log_batch(run_id, tags=[RunTag(key, value) for key, value in tags.items()], synchronous=True)
    for summary in judgement.modes:
        _write_mode(runs, parent, recording, judgement, summary)
    _, end = content.benchmark_times(recording)
    metrics = [Metric(key, value, end, 0) for key, value in content.benchmark_metrics(judgement).items()]
    client.log_batch(run_id, metrics=metrics, synchronous=True)
    steps.write_artifacts(client, run_id, artifacts)
    client.set_terminated(run_id, content.benchmark_run_status(recording, judgement), end_time=end)
    client.set_tag(run_id, keys.LOGGED, "1", synchronous=True)


def _write_mode(runs: _Runs, parent: Any, recording: Recording, judgement: Judgement, summary: ModeSummary) -> None:
    """Write one mode's run and end it. One that has ended is complete, because ending it comes last."""
    from mlflow.entities import Metric, Param

    mode = summary.mode
    parent_id = parent.info.run_id
    start, end = content.mode_times(recording, mode)
    source = {key: value for key, value in parent.data.tags.items() if key.startswith(keys.SOURCE_PREFIXES)}
    run = runs.children(parent_id).get(mode) or runs.create(
        lambda: runs.children(parent_id).get(mode),
        run_name=mode,
        start_time=start,
        tags={**source, **content.mode_tags(recording, summary), keys.PARENT_RUN_ID: parent_id},
    )
    if run.info.status != "RUNNING":
        return
    params = [Param(key, value) for key, value in content.mode_params(recording, mode).items()]
    metrics = [Metric(key, value, end, 0) for key, value in content.mode_metrics(recording, judgement, mode).items()]
    metrics += [Metric(keys.SAMPLES, value, end, step) for step, value in content.latency_samples(recording, mode)]
    runs.client.log_batch(run.info.run_id, metrics=metrics, params=params, synchronous=True)
    runs.client.set_terminated(run.info.run_id, content.mode_run_status(recording, summary), end_time=end)


@contextmanager
def _reported(recording: Recording, destination: Destination, uri: str) -> Iterator[None]:
    """Turn whatever MLflow raises inside into a LoggingFailed that says what to do."""
    try:
        yield
    except TfexecError:
        raise
    except Exception as error:  # noqa: BLE001 - stores, artifact stores and their drivers raise types of their own
        raise LoggingFailed(
            f"MLflow at {destination.tracking_uri} did not take benchmark {recording.header.benchmark_id}: "
            f"{reason(error, uri)}.\nThe measurement is on disk; run `mlflow-tfexec sync` to write it again."
        ) from None
