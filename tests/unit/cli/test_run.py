"""`run` from its command line to its report, with workers that need no TensorFlow and a server that is not there."""

import json
import signal

import pytest
from sessions import Bench, Witness

from mlflow_tfexec.cli import app
from mlflow_tfexec.errors import LoggingFailed, SpoolError, TrackingError
from mlflow_tfexec.spool import SpooledBenchmark, spooled
from mlflow_tfexec.tracking.writer import LoggedBenchmark

QUICK = ["--modes", "eager,graph", "--launches", "1", "--rounds", "2", "--timeout", "50"]


class Command:
    """`mlflow-tfexec run` in a spool of its own."""

    def __init__(self, bench, monkeypatch, capsys):
        self._bench = bench
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        self.out = self.err = ""
        self.published = []

    @property
    def root(self):
        return self._bench.root / "spool"

    @property
    def benchmark(self):
        (benchmark,) = spooled(self.root)
        return benchmark

    def behave(self, **modes):
        self._bench.behave(**modes)

    def publish(self, spooled, recording, judgement, destination):
        self.published.append((recording, judgement, destination))
        return LoggedBenchmark(
            run_id="ab12",
            experiment_id="1",
            tracking_uri="http://server",
            child_run_ids={},
            url="http://server/ab12",
        )

    def __call__(self, *arguments, offline=True):
        self._monkeypatch.setattr("mlflow_tfexec.benchmarking.publish.publish", self.publish)
        self._monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
        where = ["--spool-dir", str(self.root), *(["--offline"] if offline else [])]
        code = app.run(["run", "ResNet50", *QUICK, *where, *arguments])
        self.out, self.err = self._capsys.readouterr()
        return code


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    for variable in ("KERAS_BACKEND", "TF_XLA_FLAGS", "MLFLOW_RUN_ID", "MLFLOW_EXPERIMENT_NAME"):
        monkeypatch.delenv(variable, raising=False)
    bench = Bench(tmp_path, monkeypatch)
    bench.behave()
    return Command(bench, monkeypatch, capsys)


@pytest.fixture
def online(run, monkeypatch):
    """`run` with a server that can be reached, as far as it knows."""
    from mlflow_tfexec.tracking import destination

    monkeypatch.setattr(destination, "resolve", destination.unreached)
    return run


def test_a_benchmark_is_measured_reported_and_kept(run):
    assert run() == 0

    recording = run.benchmark.load()
    assert recording.spec.modes == ("eager", "graph")
    assert recording.end.status == "complete"
    assert "ResNet50" in run.out
    assert f"mlflow-tfexec sync {run.benchmark.directory}" in " ".join(run.out.split())
    assert "mlflow-tfexec: launch 1/1, importing TensorFlow" in run.err.splitlines()


def test_a_benchmark_ends_once_all_is_decided_and_says_so(run):
    run.behave(graph={"call_ns": 5_000_000})

    assert run("--launches", "auto") == 0

    recording = run.benchmark.load()
    assert (recording.spec.launches, recording.spec.looks) == (5, (3, 5))
    assert {block.launch for block in recording.blocks} == {0, 1, 2}
    assert [(look.launches, look.stop) for look in recording.looks] == [(3, "decided")]
    said = run.err.splitlines()
    assert "mlflow-tfexec: launch 1/3 (at most 5), importing TensorFlow" in said
    assert "mlflow-tfexec: after 3 launches: all decided" in said
    assert "eager > graph" in run.out


def test_a_time_budget_reaches_the_session(run):
    assert run("--time-budget", "3600") == 0

    assert run.benchmark.load().spec.time_budget_s == 3600.0


def test_a_benchmark_that_its_time_budget_ends_is_done(run, monkeypatch):
    # Every launch is too long for it, whatever the clock of this machine says.
    monkeypatch.setattr("mlflow_tfexec.session.look._outlasts_budget", lambda *_: True)

    assert run("--launches", "3", "--time-budget", "3600") == 0

    assert run.benchmark.load().end.status == "complete"
    (said,) = (line for line in run.err.splitlines() if "--time-budget" in line)
    assert said.startswith("mlflow-tfexec: after 1 launch: ")


def test_json_is_alone_on_standard_output(run):
    assert run("--format", "json") == 0

    (benchmark,) = json.loads(run.out)["benchmarks"]
    assert [mode["mode"] for mode in benchmark["modes"]] == ["eager", "graph"]
    assert f"mlflow-tfexec: Recording: {run.benchmark.recording_path}" in run.err.splitlines()


def test_offline_contacts_nobody_and_remembers_where_it_was_to_go(run):
    assert run("--experiment", "speed") == 0

    assert run.published == []
    assert run.benchmark.read_destination() == {"tracking_uri": "http://127.0.0.1:9", "experiment_name": "speed"}


def test_what_was_measured_is_logged_where_it_was_asked_to_go(online):
    assert online("--experiment", "speed", "--tracking-uri", "http://elsewhere", offline=False) == 0

    ((recording, judgement, destination),) = online.published
    assert (destination.tracking_uri, destination.experiment_name) == ("http://elsewhere", "speed")
    assert recording.header.benchmark_id == judgement.benchmark_id == online.benchmark.benchmark_id
    assert "http://server/ab12" in online.out


def test_a_server_that_refuses_is_known_before_anything_is_measured(run, monkeypatch):
    def resolve(**_):
        raise TrackingError("Cannot use the MLflow tracking server.")

    monkeypatch.setattr("mlflow_tfexec.tracking.destination.resolve", resolve)

    assert run(offline=False) == 2

    assert run.err == "mlflow-tfexec: Cannot use the MLflow tracking server.\n"
    assert not run.root.exists()


def test_a_server_that_fails_in_the_end_costs_the_exit_code_and_not_the_report(online, monkeypatch):
    def publish(*_):
        raise LoggingFailed("MLflow did not take it.")

    monkeypatch.setattr(online, "publish", publish)

    assert online(offline=False) == 1

    assert "ResNet50" in online.out
    assert f"mlflow-tfexec sync {online.benchmark.directory}" in " ".join(online.out.split())
    assert online.err.splitlines()[-1] == "mlflow-tfexec: MLflow did not take it."


def test_a_lost_mode_is_told_and_costs_the_exit_code_when_nothing_is_left_to_compare(run):
    run.behave(graph={"exits": {"first_call": 1}})

    assert run() == 1
    assert "mlflow-tfexec: graph: crashed: ended with exit code 1" in run.err.splitlines()
    assert "crashed" in run.out


def test_strict_reaches_the_exit_code(run):
    run.behave(graph={"output": {"max_abs_error": 1.0, "within_tolerance": False}})

    assert run("--strict") == 1


def test_a_wrong_request_leaves_nothing_behind(run):
    run.behave(eager={"raises": {"build": ["ValueError", "no such layer"]}})

    assert run() == 2

    assert run.err.splitlines()[-2] == "mlflow-tfexec: Cannot load model 'ResNet50': no such layer"
    assert run.out == ""
    assert list(run.root.iterdir()) == []


@pytest.mark.parametrize("arguments", [["--format", "pdf"], ["--rounds", "none"], ["--modes", "eager"]])
def test_a_wrong_option_is_known_before_the_spool_is_touched(run, arguments):
    assert run(*arguments) == 2

    assert len(run.err.splitlines()) == 1
    assert not run.root.exists()


class Signaller(Witness):
    """A progress display during which a signal arrives."""

    def __init__(self, stage, number):
        super().__init__()
        self._stage = stage
        self._number = number

    def progressed(self, progress):
        super().progressed(progress)
        if progress.stage == self._stage and self.stages.count(self._stage) == 2 - (self._stage == "start"):
            signal.raise_signal(self._number)

    def close(self):
        """Nothing to take away."""


def interrupt(monkeypatch, stage, number):
    monkeypatch.setattr("mlflow_tfexec.benchmarking.progress.make_progress", lambda: Signaller(stage, number))


@pytest.mark.parametrize(("number", "name"), [(signal.SIGINT, "SIGINT"), (signal.SIGTERM, "SIGTERM")])
def test_an_interrupted_benchmark_is_reported_and_logged_as_far_as_it_came(online, monkeypatch, number, name):
    interrupt(monkeypatch, "rounds", number)

    assert online(offline=False) == 130

    assert f"mlflow-tfexec: Interrupted by {name}. What was measured is being logged." in online.err.splitlines()
    ((recording, _, _),) = online.published
    assert recording.end.status == "interrupted"
    assert "ResNet50" in online.out


def test_an_interruption_before_anything_was_measured_leaves_nothing_behind(run, monkeypatch):
    interrupt(monkeypatch, "start", signal.SIGINT)

    assert run() == 130

    assert run.err.splitlines() == ["mlflow-tfexec: Interrupted by SIGINT. Nothing was measured yet."]
    assert list(run.root.iterdir()) == []


def test_a_disk_that_fills_up_costs_the_exit_code_and_not_what_was_measured(run, monkeypatch):
    appended = SpooledBenchmark.append

    def append(benchmark, line):
        if line.kind == "block" and not line.warmup and line.round == 1:
            monkeypatch.setattr(SpooledBenchmark, "append", full)
            full(benchmark, line)
        appended(benchmark, line)

    def full(benchmark, line):
        raise SpoolError("The disk is full.")

    monkeypatch.setattr(SpooledBenchmark, "append", append)

    assert run() == 1

    assert "mlflow-tfexec: The disk is full." in run.err.splitlines()
    assert "ResNet50" in run.out
    assert run.benchmark.load().end is None


def test_findings_of_the_environment_reach_the_recording(run, monkeypatch):
    monkeypatch.setenv("KERAS_BACKEND", "jax")

    assert run() == 0
    assert "keras_backend_overridden" in [finding.code for finding in run.benchmark.load().findings]
