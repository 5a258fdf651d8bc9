"""`benchmark` around workers whose figures are made up: what is asked, kept, logged and refused."""

import os
import stat
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from recordings import make_recording
from sessions import Bench

import mlflow_tfexec
from mlflow_tfexec.api.given import take
from mlflow_tfexec.benchmarking.request import RunOptions
from mlflow_tfexec.errors import Interrupted, LoggingFailed, RequestError, TrackingError
from mlflow_tfexec.spool import spooled
from mlflow_tfexec.tracking.destination import settle, unreached
from mlflow_tfexec.tracking.writer import LoggedBenchmark

QUICK = {"preset": "quick", "rounds": 2, "warmup_s": 0.05, "block_ms": 2, "modes": ["eager", "graph"]}


@pytest.fixture
def root(tmp_path, monkeypatch):
    """Give an empty spool, with fake workers in place of real ones."""
    for variable in ("KERAS_BACKEND", "TF_XLA_FLAGS", "MLFLOW_RUN_ID", "MLFLOW_EXPERIMENT_NAME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
    bench = Bench(tmp_path, monkeypatch)
    bench.behave()
    monkeypatch.setenv("MLFLOW_TFEXEC_SPOOL", str(tmp_path / "kept"))
    return tmp_path / "kept"


def double(x):
    return x + x


def measure(model="ResNet50", inputs=None, **options):
    return mlflow_tfexec.benchmark(model, inputs, **{**QUICK, "offline": True, **options})


def left_in(root):
    return sorted(path.name for path in root.iterdir()) if root.exists() else []


def test_a_reference_is_measured_as_the_command_does(root):
    one = measure()

    assert one.recording.spec.model == "ResNet50"
    assert one.recording.spec.modes == ("eager", "graph")
    assert one.recording.header.live_object is None
    assert one.recording_path.parent.parent == root
    assert one.run_id is None
    assert one.logging_error is None
    assert one.judgement.benchmark_id == one.benchmark_id


def test_a_live_function_is_named_and_nothing_of_it_stays_in_the_spool(root):
    one = measure(double, np.ones((2, 3), np.float32))

    assert one.recording.spec.model == f"live:/{__name__}.double"
    assert one.recording.header.live_object.kind == "callable"
    assert one.recording.spec.inputs == "live:/inputs"
    assert left_in(root) == [one.benchmark_id]
    assert sorted(path.name for path in one.recording_path.parent.iterdir()) == [
        "destination.json",
        "recording.jsonl",
        "workers",
    ]
    assert f"live object callable {__name__}.double of a Python program, measured again only from there" in " ".join(
        str(one).split()
    )
    assert "given by the calling program" in " ".join(str(one).split())


def test_a_name_given_stands_in_the_recording(root):
    assert measure(double, np.ones((1, 3)), name="doubling").recording.spec.model == "live:/doubling"


@pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX's")
def test_only_their_owner_can_read_the_files_of_a_live_model(root, monkeypatch):
    from mlflow_tfexec.benchmarking import progress

    seen = {}

    class Looking(progress.NoProgress):
        def progressed(self, _progress):
            for path in root.glob("*/model/**/*"):
                seen[path.name] = stat.S_IMODE(path.stat().st_mode)
                seen["directory"] = stat.S_IMODE(path.parent.stat().st_mode)

    monkeypatch.setattr(progress, "choose_display", lambda **_: Looking())
    measure(double, np.ones((1, 3)))

    assert seen == {"live-model.pickle": 0o600, "live-inputs.pickle": 0o600, "directory": 0o700}


@pytest.mark.parametrize(
    ("model", "inputs", "options", "text"),
    [
        (3, None, {}, r"builtins\.int is no model and cannot be called"),
        (dict, None, {}, "dict is a class, and a model made of it is wanted"),
        (double, [], {}, "inputs holds no array"),
        (double, {"x": object()}, {}, r"inputs\['x'\] is a object, which is no array of numbers or text"),
        (double, np.ones((0, 3)), {}, r"inputs is empty: its shape is \(0, 3\)"),
        (double, np.ones((2, 3)), {"batch_size": 3}, "^batch_size 3 does not fit inputs 'live:/inputs', which hold 2 "),
        (double, np.ones((2, 3)), {"input_shape": (3,)}, "so input_shape '3' cannot be"),
        (double, None, {"weights": "imagenet"}, r"^weights has no effect on 'live:/.*double'"),
        (double, None, {"rounds": 0}, "^rounds 0 is out of range"),
        (double, None, {"warmup_s": -1}, "^warmup_s '-1' is out of range"),
        (double, None, {"name": " "}, "name ' ' says nothing"),
        ("ResNet50", None, {"name": "net"}, "name 'net' is for a live model"),
        ("live:/net", None, {}, "'live:/net' was an object of a Python program, which no reference finds again"),
        (lambda lock=sys.stdout.buffer: lock, None, {}, "cannot be brought to another process"),
    ],
)
def test_what_cannot_be_is_refused_in_words_of_python_and_leaves_nothing(root, model, inputs, options, text):
    with pytest.raises(RequestError, match=text) as caught:
        measure(model, inputs, **options)

    assert len(str(caught.value).splitlines()) <= 2
    assert left_in(root) == []


def test_what_a_model_refuses_is_an_error_and_leaves_nothing(root, tmp_path, monkeypatch):
    Bench(tmp_path, monkeypatch).behave(eager={"raises": {"build": ["ValueError", "give --input-shape"]}})

    with pytest.raises(RequestError, match=r"Cannot load model 'live:/double': give input_shape"):
        measure(double, name="double")

    assert left_in(root) == []


def test_an_interrupted_benchmark_keeps_what_was_measured_and_says_where(root, monkeypatch):
    from mlflow_tfexec.benchmarking import progress

    class Impatient(progress.NoProgress):
        def progressed(self, now):
            if now.stage == "rounds" and now.round == 1:
                raise KeyboardInterrupt

    monkeypatch.setattr(progress, "choose_display", lambda **_: Impatient())
    with pytest.raises(Interrupted, match="mlflow-tfexec sync ") as caught:
        measure(double, np.ones((1, 3)))

    [kept] = spooled(root)
    assert str(kept.directory) in str(caught.value)
    assert kept.load().end.status == "interrupted"
    assert left_in(root) == [kept.benchmark_id]


def test_when_mlflow_refuses_nothing_is_lost_and_the_command_is_named(root, monkeypatch):
    from mlflow_tfexec.tracking import destination

    def refuse(*_):
        raise LoggingFailed("The server is down.")

    monkeypatch.setattr(destination, "reach", lambda wanted, _environ: wanted)
    monkeypatch.setattr("mlflow_tfexec.benchmarking.publish.publish", refuse)
    one = measure(offline=False)

    assert one.logging_error == "The server is down."
    assert one.run_id is None
    assert ("Not logged yet", one.sync_command) in one.where


def test_a_store_that_does_not_answer_is_an_error_before_anything_is_measured(root, monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")

    with pytest.raises(TrackingError):
        measure(offline=False)

    assert left_in(root) == []


def test_what_was_kept_offline_is_logged_where_it_was_meant_to_go(root, monkeypatch):
    taken = []

    def write(recording, _judgement, destination, *, content):
        taken.append((recording.header.benchmark_id, destination.experiment_name, content))
        return LoggedBenchmark("r1", "1", "http://server", {}, None)

    monkeypatch.setattr("mlflow_tfexec.benchmarking.publish.write", write)
    one = measure(experiment="mine")

    assert mlflow_tfexec.log_to_mlflow(one) == "r1"
    assert taken == [(one.benchmark_id, "mine", one.recording_path.read_bytes())]
    [kept] = spooled(root)
    assert kept.is_logged


def test_a_recording_that_was_loaded_is_logged_as_it_is(root, monkeypatch, tmp_path):
    recording = make_recording(rounds=2, calls=1)
    taken = []

    def write(_recording, _judgement, _destination, *, content):
        taken.append(content)
        return LoggedBenchmark("r2", "1", "http://server", {}, None)

    monkeypatch.setattr("mlflow_tfexec.benchmarking.publish.write", write)
    monkeypatch.setattr("mlflow_tfexec.tracking.destination.reach", lambda wanted, _environ: wanted)
    assert mlflow_tfexec.log_to_mlflow(recording) == "r2"

    (tmp_path / "copy.jsonl").write_bytes(taken[0])
    assert mlflow_tfexec.load_recording(tmp_path / "copy.jsonl") == recording


def active(monkeypatch, run_id="r0", experiment_id="7"):
    run = SimpleNamespace(info=SimpleNamespace(run_id=run_id, experiment_id=experiment_id))
    fluent = SimpleNamespace(active_run=lambda: run, get_tracking_uri=lambda: "http://server")
    monkeypatch.setitem(sys.modules, "mlflow", fluent)


def test_inside_an_active_run_a_benchmark_goes_beneath_it(monkeypatch):
    active(monkeypatch)
    found = settle(tracking_uri=None, experiment=None, environ={"MLFLOW_RUN_ID": "r9"}, is_reached=False)

    assert (found.parent_run_id, found.run_id, found.experiment_id) == ("r0", None, "7")
    assert found.tracking_uri == "http://server"


def test_another_place_that_is_asked_for_goes_before_the_active_run(monkeypatch):
    active(monkeypatch)
    environ = {"MLFLOW_TRACKING_URI": "http://server"}
    found = settle(tracking_uri=None, experiment="mine", environ=environ, is_reached=False)

    assert found == unreached(tracking_uri=None, experiment="mine", environ=environ)
    assert found.parent_run_id is None


def test_inputs_of_several_arguments_count_their_items_by_the_first():
    given = take(RunOptions(model=""), double, (np.ones((5, 2)), [np.ones((5, 1))]), name=None)

    assert given.spec.batch_size == 5
    assert given.arrays[1][0].shape == (5, 1)
