"""What else a shared store may hold, and where its files may be: each is told for what it is, on any database."""

import json
import socket

import pytest
from recordings import make_recording, to_text

from mlflow_tfexec.cli import app
from mlflow_tfexec.errors import RecordingError, TrackingError
from mlflow_tfexec.statistics.judge import judge
from mlflow_tfexec.tracking.destination import Destination
from mlflow_tfexec.tracking.filters import Query
from mlflow_tfexec.tracking.query import find_benchmarks
from mlflow_tfexec.tracking.reader import find_recording
from mlflow_tfexec.tracking.writer import log_benchmark

pytestmark = pytest.mark.mlflow


@pytest.fixture
def store(each_store):
    return each_store


@pytest.fixture
def client(store):
    from mlflow import MlflowClient

    return MlflowClient(store)


@pytest.fixture
def command(store, monkeypatch, capsys):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store)

    def run(*arguments):
        return (app.run(list(arguments)), *capsys.readouterr())

    return run


def log(destination, number=1):
    recording = make_recording({"eager": 10.0, "xla": 5.0}, benchmark_id=f"{number:032x}")
    artifacts = {"recording.jsonl": to_text(recording).encode()}
    return log_benchmark(recording, judge(recording), destination, artifacts=artifacts, note="")


def begin(client, experiment_id):
    """Leave the parent of a benchmark as a writer does that is at work, or was killed."""
    tags = {"tfexec.kind": "benchmark", "tfexec.schema_version": "1", "tfexec.benchmark_id": "f" * 32}
    return client.create_run(experiment_id, tags=tags).info.run_id


def test_a_benchmark_that_is_still_being_written_is_listed_as_such_and_left_out_of_a_report(client, mine, command):
    written = log(mine)
    running = begin(client, written.experiment_id)
    assert client.get_run(running).info.status == "RUNNING"

    _, out, _ = command("runs", "--format", "json")
    notes = {one["run_id"]: one["note"] for one in json.loads(out)["benchmarks"]}
    code, out, err = command("report", "--experiment", "mine", "--format", "json")

    assert notes == {written.run_id: None, running: "not completely written; `mlflow-tfexec sync` completes it"}
    assert code == 0
    assert [one["benchmark_id"] for one in json.loads(out)["benchmarks"]] == [f"{1:032x}"]
    [line] = err.splitlines()
    assert f"Run {running!r} has no readable tfexec/recording.jsonl" in line
    assert "Traceback" not in err


def test_modes_whose_benchmark_was_deleted_are_no_benchmarks_and_lead_to_it_by_id(client, mine, store):
    logged = log(mine)
    client.delete_run(logged.run_id)
    child = logged.child_run_ids["xla"]
    assert client.get_run(child).info.lifecycle_stage == "active"

    assert find_benchmarks(Query(), tracking_uri=store) == []
    assert find_benchmarks(Query(mode="xla"), tracking_uri=store) == []
    # Until MLflow collects its garbage, whoever knows the id can still read it.
    assert find_recording(child, tracking_uri=store).header.benchmark_id == f"{1:032x}"


def test_a_mode_whose_benchmark_is_gone_for_good_says_which_run_is_missing(client, mine, store):
    logged = log(mine)
    child = logged.child_run_ids["xla"]
    client.set_tag(child, "mlflow.parentRunId", "0" * 32)

    with pytest.raises(RecordingError, match=f"^Run '{'0' * 32}' does not exist in ") as caught:
        find_recording(child, tracking_uri=store)
    assert "\n" not in str(caught.value)


def test_benchmarks_of_a_deleted_experiment_are_not_found_but_read_by_id(client, mine, store):
    logged = log(mine)
    client.delete_experiment(logged.experiment_id)

    assert find_benchmarks(Query(), tracking_uri=store) == []
    assert find_recording(logged.run_id, tracking_uri=store).header.benchmark_id == f"{1:032x}"


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("mlflow-artifacts:/1", "the tracking URI must be a valid http or https URI"),
        ("nowhere://me:hunter22@bucket/1", "nowhere://bucket"),
    ],
)
def test_artifacts_that_cannot_be_reached_are_told_from_those_that_are_gone(client, store, command, place, said):
    run_id = begin(client, client.create_experiment("far", artifact_location=place))

    with pytest.raises(RecordingError, match=f"^The recording of run '{run_id}' cannot be fetched: ") as caught:
        find_recording(run_id, tracking_uri=store)
    code, out, err = command("report", "--experiment", "far")

    assert said in str(caught.value)
    assert "sync" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "hunter22" not in str(caught.value) + err
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 2


def test_an_artifact_server_that_does_not_answer_is_said_to_be_unreachable(client, store, monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    place = f"http://127.0.0.1:{port}/api/2.0/mlflow-artifacts/artifacts/1"
    run_id = begin(client, client.create_experiment("silent", artifact_location=place))

    with pytest.raises(RecordingError, match="cannot be fetched: Connection refused"):
        find_recording(run_id, tracking_uri=store)


def test_a_folder_with_letters_that_mean_something_in_a_uri_is_a_folder(client, store, tmp_path):
    folder = tmp_path / "100% of #1 & ü?"
    client.create_experiment("odd", artifact_location=folder.as_uri())
    logged = log(Destination(tracking_uri=store, access_uri=store, experiment_name="odd"))

    assert find_recording(logged.run_id, tracking_uri=store).header.benchmark_id == f"{1:032x}"


def test_thousands_of_experiments_are_searched_together(client, mine, store, monkeypatch):
    from mlflow import MlflowClient
    from mlflow.store.tracking.dbmodels.models import SqlExperiment
    from mlflow.tracking._tracking_service.utils import _get_store

    logged = log(mine)
    table = SqlExperiment.__table__
    rows = [
        {"experiment_id": 1000 + number, "name": f"another {number}", "lifecycle_stage": "active"}
        for number in range(2500)
    ]
    with _get_store(store).engine.begin() as connection:
        connection.execute(table.insert(), rows)
    asked = []

    def counted(name):
        plain = getattr(MlflowClient, name)
        return lambda self, *given, **named: asked.append(name) or plain(self, *given, **named)

    for name in ("search_experiments", "search_runs"):
        monkeypatch.setattr(MlflowClient, name, counted(name))

    [found] = find_benchmarks(Query(model="EfficientNetV2S"), tracking_uri=store)

    assert found.run_id == logged.run_id
    # 1,000 experiments a page.
    assert asked == ["search_experiments"] * 3 + ["search_runs"]


@pytest.mark.parametrize(
    ("ask", "helps"),
    [
        (lambda uri: find_benchmarks(Query(), tracking_uri=uri), "give `mlflow-tfexec report` the path of a recording"),
        (lambda uri: find_recording("0" * 32, tracking_uri=uri), "give the path of a recording instead of the run id"),
    ],
)
@pytest.mark.parametrize("kind", ["http", "postgresql+psycopg2"])
def test_whoever_only_reads_is_not_told_to_measure_offline(monkeypatch, ask, helps, kind):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    with pytest.raises(TrackingError, match="Connection refused") as caught:
        ask(f"{kind}://127.0.0.1:{port}/x")

    assert helps in str(caught.value)
    assert "--offline" not in str(caught.value)
    assert str(caught.value).count("\n") == 1
