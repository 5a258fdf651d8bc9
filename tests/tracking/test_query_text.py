"""Whatever text a query holds, MLflow reads the query that was meant, or nothing is asked of it."""

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.tracking.filters import Query, benchmark_filter, mode_filter
from mlflow_tfexec.tracking.query import find_benchmarks

pytestmark = pytest.mark.mlflow

# Whatever means something to SQL, to sqlparse or to LIKE, and words of the grammar.
PIECES = st.sampled_from(
    ["'", '"', "\\", "`", "%", "_", ";", "--", "/*", "*/", "$$", "#", " ", "\n", "\t", "(", ")", ",", "=", "a", "ß",
     "模", "\u202e", "\U0001f600", " AND ", " OR ", "NULL", "tags.x = 'y'", "' OR tags.a = 'a", "\\'", '\\"']
)  # fmt: skip
NASTY = st.one_of(st.lists(PIECES, max_size=8).map("".join), st.text(max_size=20))
OPTIONAL = st.none() | NASTY


@pytest.fixture
def store(each_store):
    return each_store


def read(conditions):
    """Read a filter as MLflow does: (type, key, comparator, value) of each condition."""
    from mlflow.utils.search_utils import SearchUtils

    return [(c["type"], c["key"], c["comparator"], c["value"]) for c in SearchUtils.parse_search_filter(conditions)]


def meant(query, kind):
    tags = {"tfexec.model": query.model, "tfexec.gpu.name": query.gpu, "tfexec.tf.version": query.tf_version}
    tags |= {"tfexec.task": query.task} | ({"tfexec.mode": query.mode} if kind == "mode" else {})
    return [("tag", "tfexec.kind", "=", kind), *(("tag", key, "=", v) for key, v in tags.items() if v is not None)]


@settings(max_examples=300, deadline=None)
@given(OPTIONAL, OPTIONAL, OPTIONAL, OPTIONAL, OPTIONAL)
@example("a\\", "b", None, None, None)
@example("a\\", 'b"', None, None, "'")
@example("m" * 5000, "'" * 1000, '"' * 1000, "\\" * 1000, "%" * 5000)
def test_mlflow_reads_the_conditions_that_were_meant(model, gpu, tf_version, task, mode):
    query = Query(model=model, gpu=gpu, tf_version=tf_version, task=task, mode=mode)
    for write, kind in ((benchmark_filter, "benchmark"), (mode_filter, "mode")):
        try:
            conditions = write(query)
        except RequestError:
            values = [value for _, _, _, value in meant(query, kind)]
            assert any({"'", '"'} <= set(value) or value.endswith("\\") or "\0" in value for value in values)
        else:
            assert read(conditions) == meant(query, kind)


@settings(max_examples=300, deadline=None)
@given(NASTY, NASTY, st.none() | st.integers(0, 2**60))
@example("a\\", "tags.x = 'y'", None)
@example("a", "' OR tags.x = 'y'", 5)
@example("a", "tags.x = 'y' OR tags.z = 'w'", None)
def test_what_the_user_adds_can_only_narrow_the_query(model, extra, since_ms):
    from mlflow.exceptions import MlflowException

    query = Query(model=model, since_ms=since_ms, extra=extra)
    try:
        conditions = read(benchmark_filter(query))
    except (RequestError, MlflowException):
        return
    ours = meant(query, "benchmark")
    ours += [("attribute", "start_time", ">=", since_ms)] if since_ms is not None else []
    assert conditions[: len(ours)] == ours


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(model=NASTY, other=NASTY)
def test_a_store_gives_exactly_the_runs_whose_tag_is_the_value(store, model, other):
    runs = remembered(store)
    for value in (model, other, model.upper(), f"{model}%"):
        if value not in runs.values() and "\0" not in value:
            runs[add(store, value)] = value
    for value in (model, other):
        try:
            found = find_benchmarks(Query(model=value, limit=1000), tracking_uri=store)
        except RequestError:
            assert {"'", '"'} <= set(value) or "\0" in value
        else:
            assert {one.run_id for one in found} == {run_id for run_id, name in runs.items() if name == value}


def test_5000_characters_are_a_value_like_any_other(store):
    long = "x'%\\" * 1250
    run_id = add(store, long)
    add(store, long[:-1])

    assert [one.run_id for one in find_benchmarks(Query(model=long), tracking_uri=store)] == [run_id]


@pytest.mark.parametrize(
    "extra",
    [
        "tags.x = 'y' OR tags.z = 'w'",
        "nonsense",
        "tags.x = 'y",
        "') --",
        "metrics.`speedup/xla_vs_eager` > 'fast'",
        "attributes.start_time > soon",
        "x" * 5000,
        "(" * 5000,
        "tags.x = '\udc80'",
    ],
)
@pytest.mark.parametrize("mode", [None, "xla"])
def test_a_filter_that_mlflow_does_not_take_is_an_error_of_one_or_two_lines(store, extra, mode):
    with pytest.raises(RequestError, match="MLflow does not take --filter: ") as caught:
        find_benchmarks(Query(extra=extra, mode=mode), tracking_uri=store)
    assert len(str(caught.value).splitlines()) <= 2
    assert len(str(caught.value)) < 400


# What one database takes and another does not.
SQLITE_REFUSES = ["tags.x = 'y' AND " * 64 + "tags.x = 'y'", "attributes.start_time > 99999999999999999999999"]
POSTGRESQL_REFUSES = ["tags.x = 'y\0z'", "tags.`tfexec.model` LIKE '%\\'"]


@pytest.mark.parametrize("extra", SQLITE_REFUSES + POSTGRESQL_REFUSES)
@pytest.mark.parametrize("mode", [None, "xla"])
def test_a_filter_that_the_database_does_not_take_is_such_an_error_too(store, extra, mode):
    refused = SQLITE_REFUSES if store.startswith("sqlite") else POSTGRESQL_REFUSES
    add(store, "M")
    if extra not in refused:
        assert find_benchmarks(Query(extra=extra, mode=mode), tracking_uri=store) == []
        return
    with pytest.raises(RequestError, match="MLflow does not take --filter: ") as caught:
        find_benchmarks(Query(extra=extra, mode=mode), tracking_uri=store)
    assert len(str(caught.value).splitlines()) <= 2


STORES = {}


def remembered(store):
    """Give what the examples of one test have put into its store so far: run id → model."""
    return STORES.setdefault(store, {})


def add(store, model):
    from mlflow import MlflowClient

    client = MlflowClient(store)
    tags = {"tfexec.kind": "benchmark", "tfexec.model": model}
    return client.create_run(client.get_experiment_by_name("mine").experiment_id, tags=tags).info.run_id
