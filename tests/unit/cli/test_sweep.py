"""Several benchmarks of one `run`, with workers that need no TensorFlow: each its own, none costs another anything."""

import json
import signal
import zipfile

import pytest
from sessions import Bench, Witness

from mlflow_tfexec.cli import app
from mlflow_tfexec.cli.sweep import sibling
from mlflow_tfexec.errors import LoggingFailed, TrackingError
from mlflow_tfexec.protocol import ModelSource
from mlflow_tfexec.records.origin import ModelOrigin
from mlflow_tfexec.spool import spooled
from mlflow_tfexec.tracking import destination as destinations
from mlflow_tfexec.tracking.destination import Destination
from mlflow_tfexec.tracking.writer import LoggedBenchmark

QUICK = ["--modes", "eager,graph", "--launches", "1", "--rounds", "1", "--warmup", "0", "--timeout", "50"]


class Sweep:
    """`mlflow-tfexec run --batch-size 1,8,32` in a spool of its own."""

    def __init__(self, bench, monkeypatch, capsys):
        self.bench = bench
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        self.published = []

    @property
    def root(self):
        return self.bench.root / "spool"

    @property
    def recordings(self):
        return {one.load().spec.batch_size: one.load() for one in spooled(self.root)}

    def publish(self, kept, recording, judgement, destination):
        self.published.append((recording.spec.batch_size, destination))
        return LoggedBenchmark("ab12", "1", "http://server", {}, f"http://server/{recording.spec.batch_size}")

    def __call__(self, *arguments, offline=True, model="ResNet50"):
        self._monkeypatch.setattr("mlflow_tfexec.benchmarking.publish.publish", self.publish)
        where = ["--spool-dir", str(self.root), *(["--offline"] if offline else [])]
        code = app.run(["run", model, *QUICK, "--batch-size", "1,8,32", *where, *arguments])
        self.out, self.err = self._capsys.readouterr()
        return code


@pytest.fixture
def sweep(tmp_path, monkeypatch, capsys):
    for variable in (
        "KERAS_BACKEND",
        "TF_XLA_FLAGS",
        "MLFLOW_RUN_ID",
        "MLFLOW_EXPERIMENT_NAME",
        "MLFLOW_EXPERIMENT_ID",
    ):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
    monkeypatch.setattr(destinations, "resolve", destinations.unreached)
    bench = Bench(tmp_path, monkeypatch)
    bench.behave()
    return Sweep(bench, monkeypatch, capsys)


def fail_at(monkeypatch, batch_size, behave):
    """Let something happen just before the benchmark of one batch size is measured."""
    from mlflow_tfexec.session import benchmark

    measured = benchmark.run_session

    def run_session(spec, *arguments, **keywords):
        if spec.batch_size == batch_size:
            behave()
        measured(spec, *arguments, **keywords)

    monkeypatch.setattr(benchmark, "run_session", run_session)


@pytest.fixture
def registry(monkeypatch):
    """Put a model where MLflow would bring one; returns where it was brought each time."""
    brought = []

    def fetch_model(reference, *, uri, directory, tell):
        del reference, uri, tell
        directory.mkdir()
        path = directory / "model.keras"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("config.json", json.dumps({"class_name": "Sequential", "config": {}}))
            archive.writestr("model.weights.h5", b"weights")
        brought.append(path)
        return ModelSource(path=str(path), origin=ModelOrigin(uri="models:/net/1", flavor="keras"))

    monkeypatch.setattr("mlflow_tfexec.benchmarking.fetching.fetch_model", fetch_model)
    return brought


def test_a_model_from_mlflow_is_fetched_once_for_all_sizes_and_removed_in_the_end(sweep, registry, monkeypatch):
    there = []
    fail_at(monkeypatch, 1, lambda: sweep.bench.behave(eager={"raises": {"build": ["ValueError", "no"]}}))
    for size in (8, 32):
        fail_at(monkeypatch, size, lambda: [sweep.bench.behave(), there.append(registry[0].exists())])

    assert sweep(model="models:/net@best") == 1

    assert len(registry) == 1
    # The first size was refused, and took nothing from the others.
    assert there == [True, True]
    assert {size: one.header.model_origin.uri for size, one in sweep.recordings.items()} == dict.fromkeys(
        (8, 32), "models:/net/1"
    )
    assert {path.name for path in sweep.root.iterdir()} == {
        one.header.benchmark_id for one in sweep.recordings.values()
    }


def test_an_interrupted_sweep_leaves_no_fetched_model(sweep, registry, monkeypatch):
    fail_at(monkeypatch, 8, lambda: signal.raise_signal(signal.SIGINT))

    assert sweep(model="models:/net@best") == 130

    assert not registry[0].exists()
    assert [path for path in sweep.root.iterdir() if path.name.startswith("fetched-")] == []


def test_a_model_that_cannot_be_fetched_is_told_once_and_leaves_nothing(sweep, monkeypatch):
    def fetch_model(reference, *, uri, directory, tell):
        raise TrackingError(f"No model {reference!r}.")

    monkeypatch.setattr("mlflow_tfexec.benchmarking.fetching.fetch_model", fetch_model)

    assert sweep(model="models:/net@worst") == 2

    assert sweep.err == "mlflow-tfexec: No model 'models:/net@worst'.\n"
    assert list(sweep.root.iterdir()) == []


def test_every_size_is_a_benchmark_of_its_own_in_one_family_and_one_report(sweep):
    assert sweep("--format", "json") == 0

    recordings = sweep.recordings
    assert set(recordings) == {1, 8, 32}
    (family,) = {recording.spec.family for recording in recordings.values()}
    assert family
    ids = [benchmark["benchmark_id"] for benchmark in json.loads(sweep.out)["benchmarks"]]
    assert ids == [recordings[batch].header.benchmark_id for batch in (1, 8, 32)]
    assert "mlflow-tfexec: benchmark 2/3: batch 8" in sweep.err.splitlines()


def test_a_size_that_cannot_be_had_costs_the_others_nothing(sweep, monkeypatch):
    def behave():
        sweep.bench.behave(eager={"raises": {"build": ["ValueError", "too large"]}})

    fail_at(monkeypatch, 8, behave)
    fail_at(monkeypatch, 32, sweep.bench.behave)

    assert sweep() == 1

    assert set(sweep.recordings) == {1, 32}
    assert "mlflow-tfexec: Cannot load model 'ResNet50': too large" in sweep.err.splitlines()
    assert len(list(sweep.root.iterdir())) == 2


def test_a_size_that_runs_out_of_memory_costs_the_exit_code_and_not_the_others(sweep, monkeypatch):
    fail_at(monkeypatch, 32, lambda: sweep.bench.behave(graph={"raises": {"first_call": ["MemoryError", "no"]}}))

    assert sweep() == 1

    assert {batch: one.final_line("graph").status for batch, one in sweep.recordings.items()} == {
        1: "ok",
        8: "ok",
        32: "oom",
    }


def test_sizes_that_all_are_refused_are_a_wrong_request(sweep):
    sweep.bench.behave(eager={"raises": {"build": ["ValueError", "no such layer"]}})

    assert sweep() == 2
    assert sweep.out == ""
    assert list(sweep.root.iterdir()) == []


class Interrupter(Witness):
    """A progress display during which Ctrl-C is pressed, in the rounds."""

    def progressed(self, progress):
        super().progressed(progress)
        if progress.stage == "rounds" and self.stages.count("rounds") == 2:
            signal.raise_signal(signal.SIGINT)

    def close(self):
        """Nothing to take away."""


def test_an_interrupted_sweep_logs_what_was_complete_and_what_was_begun_and_begins_no_more(sweep, monkeypatch):
    from mlflow_tfexec.benchmarking import progress

    def press():
        monkeypatch.setattr(progress, "make_progress", Interrupter)

    fail_at(monkeypatch, 1, press)
    # The display of the first is made already; that of the second is the one in which Ctrl-C is pressed.

    assert sweep(offline=False) == 130

    assert [batch for batch, _ in sweep.published] == [1, 8]
    statuses = {batch: one.end.status for batch, one in sweep.recordings.items()}
    assert statuses == {1: "complete", 8: "interrupted"}
    assert sweep.out.count("ResNet50") >= 2


def test_what_mlflow_does_not_take_is_told_for_each_and_all_are_reported(sweep, monkeypatch):
    def publish(kept, *_):
        raise LoggingFailed(f"MLflow did not take {kept.load().spec.batch_size}.")

    monkeypatch.setattr(sweep, "publish", publish)

    assert sweep(offline=False) == 1
    assert [line for line in sweep.err.splitlines() if "did not take" in line] == [
        f"mlflow-tfexec: MLflow did not take {batch}." for batch in (1, 8, 32)
    ]
    assert sweep.out


def test_the_first_benchmark_resumes_the_projects_run_and_the_others_have_their_own_beside_it(sweep, monkeypatch):
    monkeypatch.setenv("MLFLOW_RUN_ID", "a" * 32)
    monkeypatch.setenv("MLFLOW_EXPERIMENT_ID", "7")

    assert sweep(offline=False) == 0

    assert [(batch, one.run_id, one.experiment_id) for batch, one in sweep.published] == [
        (1, "a" * 32, None),
        (8, None, "7"),
        (32, None, "7"),
    ]


def test_the_projects_run_goes_to_the_first_benchmark_that_was_measured(sweep, monkeypatch):
    monkeypatch.setenv("MLFLOW_RUN_ID", "a" * 32)

    def refuse():
        sweep.bench.behave(eager={"raises": {"build": ["ValueError", "no"]}})

    fail_at(monkeypatch, 1, refuse)
    fail_at(monkeypatch, 8, sweep.bench.behave)

    assert sweep(offline=False) == 1
    assert [(batch, one.run_id) for batch, one in sweep.published] == [(8, "a" * 32), (32, None)]


def test_a_run_in_a_known_experiment_has_its_siblings_there():
    resumed = Destination(tracking_uri="http://s", run_id="r", experiment_id="3", access_uri="http://u:p@s")

    assert sibling(resumed) == resumed.model_copy(update={"run_id": None})
    assert sibling(resumed).access_uri == "http://u:p@s"


def test_a_plan_is_of_one_size(sweep):
    assert sweep("--dry-run") == 2
    assert sweep.err == "mlflow-tfexec: --dry-run foresees one benchmark, and 3 are asked for. Give one size.\n"
