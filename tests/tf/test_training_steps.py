"""Training steps in this process: what they change, what is put back, and how modes are held to one another."""

import numpy as np
import pytest

from mlflow_tfexec.models._keras_model import prepare_callable, prepare_keras_model
from mlflow_tfexec.models._training import prepare_training
from mlflow_tfexec.modes import all_modes
from mlflow_tfexec.records.spec import Spec
from mlflow_tfexec.worker.agreement import compare_answers

pytestmark = pytest.mark.tf


@pytest.fixture(autouse=True)
def plain_policy(device_facts):
    import keras

    yield
    keras.mixed_precision.set_dtype_policy("float32")


def network(*extra, last="softmax"):
    import keras

    return keras.Sequential(
        [
            keras.layers.Input((8, 8, 3)),
            keras.layers.Conv2D(4, 3),
            keras.layers.BatchNormalization(),
            keras.layers.Activation("relu"),
            *extra,
            keras.layers.GlobalAveragePooling2D(),
            keras.layers.Dense(3, activation=last),
        ]
    )


def train(build=network, **spec):
    """Prepare a model for training as a worker does."""
    import keras

    asked = Spec(model="m", modes=("eager",), task="train", **{"batch_size": 4, **spec})
    keras.mixed_precision.set_dtype_policy(asked.dtype)
    keras.utils.set_random_seed(0)
    model = build()
    prepare = prepare_keras_model if isinstance(model, keras.Model) else prepare_callable
    return prepare_training(prepare(model, asked), asked)


def call_of(loaded, mode):
    return all_modes()[mode].prepare(loaded.step).on(loaded.inputs(0))


def compared(tmp_path, mode, build=network, other=None, **spec):
    """Hold *mode* to eager, each with a model of its own as in two workers; *other* builds the one of *mode*."""
    asked = Spec(model="m", modes=("eager", mode), task="train", batch_size=4, **spec)
    for name in ("eager", mode):
        loaded = train(build if name == "eager" else other or build, **spec)
        difference, _ = compare_answers(loaded, call_of(loaded, name), asked, mode=name, directory=tmp_path / "answers")
        if name == "eager":
            assert difference.within_tolerance is True
    return difference


def by_name(outputs, ending):
    (found,) = [one for one in outputs if one.name.endswith(ending)]
    return found


def test_a_step_moves_weights_and_running_statistics_and_reset_puts_all_back():
    loaded = train()
    weights = loaded.subject.get_weights()
    first = float(call_of(loaded, "graph").run())
    for before, after in zip(weights, loaded.subject.get_weights(), strict=True):
        assert not np.array_equal(before, after)

    loaded.reset()

    for before, after in zip(weights, loaded.subject.get_weights(), strict=True):
        np.testing.assert_array_equal(before, after)
    # The same from the optimizer's side: a second first step is the first one.
    assert float(call_of(loaded, "eager").run()) == pytest.approx(first, rel=1e-5)


def test_an_answer_is_the_losses_and_weights_of_five_steps_and_leaves_nothing_behind():
    loaded = train()
    before = loaded.subject.get_weights()

    answer = loaded.answer(call_of(loaded, "eager"))

    assert answer["loss"].shape == (5,)
    assert answer["loss"][-1] < answer["loss"][0]
    assert float(answer["first_loss"]) == float(answer["loss"][0])
    assert len(answer) == 2 + len(before)
    np.testing.assert_array_equal(before[0], loaded.subject.get_weights()[0])


@pytest.mark.parametrize("mode", ["graph", "xla"])
@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_losses_and_weights_agree_between_modes(tmp_path, mode, optimizer):
    difference = compared(tmp_path, mode, optimizer=optimizer)

    assert difference.within_tolerance is True
    assert by_name(difference.outputs, "first_loss").max_rel_error < 1e-5


def test_a_bias_before_a_normalization_is_rounding_and_is_not_judged(tmp_path):
    difference = compared(tmp_path, "xla")

    noise = [one for one in difference.outputs if one.rounding is not None and one.rounding > 0.01]
    assert [one.name.rpartition("/")[2] for one in noise] == ["bias"]
    assert difference.outputs[-1] == noise[0]


def test_one_percent_more_in_one_kernel_is_found(tmp_path):
    def off():
        model = network()
        kernel = model.trainable_variables[0]
        kernel.assign(kernel * 1.01)
        return model

    difference = compared(tmp_path, "graph", other=off)

    assert difference.within_tolerance is False
    assert [one.within_tolerance for one in difference.outputs if "conv2d" in one.name and "kernel" in one.name] == [
        False
    ]


def test_another_dropout_of_the_same_seed_is_told_from_a_wrong_answer(tmp_path):
    import keras

    graph = compared(tmp_path, "graph", lambda: network(keras.layers.Dropout(0.5)))
    xla = compared(tmp_path, "xla", lambda: network(keras.layers.Dropout(0.5)))

    # TensorFlow's own kernels draw the same from a seed; XLA draws others.
    assert (graph.within_tolerance, graph.by_seed) == (True, None)
    assert (xla.within_tolerance, xla.by_seed) == (None, True)


def test_mixed_float16_is_trained_with_loss_scaling(tmp_path):
    loaded = train(dtype="mixed_float16")

    assert loaded.training.loss_scaling
    assert np.isfinite(loaded.answer(call_of(loaded, "xla"))["loss"]).all()


@pytest.mark.parametrize(
    ("last", "asked", "loss", "targets"),
    [
        ("softmax", None, "categorical_crossentropy", "one class of 3 per item, one-hot"),
        (None, None, "mean_squared_error", "uniform in [0, 1)"),
        (None, "sparse_categorical_crossentropy", "sparse_categorical_crossentropy", "one class of 3 per item, as its"),
        ("sigmoid", "binary_crossentropy", "binary_crossentropy", "0 or 1"),
    ],
)
def test_targets_fit_the_loss_that_is_asked_for_or_taken(last, asked, loss, targets):
    loaded = train(lambda: network(last=last), loss=asked)

    assert (loaded.training.loss, loaded.training.loss_is_default) == (loss, asked is None)
    assert loaded.training.targets.startswith(targets)
    losses = loaded.answer(call_of(loaded, "eager"))["loss"]
    assert losses[-1] < losses[0]


def test_a_compiled_model_keeps_its_loss_and_optimizer():
    def build():
        model = network()
        model.compile(optimizer="rmsprop", loss="kl_divergence")
        return model

    facts = train(build).training
    assert (facts.loss, facts.loss_is_default) == ("kl_divergence", False)
    assert (facts.optimizer, facts.optimizer_is_default) == ("RMSprop", False)


def test_penalties_on_weights_are_part_of_the_loss():
    import keras

    def build(penalty):
        return keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(2, kernel_regularizer=penalty)])

    without = float(call_of(train(lambda: build(None)), "eager").run())
    weights = train(lambda: build(None)).subject.get_weights()[0]
    penalised = float(call_of(train(lambda: build(keras.regularizers.L2(0.5))), "eager").run())
    assert penalised - without == pytest.approx(0.5 * float((weights**2).sum()), rel=1e-4)


def test_a_module_is_trained_by_its_own_variables():
    import tensorflow as tf

    class Linear(tf.Module):
        def __init__(self):
            self.w = tf.Variable(tf.ones((4, 3)) * 0.3)
            self.unused = tf.Variable(1.0)

        def __call__(self, x):
            return x @ self.w

    losses = train(Linear, input_shape=(4,)).answer(call_of(train(Linear, input_shape=(4,)), "graph"))["loss"]
    assert losses[-1] < losses[0]


@pytest.mark.parametrize(
    ("build", "spec", "refused"),
    [
        (lambda: lambda x: x * 2.0, {"input_shape": (4,)}, "has no trainable variables"),
        (network, {"loss": "no_such"}, "no loss 'no_such'"),
        (network, {"optimizer": "no_such"}, "no optimizer 'no_such'"),
    ],
)
def test_what_cannot_be_trained_is_refused(build, spec, refused):
    with pytest.raises(ValueError, match=refused):
        train(build, **spec)


def test_a_model_of_whole_numbers_has_no_loss():
    import keras
    import tensorflow as tf

    def build():
        x = keras.layers.Input((4,))
        return keras.Model(x, keras.layers.Lambda(lambda y: tf.argmax(y, -1))(keras.layers.Dense(3)(x)))

    with pytest.raises(ValueError, match="no output of floating-point numbers"):
        train(build)
