"""Find benchmarks in MLflow by what is asked of them: one paged search, whatever the store holds besides."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mlflow_tfexec.errors import RequestError, TrackingError
from mlflow_tfexec.tracking import keys
from mlflow_tfexec.tracking.connection import QUERYING, REACHING, TRANSFERRING, connect, quiet, reached, reason
from mlflow_tfexec.tracking.destination import unreached
from mlflow_tfexec.tracking.filters import Query, benchmark_filter, mode_filter, shown

NEWEST_FIRST = ("attributes.start_time DESC",)

# Rows per request: a run of ours with its description is up to some 20 kB.
_LARGEST_PAGE = 500


@dataclass(frozen=True)
class FoundBenchmark:
    """A benchmark as its parent run's tags tell it. None: the tag is not there."""

    run_id: str
    benchmark_id: str | None
    experiment: str
    """Its name today."""
    model: str | None
    device: str | None
    gpu: str | None
    tf_version: str | None
    ordering: str | None
    fastest: str | None
    status: str | None
    started_ms: int | None
    """Milliseconds since 1970, UTC."""
    tags: Mapping[str, str]
    """All tags `tfexec.*` of the parent."""
    note: str | None
    """What is unusual about how it is kept: not complete, several copies, a later schema. None: nothing."""
    artifact_uri: str | None = field(default=None, repr=False)
    """Where its files are. May hold credentials, so it is never shown."""


def find_benchmarks(query: Query, *, tracking_uri: str | None) -> list[FoundBenchmark]:
    """List the benchmarks that match, newest first, each once; at most `query.limit`.

    A benchmark that is there in several copies goes by its completely written one, as far as they are among the runs
    that were fetched.
    Runs of other tools, nested runs and deleted runs are no benchmarks. Whether a recording is still there is not
    asked: that would take a request for each.

    Args:
        query: what is asked for.
        tracking_uri: where to look. None: MLFLOW_TRACKING_URI, or MLflow's default.

    Raises:
        RequestError: MLflow does not take the conditions of `query.extra`, or a value cannot be searched for.
        TrackingError: the store does not answer, or an experiment is not there.
    """
    uri = unreached(tracking_uri=tracking_uri, experiment=None, environ=os.environ).reachable_uri(os.environ)
    # Before anything is asked of the store.
    conditions = benchmark_filter(query) if query.mode is None else mode_filter(query)
    with quiet(REACHING, uri), reached(uri, QUERYING):
        client = connect(uri)
        experiments = _experiments(client, query.experiments)
    if not experiments:
        return []
    with quiet(TRANSFERRING, uri), reached(uri, QUERYING):
        without_filter = None if query.extra is None else benchmark_filter(replace(query, extra=None))
        store = _Searched(client, tuple(experiments), uri, without_filter)
        runs = _newest(store, query, conditions) if query.mode is None else _with_mode(store, query, conditions)
    copies = _by_benchmark(runs)
    return [_found(same, experiments) for same in list(copies.values())[: query.limit]]


@dataclass(frozen=True)
class _Searched:
    """A tracking store and the experiments of it that are searched."""

    client: Any
    experiment_ids: tuple[str, ...]
    uri: str
    without_filter: str | None
    """The conditions without those that the user wrote. None: there are none of these."""

    def pages(self, conditions: str, size: int) -> Iterator[list[Any]]:
        """Fetch the runs that match, newest first, a page at a time and only as many as are taken."""
        token = None
        while True:
            page = self._page(conditions, size, token)
            yield list(page)
            token = page.token
            if not token:
                return

    def _page(self, conditions: str, size: int, token: str | None) -> Any:
        try:
            return self._search(conditions, size, token)
        except Exception as error:
            if not self._takes_all_but_the_filter():
                raise
            raise RequestError(f"MLflow does not take --filter: {reason(error, self.uri)}.") from None

    def _search(self, conditions: str, size: int, token: str | None = None) -> Any:
        return self.client.search_runs(
            list(self.experiment_ids),
            filter_string=conditions,
            max_results=size,
            order_by=list(NEWEST_FIRST),
            page_token=token,
        )

    def _takes_all_but_the_filter(self) -> bool:
        """Say whether what the user added in MLflow's grammar is to blame for a failed search.

        Only some of what can be wrong with it is answered as such; the rest comes as a failure of the database.
        """
        if self.without_filter is None:
            return False
        try:
            self._search(self.without_filter, 1)
        except Exception:  # noqa: BLE001 - whatever it is, it is not the filter's fault
            return False
        return True


def _experiments(client: Any, names: Sequence[str]) -> dict[str, str]:
    """Map the ids of the experiments to search to their names: the ones named, or all that are not deleted."""
    if names:
        return dict(_named(client, name) for name in names)
    found: dict[str, str] = {}
    token = None
    while True:
        page = client.search_experiments(max_results=1000, page_token=token)
        found.update((str(experiment.experiment_id), str(experiment.name)) for experiment in page)
        token = page.token
        if not token:
            return found


def _named(client: Any, name: str) -> tuple[str, str]:
    experiment = client.get_experiment_by_name(name)
    if experiment is None:
        raise TrackingError(f"No experiment is named {shown(name)} in this tracking store. Correct --experiment.")
    if experiment.lifecycle_stage == "deleted":
        raise TrackingError(
            f"Experiment {shown(name)} is deleted. Name another with --experiment, or restore it with "
            f"`mlflow experiments restore --experiment-id {experiment.experiment_id}`."
        )
    return str(experiment.experiment_id), str(experiment.name)


def _newest(store: _Searched, query: Query, conditions: str) -> list[Any]:
    """Fetch parents until there are enough benchmarks among them."""
    runs: list[Any] = []
    for page in store.pages(conditions, min(query.limit, _LARGEST_PAGE)):
        runs += page
        if len(_by_benchmark(runs)) >= query.limit:
            break
    return runs


def _with_mode(store: _Searched, query: Query, conditions: str) -> list[Any]:
    """Fetch the parents of the nested runs that match: one search for a page of these, one for their parents.

    A nested run starts after its parent, and never before. Once the oldest one seen is older than the last benchmark
    that is wanted, no newer benchmark can follow.
    """
    parents: dict[str, Any] = {}
    seen: set[str] = set()
    # One more than is wanted, since it takes the next benchmark's mode to know that the last one is the last.
    for page in store.pages(conditions, min(query.limit + 1, _LARGEST_PAGE)):
        new = {run.data.tags[keys.PARENT_RUN_ID] for run in page if keys.PARENT_RUN_ID in run.data.tags} - seen
        seen |= new
        if new:
            for found in store.pages(benchmark_filter(query, sorted(new)), len(new)):
                parents.update((run.info.run_id, run) for run in found)
        newest = list(_by_benchmark(_sorted(parents.values())).values())[: query.limit]
        if page and len(newest) == query.limit and _start(page[-1]) <= _start(newest[-1][0]):
            break
    if not seen and query.extra is not None:
        # Nobody has read it yet, and what is wrong with it should be told.
        next(store.pages(benchmark_filter(query), 1))
    return _sorted(parents.values())


def _sorted(runs: Any) -> list[Any]:
    """Put runs in MLflow's own order: newest first, equal ones by id."""
    return sorted(runs, key=lambda run: (-_start(run), run.info.run_id))


def _start(run: Any) -> int:
    return int(run.info.start_time or 0)


def _by_benchmark(runs: Sequence[Any]) -> dict[str, list[Any]]:
    """Group parents by the benchmark that they hold; a copied run holds the same one again."""
    groups: dict[str, list[Any]] = {}
    for run in runs:
        groups.setdefault(run.data.tags.get(keys.BENCHMARK_ID) or run.info.run_id, []).append(run)
    return groups


def _found(copies: Sequence[Any], experiments: Mapping[str, str]) -> FoundBenchmark:
    """Describe one benchmark, by a completely written run of it if there is one."""
    run = min(copies, key=lambda run: keys.LOGGED not in run.data.tags)
    tags = {key: value for key, value in run.data.tags.items() if key.startswith(keys.PREFIX)}
    return FoundBenchmark(
        run_id=run.info.run_id,
        benchmark_id=tags.get(keys.BENCHMARK_ID),
        experiment=experiments.get(str(run.info.experiment_id), str(run.info.experiment_id)),
        model=tags.get(keys.MODEL),
        device=tags.get(keys.DEVICE),
        gpu=tags.get(keys.GPU_NAME),
        tf_version=tags.get(keys.TF_VERSION),
        ordering=tags.get(keys.ORDERING),
        fastest=tags.get(keys.FASTEST),
        status=tags.get(keys.STATUS),
        started_ms=run.info.start_time,
        tags=tags,
        note="; ".join(_notes(tags, [copy.info.run_id for copy in copies if copy is not run])) or None,
        artifact_uri=run.info.artifact_uri,
    )


def _notes(tags: Mapping[str, str], other_runs: Sequence[str]) -> Iterator[str]:
    schema = tags.get(keys.SCHEMA)
    if schema != str(keys.SCHEMA_VERSION):
        yield f"schema {schema}, not {keys.SCHEMA_VERSION}" if schema else "no schema version"
    if keys.BENCHMARK_ID not in tags:
        yield "no benchmark id"
    if keys.LOGGED not in tags:
        yield "not completely written; `mlflow-tfexec sync` completes it"
    if other_runs:
        yield f"also in run {', '.join(other_runs)}"
