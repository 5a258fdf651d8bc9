"""`sync`: bring to MLflow what was measured and did not get there."""

import pytest
from recordings import make_recording, write_recording

from mlflow_tfexec.cli import app
from mlflow_tfexec.errors import LoggingFailed, TrackingError
from mlflow_tfexec.spool import SpooledBenchmark
from mlflow_tfexec.tracking.writer import LoggedBenchmark


class Server:
    """Takes benchmarks in place of MLflow, save those it is told to refuse."""

    def __init__(self):
        self.taken = []
        self.refused = set()

    def publish(self, benchmark, recording, judgement, destination):
        if benchmark.benchmark_id in self.refused:
            raise LoggingFailed("MLflow did not take it.")
        assert recording.header.benchmark_id == judgement.benchmark_id
        self.taken.append((benchmark.benchmark_id, destination.tracking_uri))
        benchmark.mark_logged({"run_id": "ab12"})
        return LoggedBenchmark(
            run_id="ab12",
            experiment_id="0",
            tracking_uri=destination.tracking_uri,
            child_run_ids={},
            url=None if destination.tracking_uri.startswith("sqlite") else f"{destination.tracking_uri}/ab12",
        )


@pytest.fixture
def server(monkeypatch):
    server = Server()
    monkeypatch.setattr("mlflow_tfexec.benchmarking.publish.publish", server.publish)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://own-setting")
    for variable in ("MLFLOW_RUN_ID", "MLFLOW_EXPERIMENT_NAME", "MLFLOW_EXPERIMENT_ID"):
        monkeypatch.delenv(variable, raising=False)
    return server


@pytest.fixture
def keep(tmp_path):
    """Put a benchmark into the spool that waits to be logged."""

    def keep_one(name, *, tracking_uri="http://server", logged=False):
        benchmark = SpooledBenchmark(tmp_path / name)
        write_recording(make_recording(launches=1, rounds=2, benchmark_id=name), benchmark.directory)
        if tracking_uri is not None:
            benchmark.write_destination({"tracking_uri": tracking_uri, "experiment_id": "0"})
        if logged:
            benchmark.mark_logged({"run_id": "cd34"})
        return benchmark

    return keep_one


@pytest.fixture
def sync(tmp_path, capsys):
    def run(*arguments):
        code = app.run(["sync", *map(str, arguments), "--spool-dir", str(tmp_path)])
        return (code, *capsys.readouterr())

    return run


def test_all_that_waits_is_logged_where_it_was_meant_to_go(sync, keep, server):
    keep("a", tracking_uri="http://one")
    keep("b", tracking_uri="sqlite:////two.db")
    keep("c", logged=True)

    code, out, err = sync()

    assert (code, err) == (0, "")
    assert sorted(server.taken) == [("a", "http://one"), ("b", "sqlite:////two.db")]
    assert sorted(out.splitlines()) == ["EfficientNetV2S a: http://one/ab12", "EfficientNetV2S b: run ab12"]


def test_the_name_of_a_model_neither_breaks_the_line_nor_steers_the_terminal(sync, server, tmp_path):
    recording = make_recording(launches=1, rounds=2, benchmark_id="a", model="evil\x1b[2J\nEfficientNetV2S b: done")
    benchmark = SpooledBenchmark(tmp_path / "a")
    write_recording(recording, benchmark.directory)
    benchmark.write_destination({"tracking_uri": "http://one", "experiment_id": "0"})

    assert sync()[1] == "evil [2J EfficientNetV2S b: done a: http://one/ab12\n"


def test_syncing_twice_logs_once(sync, keep, server, tmp_path):
    keep("a")

    assert sync()[0] == 0
    assert sync() == (0, f"Nothing to log in {tmp_path}.\n", "")
    assert len(server.taken) == 1


def test_one_that_is_refused_does_not_keep_the_others_back(sync, keep, server, tmp_path):
    for name in ("a", "b", "c"):
        keep(name)
    server.refused = {"b"}

    code, _, err = sync()

    assert code == 1
    assert sorted(name for name, _ in server.taken) == ["a", "c"]
    assert err == f"mlflow-tfexec: {tmp_path / 'b'}: MLflow did not take it.\n"
    assert not SpooledBenchmark(tmp_path / "b").is_logged


def test_a_directory_that_is_named_is_logged_though_it_was_before(sync, keep, server):
    keep("a")
    benchmark = keep("b", logged=True)

    assert sync(benchmark.directory)[0] == 0

    assert [name for name, _ in server.taken] == ["b"]


def test_a_directory_without_a_recording_is_a_wrong_request_and_nothing_is_logged(sync, keep, server, tmp_path):
    benchmark = keep("a")

    code, out, err = sync(benchmark.directory, tmp_path / "nowhere")

    assert (code, out, server.taken) == (2, "", [])
    assert err == (f"mlflow-tfexec: No recording in {str(tmp_path / 'nowhere')!r}. Give a directory of the spool.\n")


def test_another_destination_may_be_asked_for(sync, keep, server, monkeypatch):
    from mlflow_tfexec.tracking import destination

    monkeypatch.setattr(destination, "resolve", destination.unreached)
    keep("a", tracking_uri="http://one")

    assert sync("--tracking-uri", "http://elsewhere")[0] == 0

    assert server.taken == [("a", "http://elsewhere")]


def test_a_server_that_cannot_be_reached_is_said_for_each_benchmark(sync, keep, server, monkeypatch):
    def resolve(**_):
        raise TrackingError("Cannot use the MLflow tracking server.")

    monkeypatch.setattr("mlflow_tfexec.tracking.destination.resolve", resolve)
    keep("a")
    keep("b")

    code, _, err = sync("--tracking-uri", "http://elsewhere")

    assert code == 1
    assert err.count("Cannot use the MLflow tracking server.") == 2


def test_without_a_noted_destination_it_goes_where_mlflow_s_own_setting_says(sync, keep, server):
    keep("a", tracking_uri=None)

    assert sync()[0] == 0

    assert server.taken == [("a", "http://own-setting")]


def test_a_damaged_recording_is_said_and_the_others_are_logged(sync, keep, server):
    keep("a").recording_path.write_text("nonsense\n")
    keep("b")

    code, _, err = sync()

    assert code == 1
    assert "line 1: not JSON. The file is damaged." in err
    assert [name for name, _ in server.taken] == ["b"]


def test_what_another_process_measures_at_this_moment_is_left_alone(sync, keep, server, monkeypatch):
    keep("a")
    monkeypatch.setattr("mlflow_tfexec.ownership.claim", lambda directory: False)

    code, _, err = sync()

    assert (code, server.taken) == (0, [])
    assert "another process measures or logs it at this moment" in err


def test_what_was_logged_is_given_up(sync, keep, server):
    benchmark = keep("a")
    sync()

    assert not (benchmark.directory / "owner.json").exists()
