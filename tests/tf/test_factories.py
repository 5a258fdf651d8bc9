"""What a factory may return: every kind that can be called is measured as what it is."""

import pytest

from mlflow_tfexec.models import load_model
from mlflow_tfexec.records.spec import Spec

pytestmark = pytest.mark.tf

FACTORIES = """
import keras
import tensorflow as tf

SPEC = tf.TensorSpec((None, 2), tf.float32, "x")


class Scaled(tf.Module):
    def __init__(self):
        super().__init__()
        self.scale = tf.Variable(3.0)

    def __call__(self, x):
        return x * self.scale


class Decorated(Scaled):
    @tf.function(input_signature=[SPEC, tf.TensorSpec((), tf.int32, "n")], jit_compile=True)
    def __call__(self, x, n):
        return x * self.scale + tf.cast(n, tf.float32) + (0.0 if tf.executing_eagerly() else 100.0)


class InnerJit(keras.layers.Layer):
    @tf.function(jit_compile=True)
    def call(self, x):
        return x + 1.0


def module():
    return Scaled()


def decorated():
    return Decorated()


def function():
    scale = tf.Variable(2.0)
    return tf.function(lambda x: x * scale)


SCALES = []


def concrete():
    # A graph refers to its variables weakly.
    SCALES.append(tf.Variable(2.0))
    return tf.function(lambda x: {"y": x * SCALES[0]}).get_concrete_function(SPEC)


def with_constant():
    return tf.function(lambda x, training: x * 2.0 if training else x).get_concrete_function(SPEC, training=False)


def any_rank():
    return tf.function(lambda x: x, input_signature=[tf.TensorSpec(None)])


def restored():
    return tf.saved_model.load("DIRECTORY")


def restored_callable():
    return tf.saved_model.load("DIRECTORY_CALLABLE")


def layer():
    return keras.layers.Dense(3)


def inner_jit():
    return keras.Sequential([keras.layers.Input((4,)), InnerJit(name="inner")])


def half():
    return keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(2, dtype="mixed_bfloat16")])


def a_number():
    return 7


def bare_module():
    return tf.Module()


not_a_function = 5
"""


@pytest.fixture(scope="module")
def factories(device_facts, tmp_path_factory):
    """Write the factories to a file beside what they restore."""
    import keras
    import tensorflow as tf

    place = tmp_path_factory.mktemp("factories")
    dense = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(2)])
    dense.export(place / "exported", verbose=False)

    class Called(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec((None, 2), tf.float32, "x")])
        def __call__(self, x):
            return x + 1.0

    tf.saved_model.save(Called(), place / "called")
    code = FACTORIES.replace("DIRECTORY_CALLABLE", str(place / "called")).replace("DIRECTORY", str(place / "exported"))
    (place / "own_factories.py").write_text(code)
    return place


@pytest.fixture
def load(factories):
    return lambda name, **fields: load_model(
        Spec(model=f"{factories / 'own_factories.py'}:{name}", modes=("eager", "graph"), **fields)
    )


def codes(loaded):
    return [finding.code for finding in loaded.findings]


def test_a_module_is_called_and_its_variables_are_hashed(load):
    loaded = load("module", input_shape=(2,))
    (x,) = loaded.inputs(0)

    assert loaded.step.call(x).numpy() == pytest.approx(x.numpy() * 3.0)
    assert loaded.weights_sha256 is not None
    assert codes(loaded) == []


def test_a_decorated_module_takes_what_its_signature_says_and_eager_is_eager(load):
    loaded = load("decorated", batch_size=4)
    x, n = loaded.inputs(0)

    assert [(one.name, one.shape, one.dtype) for one in loaded.input_facts] == [
        ("x", (4, 2), "float32"),
        ("n", (), "int32"),
    ]
    assert loaded.step.call(x, n).numpy() == pytest.approx(x.numpy() * 3.0 + n.numpy())
    assert loaded.weights_sha256 is not None
    assert codes(loaded)[-1] == "function_unwrapped"
    assert "jit_compile=True was set aside" in loaded.findings[-1].what


def test_a_function_without_a_signature_needs_a_shape(load):
    with pytest.raises(ValueError, match="give --input-shape"):
        load("function")
    loaded = load("function", input_shape=(2,))
    (x,) = loaded.inputs(0)

    assert loaded.step.call(x).numpy() == pytest.approx(x.numpy() * 2.0)
    assert codes(loaded) == ["function_unwrapped"]
    assert "jit_compile" not in loaded.findings[0].what


def test_every_mode_executes_the_python_function_of_a_decorated_one(load):
    from mlflow_tfexec.modes import all_modes

    loaded = load("decorated")
    call = all_modes()["graph"].prepare(loaded.step).on(loaded.inputs(0))
    x, n = call.inputs

    assert call.run().numpy() == pytest.approx(x.numpy() * 3.0 + n.numpy() + 100.0)
    attributes = call.trace(*call.inputs).function_def.attr
    assert "_XlaMustCompile" not in attributes


def test_a_decorated_module_can_be_trained(load):
    assert load("decorated", task="train").training is not None


def test_a_restored_graph_has_nothing_to_train(load):
    with pytest.raises(ValueError, match="no trainable variables"):
        load("concrete", task="train")


def test_a_concrete_function_is_a_restored_graph(load):
    loaded = load("concrete", batch_size=2)
    (x,) = loaded.inputs(0)

    assert loaded.step.call(x)["y"].numpy() == pytest.approx(x.numpy() * 2.0)
    assert loaded.weights_sha256 is not None
    assert codes(loaded) == ["restored_graph"]
    assert "a concrete function" in loaded.findings[0].what


def test_a_concrete_function_with_a_constant_is_refused_with_the_constant(load):
    with pytest.raises(ValueError, match="takes False, which is no tensor"):
        load("with_constant")


def test_an_input_of_any_rank_needs_a_shape(load):
    with pytest.raises(ValueError, match="give --input-shape"):
        load("any_rank")
    assert load("any_rank", input_shape=(3, 2)).input_facts[0].shape == (1, 3, 2)


@pytest.mark.parametrize("name", ["restored", "restored_callable"])
def test_a_restored_saved_model_is_called_a_restored_graph(load, name):
    loaded = load(name, batch_size=2)

    assert codes(loaded) == ["restored_graph"]
    assert loaded.input_facts[0].shape[0] == 2
    loaded.step.call(*loaded.inputs(1))


def test_a_layer_is_built_by_the_first_call_and_then_hashed(load):
    loaded = load("layer", input_shape=(2,))

    assert loaded.step.call(*loaded.inputs(0)).shape == (1, 3)
    assert loaded.weights_sha256 is not None


def test_a_layer_that_asks_for_xla_itself_is_named(load):
    (finding,) = load("inner_jit").findings

    assert finding.code == "inner_jit"
    assert "within inner," in finding.what


def test_the_least_precise_layer_decides_what_outputs_may_differ_by(load):
    assert load("half").compute_dtype == "bfloat16"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("a_number", "returned int, which is not a model and cannot be called"),
        ("bare_module", "returned Module, which is not a model and cannot be called"),
        ("not_a_function", "has no function 'not_a_function'"),
        ("nowhere", "has no function 'nowhere'"),
    ],
)
def test_what_cannot_be_called_is_refused(load, name, reason):
    with pytest.raises(ValueError, match=reason):
        load(name, input_shape=(2,))
