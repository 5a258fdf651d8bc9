"""Benchmarks are found among whatever else a store holds, newest first, each once."""

import dataclasses
import os

import pytest
from recordings import make_recording

from mlflow_tfexec.errors import RequestError, TrackingError
from mlflow_tfexec.statistics.judge import judge
from mlflow_tfexec.tracking.destination import Destination
from mlflow_tfexec.tracking.filters import Query
from mlflow_tfexec.tracking.query import find_benchmarks
from mlflow_tfexec.tracking.writer import log_benchmark

pytestmark = pytest.mark.mlflow

JAN_1_MS = 1_767_225_600_000
DAY_MS = 86_400_000


@pytest.fixture
def store(each_store):
    return each_store


@pytest.fixture
def client(store):
    from mlflow import MlflowClient

    return MlflowClient(store)


@pytest.fixture
def parent(client):
    """Give a function that makes the parent run of a benchmark, as the writer leaves it, and returns its id."""

    def make(number, *, experiment="mine", modes=(), mode_delay_ms=60_000, **tags):
        ours = {"kind": "benchmark", "schema_version": "1", "benchmark_id": f"{number:032x}", "logged": "1"}
        ours |= {"model": "M", "status": "complete"} | {key.replace("__", "."): text for key, text in tags.items()}
        found = client.get_experiment_by_name(experiment)
        experiment_id = found.experiment_id if found else client.create_experiment(experiment)
        start = JAN_1_MS + number * DAY_MS
        named = {f"tfexec.{key}": text for key, text in ours.items() if text is not None}
        run_id = client.create_run(experiment_id, start_time=start, tags=named).info.run_id
        for mode in modes:
            child = named | {"tfexec.kind": "mode", "tfexec.mode": mode, "mlflow.parentRunId": run_id}
            client.create_run(experiment_id, start_time=start + mode_delay_ms, tags=child)
        return run_id

    return make


@pytest.fixture
def find(store):
    def run(**query):
        return find_benchmarks(Query(**query), tracking_uri=store)

    return run


def ids(found):
    return [one.run_id for one in found]


def test_a_written_benchmark_is_described_by_its_tags(environment, mine, find):
    recording = make_recording({"eager": 10.0, "xla": 5.0}, environment=environment)
    judgement = judge(recording)
    logged = log_benchmark(recording, judgement, mine, artifacts={"recording.jsonl": b"x"}, note="many words")

    [found] = find()

    described = {name: getattr(found, name) for name in found.__dataclass_fields__}
    del described["tags"], described["artifact_uri"]
    assert described == {
        "run_id": logged.run_id,
        "benchmark_id": recording.header.benchmark_id,
        "experiment": "mine",
        "model": "EfficientNetV2S",
        "device": "GPU:0",
        "gpu": "NVIDIA T4",
        "tf_version": "2.21.0",
        "ordering": judgement.ordering,
        "fastest": "xla",
        "status": "complete",
        "started_ms": 1_769_860_800_000,
        "note": None,
    }
    assert found.tags["tfexec.cuda.version"] == "12.5.1"
    assert {key.split(".")[0] for key in found.tags} == {"tfexec"}


def test_the_newest_come_first_and_no_more_than_asked(parent, find):
    made = [parent(number) for number in (3, 1, 2, 0)]

    assert ids(find()) == [made[0], made[2], made[1], made[3]]
    assert ids(find(limit=2)) == [made[0], made[2]]


def test_more_benchmarks_than_a_page_holds_are_all_found(parent, find, monkeypatch):
    monkeypatch.setattr("mlflow_tfexec.tracking.query._LARGEST_PAGE", 2)
    made = [parent(number, modes=["xla"]) for number in range(5)]

    assert ids(find()) == made[::-1]
    assert ids(find(mode="xla")) == made[::-1]
    assert ids(find(mode="xla", limit=3)) == made[:1:-1]


def test_foreign_runs_nested_runs_and_deleted_runs_are_no_benchmarks(client, parent, find):
    kept = parent(1, modes=["eager", "xla"])
    client.delete_run(parent(2, modes=["xla"]))
    experiment_id = client.get_experiment_by_name("mine").experiment_id
    for tags in ({}, {"tfexec.kind": "sweep", "tfexec.model": "M"}, {"kind": "benchmark"}, {"tfexec.model": "M"}):
        client.create_run(experiment_id, tags=tags)

    assert ids(find()) == [kept]
    assert ids(find(model="M")) == [kept]
    assert ids(find(mode="xla")) == [kept]


@pytest.mark.parametrize(
    ("option", "tag"), [("model", "model"), ("gpu", "gpu__name"), ("tf_version", "tf__version"), ("task", "task")]
)
def test_each_condition_gives_those_with_that_tag(parent, find, option, tag):
    one = parent(1, modes=["xla"], **{tag: "A 1.0"})
    parent(2, modes=["xla"], **{tag: "A 1.0 "})
    parent(3, modes=["xla"], **{tag: "a 1.0"})
    parent(4, modes=["xla"], **{tag: None})

    assert ids(find(**{option: "A 1.0"})) == [one]
    assert ids(find(**{option: "A 1.0"}, mode="xla")) == [one]
    assert find(**{option: "A %"}) == []


def test_a_mode_gives_the_benchmarks_that_have_it(parent, find):
    both = parent(1, modes=["eager", "xla"])
    parent(2, modes=["eager"])
    latest = parent(3, modes=["xla"])

    assert ids(find(mode="xla")) == [latest, both]
    assert ids(find(mode="xla", limit=1)) == [latest]
    assert find(mode="graph") == []


def test_by_mode_the_newest_benchmarks_are_found_even_if_their_modes_began_late(parent, find):
    # On another machine, the older benchmark was still starting its modes when the newer one had begun with them.
    older = parent(1, modes=["xla"], mode_delay_ms=3 * DAY_MS)
    newer = parent(2, modes=["xla"], mode_delay_ms=0)

    assert ids(find(mode="xla", limit=1)) == [newer]
    assert ids(find(mode="xla")) == [newer, older]


def test_times_are_those_of_the_benchmark_not_of_its_modes(parent, find):
    made = [parent(number, modes=["xla"], mode_delay_ms=DAY_MS // 2) for number in range(4)]
    within = {"since_ms": JAN_1_MS + DAY_MS, "until_ms": JAN_1_MS + 2 * DAY_MS}

    assert ids(find(**within)) == [made[2], made[1]]
    assert ids(find(**within, mode="xla")) == [made[2], made[1]]


def test_mlflows_own_grammar_narrows_the_query_with_and_without_a_mode(client, parent, find):
    slow, fast = parent(1, modes=["xla"]), parent(2, modes=["xla"], fastest="xla")
    client.log_metric(slow, "speedup/xla_vs_eager", 1.1)
    client.log_metric(fast, "speedup/xla_vs_eager", 3.0)

    for more in ({}, {"mode": "xla"}):
        assert ids(find(extra="metrics.`speedup/xla_vs_eager` > 2", **more)) == [fast]
        assert ids(find(extra="tags.`tfexec.fastest` = 'xla' AND metrics.`speedup/xla_vs_eager` < 2", **more)) == []


def test_a_benchmark_in_two_copies_is_shown_once_by_its_complete_run(parent, find):
    complete = parent(1)
    broken = parent(2, benchmark_id=f"{1:032x}", logged=None)
    other = parent(3)

    found = find()

    assert ids(found) == [other, complete]
    assert found[1].note == f"also in run {broken}"


@pytest.mark.parametrize(
    ("tags", "note"),
    [
        ({"logged": None}, "not completely written; `mlflow-tfexec sync` completes it"),
        ({"schema_version": "2"}, "schema 2, not 1"),
        ({"schema_version": "two\x1b[2J"}, "schema two\x1b[2J, not 1"),
        ({"schema_version": None}, "no schema version"),
        ({"benchmark_id": None}, "no benchmark id"),
        ({"schema_version": "9", "logged": None}, "schema 9, not 1; not completely written"),
    ],
)
def test_what_is_unusual_is_said(parent, find, tags, note):
    run_id = parent(1, **tags)

    [found] = find()

    assert found.run_id == run_id
    assert found.note.startswith(note)


def test_tags_that_are_not_there_are_none(client, find):
    client.create_run(client.get_experiment_by_name("mine").experiment_id, tags={"tfexec.kind": "benchmark"})

    [found] = find()

    absent = [field.name for field in dataclasses.fields(found) if getattr(found, field.name) is None]
    assert absent == ["benchmark_id", "model", "device", "gpu", "tf_version", "ordering", "fastest", "status"]


def test_all_experiments_are_searched_unless_some_are_named(client, parent, find):
    here, there = parent(1), parent(2, experiment='it\'s "there"')
    gone = parent(3, experiment="gone")
    client.delete_experiment(client.get_experiment_by_name("gone").experiment_id)

    assert gone not in ids(find())
    assert ids(find()) == [there, here]
    assert ids(find(experiments=("mine",))) == [here]
    assert ids(find(experiments=('it\'s "there"', "mine"))) == [there, here]


def test_a_renamed_experiment_goes_by_its_name_of_today(client, parent, find):
    run_id = parent(1)
    client.rename_experiment(client.get_experiment_by_name("mine").experiment_id, "yours")

    assert [(one.run_id, one.experiment) for one in find(experiments=("yours",))] == [(run_id, "yours")]
    with pytest.raises(TrackingError, match=r"^No experiment is named 'mine' in this tracking store\."):
        find(experiments=("mine",))


def test_a_deleted_experiment_is_an_error_that_says_how_to_restore_it(client, parent, find):
    parent(1, experiment="gone")
    experiment_id = client.get_experiment_by_name("gone").experiment_id
    client.delete_experiment(experiment_id)

    with pytest.raises(TrackingError, match=f"'gone' is deleted.*restore --experiment-id {experiment_id}"):
        find(experiments=("gone",))


def test_a_name_of_5000_characters_is_shown_in_part(find):
    with pytest.raises(TrackingError, match=r"^No experiment is named 'eee") as caught:
        find(experiments=("e" * 5000,))
    assert len(str(caught.value)) < 300


def test_a_failure_that_is_not_the_filters_is_told_as_one_of_the_store(parent, find, monkeypatch):
    from mlflow import MlflowClient

    def fail(self, *given, **named):
        raise OSError(5, "disk failure")

    monkeypatch.setattr(MlflowClient, "search_runs", fail)
    for extra in (None, "tags.x = 'y'"):
        with pytest.raises(TrackingError, match=r"^Cannot use the MLflow tracking store at .*: disk failure"):
            find(extra=extra)


def test_a_store_without_experiments_has_no_benchmarks(client, find):
    client.delete_experiment(client.get_experiment_by_name("mine").experiment_id)

    assert find() == []


def test_searches_do_not_grow_with_the_benchmarks(parent, find, monkeypatch):
    from mlflow import MlflowClient

    for number in range(12):
        parent(number, modes=["eager", "xla"])
    searched = []
    plain = MlflowClient.search_runs
    monkeypatch.setattr(
        MlflowClient, "search_runs", lambda self, *given, **named: searched.append(1) or plain(self, *given, **named)
    )

    assert (len(find(limit=10)), len(searched)) == (10, 1)
    searched.clear()
    assert (len(find(limit=10, mode="xla")), len(searched)) == (10, 2)


def test_a_server_is_asked_like_a_database(server):
    recording = make_recording({"eager": 10.0, "xla": 5.0}, model="x\\'% ü\\")
    here = Destination(tracking_uri=server, experiment_name="query")
    logged = log_benchmark(recording, judge(recording), here, artifacts={}, note="")
    query = Query(model="x\\'% ü\\", mode="xla", experiments=("query",))

    assert ids(find_benchmarks(query, tracking_uri=server)) == [logged.run_id]
    assert find_benchmarks(dataclasses.replace(query, model="x\\'%"), tracking_uri=server) == []
    with pytest.raises(RequestError, match=r"MLflow does not take --filter: .*OR"):
        find_benchmarks(Query(extra="tags.a = 'b' OR tags.c = 'd'"), tracking_uri=server)
    with pytest.raises(TrackingError, match="No experiment is named"):
        find_benchmarks(Query(experiments=("none of these",)), tracking_uri=server)


def test_the_environment_says_where_to_look_and_its_credentials_stay_unsaid(monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://me:hunter22@127.0.0.1:9")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")

    with pytest.raises(TrackingError) as caught:
        find_benchmarks(Query(), tracking_uri=None)

    assert "http://127.0.0.1:9" in str(caught.value)
    assert "hunter22" not in str(caught.value)
    assert "hunter22" in os.environ["MLFLOW_TRACKING_URI"]


def test_a_store_that_cannot_be_opened_is_a_tracking_error():
    with pytest.raises(TrackingError, match="migrate-filestore"):
        find_benchmarks(Query(), tracking_uri="./mlruns")
