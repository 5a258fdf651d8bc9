"""Live models measured for real, from a program and inside an active MLflow run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import mlflow_tfexec
from mlflow_tfexec.errors import RequestError

pytestmark = [pytest.mark.tf, pytest.mark.mlflow]

EXAMPLE = Path(__file__).parents[2] / "examples" / "live_model.py"
QUICK = {"preset": "quick", "rounds": 2, "warmup_s": 0.1, "block_ms": 2, "modes": ["eager", "graph"], "device": "cpu"}


@pytest.fixture
def measure(tmp_path, device_facts):
    """Give a function that measures offline, into a spool of its own."""
    return lambda *given, **options: mlflow_tfexec.benchmark(
        *given, **{**QUICK, "offline": True, "spool_dir": tmp_path / "spool", **options}
    )


def statuses(result):
    return {mode.mode: mode.status for mode in result.judgement.modes}


def test_the_example_runs_and_its_benchmark_is_a_child_of_the_active_run(lab):
    done = subprocess.run(
        [sys.executable, str(EXAMPLE)],
        capture_output=True, text=True, check=False, cwd=lab.root,
        env=lab.environment({"CUDA_VISIBLE_DEVICES": "-1", "PYTHONPATH": os.pathsep.join(sys.path)}),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    runs = {run.info.run_name: run for run in lab.runs()}
    mine, parent = runs["my experiment"], runs["tfexec live:/small_net"]

    assert f"run {parent.info.run_id} is a child of {mine.info.run_id}" in done.stdout
    assert parent.data.tags["mlflow.parentRunId"] == mine.info.run_id
    assert runs["xla"].data.tags["mlflow.parentRunId"] == parent.info.run_id
    assert parent.data.tags["tfexec.model"] == "live:/small_net"
    assert parent.data.tags["tfexec.logged"] == "1"
    assert mine.info.status == "FINISHED"
    # Installed as a plugin the package says on any run what it runs on, and nothing else.
    assert not {"tfexec.kind", "tfexec.benchmark_id", "tfexec.model", "tfexec.logged"} & mine.data.tags.keys()
    assert not [name for name in (*mine.data.metrics, *mine.data.params) if "tfexec" in name]
    assert not list(lab.spool.glob("**/live-*"))


def test_a_compiled_model_is_trained_with_its_own_loss_and_optimizer_and_stays_as_it_is(measure):
    import keras

    def my_loss(true, predicted):
        return keras.ops.mean(keras.ops.abs(true - predicted), axis=-1)

    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)], name="trained")
    model.compile(optimizer=keras.optimizers.SGD(0.125), loss=my_loss)
    before = [weight.copy() for weight in model.get_weights()]
    result = measure(model, task="train")
    training = result.recording.header.training

    assert statuses(result) == {"eager": "ok", "graph": "ok"}
    assert (training.loss, training.optimizer, training.learning_rate) == ("my_loss", "SGD", 0.125)
    assert not training.loss_is_default
    assert not training.optimizer_is_default
    assert all((a == b).all() for a, b in zip(before, model.get_weights(), strict=True))
    assert model.compiled
    assert model.loss is my_loss


def test_the_weights_that_are_measured_are_the_live_ones(measure):
    import keras
    import numpy as np

    from mlflow_tfexec.models._keras_model import hash_weights

    model = keras.Sequential([keras.Input((4,), name="x"), keras.layers.Dense(2)], name="live")
    model.set_weights([np.full((4, 2), 0.25), np.array([1.0, 2.0])])
    result = measure(model, {"x": np.ones((3, 4), np.float32)})

    assert result.recording.header.weights_sha256 == hash_weights(model.weights)
    assert result.recording.header.input_sets == 1
    assert result.recording.spec.batch_size == 3
    assert result.recording.header.inputs[0].shape == (3, 4)


def test_a_local_function_of_two_arguments_with_a_branch_on_a_tensor_is_measured_in_a_graph(measure):
    import numpy as np
    import tensorflow as tf

    offset = tf.Variable(2.0)

    def step(x, y):
        if tf.reduce_sum(x) > 0:
            return x @ y + offset
        return x @ y

    result = measure(step, (tf.ones((2, 3)), np.ones((3, 4), np.float32)))

    assert statuses(result) == {"eager": "ok", "graph": "ok"}
    assert [one.shape for one in result.recording.header.inputs] == [(2, 3), (3, 4)]


def test_inputs_that_do_not_fit_are_refused_in_words_of_python(measure, tmp_path):
    import keras
    import numpy as np

    model = keras.Sequential([keras.Input((4,), name="x"), keras.layers.Dense(2)])
    with pytest.raises(RequestError, match=r"^inputs: 'x' has shape \(3, 5\), and the model takes \(None, 4\)"):
        measure(model, np.ones((3, 5), np.float32))

    assert list((tmp_path / "spool").iterdir()) == []


def test_logging_what_was_kept_offline_twice_makes_one_run(measure, lab, monkeypatch):
    import mlflow

    monkeypatch.setenv("MLFLOW_TRACKING_URI", lab.store)
    result = measure(lambda x: x + x, input_shape=(4,), name="sum", experiment="tests")
    first, second = mlflow_tfexec.log_to_mlflow(result), mlflow_tfexec.log_to_mlflow(result)
    of_recording = mlflow_tfexec.log_to_mlflow(
        mlflow_tfexec.load_recording(result.recording_path), experiment="tests", tracking_uri=lab.store
    )

    assert first == second == of_recording
    assert sorted(lab.run_names()) == ["eager", "graph", "tfexec live:/sum"]
    assert mlflow.active_run() is None
