"""Models that were saved, loaded as a worker does: what comes out, and what is refused in one line."""

import gc
import json
import sys
import zipfile

import numpy as np
import pytest

from mlflow_tfexec.models import load_model
from mlflow_tfexec.models._imports import import_named
from mlflow_tfexec.protocol import ModelSource
from mlflow_tfexec.records.origin import ModelOrigin
from mlflow_tfexec.records.spec import Spec

pytestmark = pytest.mark.tf

CUSTOM = """
import keras

class Doubled(keras.layers.Layer):
    def call(self, x):
        return x * 2
"""


@pytest.fixture(scope="module")
def place(device_facts, tmp_path_factory):
    """Save one model of each kind."""
    import keras
    import tensorflow as tf

    place = tmp_path_factory.mktemp("models")
    inputs = keras.layers.Input((4,))
    dense = keras.Sequential([inputs, keras.layers.Dense(3), keras.layers.Dense(2)])
    dense.compile(optimizer="sgd", loss="mse")
    dense.save(place / "dense.keras")
    dense.save(place / "dense.h5")
    dense.save_weights(place / "dense.weights.h5")
    (place / "named_otherwise.h5").write_bytes((place / "dense.weights.h5").read_bytes())
    dense.export(place / "exported", verbose=False)
    code = keras.Sequential([inputs, keras.layers.Lambda(lambda x: x + 1.0)])
    code.save(place / "lambda.keras")
    code.save(place / "lambda.h5")
    keras.Sequential([inputs, keras.layers.Lambda(keras.activations.relu)]).save(place / "function.h5")
    (place / "own_layers.py").write_text(CUSTOM)
    own = import_named(str(place / "own_layers.py"), "Doubled")
    keras.Sequential([inputs, own()]).save(place / "own.keras")
    keras.Sequential([inputs, own()]).save(place / "own.h5")
    picture = keras.layers.Input((None, None, 3))
    keras.Sequential([picture, keras.layers.Conv2D(1, 2)]).save(place / "open.keras")
    half = keras.layers.Dense(2, dtype="mixed_float16")
    keras.Sequential([inputs, half]).save(place / "half.keras")

    class Two(tf.Module):
        def __init__(self):
            super().__init__()
            self.scale = tf.Variable(3.0)

        @tf.function(input_signature=[tf.TensorSpec((None, 2), name="x")])
        def times(self, x):
            return x * self.scale

        @tf.function(input_signature=[tf.TensorSpec((None, 2), name="x"), tf.TensorSpec((None, 1), tf.int32, "n")])
        def plus(self, x, n):
            return {"sum": x + tf.cast(n, tf.float32) + self.scale}

    two = Two()
    tf.saved_model.save(two, place / "two", signatures={"times": two.times, "plus": two.plus})
    tf.saved_model.save(two, place / "usual", signatures={"times": two.times, "serving_default": two.plus})
    tf.saved_model.save(tf.Module(), place / "nothing")
    return place


def load(path, **fields):
    return load_model(Spec(model=str(path), modes=("eager", "graph"), **fields))


def answer(loaded):
    (feed,) = loaded.inputs(0)
    return feed, loaded.step.call(feed)


@pytest.mark.parametrize("name", ["dense.keras", "dense.h5"])
def test_a_whole_model_in_a_file_is_loaded_uncompiled_with_its_weights(place, name):
    import keras

    loaded = load(place / name, batch_size=5)
    feed, output = answer(loaded)
    model = keras.saving.load_model(place / "dense.keras", compile=False)
    np.testing.assert_allclose(output, model(feed), rtol=1e-6)
    assert output.shape == (5, 2)
    assert loaded.step.call.func.compiled is False
    assert loaded.weights_sha256 == load(place / "dense.keras").weights_sha256
    assert loaded.findings == ()


@pytest.mark.parametrize("name", ["lambda.keras", "lambda.h5"])
def test_python_code_in_a_file_runs_only_without_safe_mode(place, name):
    with pytest.raises(ValueError, match=r"^it holds Python code .* safe mode .* --no-safe-mode, which lets it run"):
        load(place / name)
    feed, output = answer(load(place / name, safe_mode=False))
    np.testing.assert_allclose(output, feed + 1.0)


def test_a_function_that_a_file_only_names_is_no_code(place):
    feed, output = answer(load(place / "function.h5"))
    np.testing.assert_allclose(output, np.maximum(feed, 0))


@pytest.mark.parametrize("kind", ["function_type", "output_shape_type", "mask_type"])
def test_code_in_a_file_of_keras_2_is_refused(place, tmp_path, kind):
    import h5py

    layer = {"class_name": "Lambda", "config": {"name": "code", "function": "relu", kind: "lambda"}}
    with h5py.File(tmp_path / "old.h5", "w") as file:
        file.attrs["model_config"] = json.dumps({"class_name": "Sequential", "config": {"layers": [layer]}})
    with pytest.raises(ValueError, match=r"^it holds Python code"):
        load(tmp_path / "old.h5")


@pytest.mark.parametrize("name", ["own.keras", "own.h5"])
def test_a_class_that_keras_does_not_know_is_named_and_taken_from_where_the_option_says(place, name):
    with pytest.raises(ValueError, match=r"^Keras does not know the \w+ 'Doubled'\. .* --custom-objects .*:Doubled"):
        load(place / name)
    feed, output = answer(load(place / name, custom_objects=(f"{place / 'own_layers.py'}:Doubled",)))
    np.testing.assert_allclose(output, feed * 2)


def test_a_custom_object_that_is_not_there_is_named(place):
    with pytest.raises(ValueError, match=r"own_layers.py' has no class or function 'Tripled'"):
        load(place / "own.keras", custom_objects=(f"{place / 'own_layers.py'}:Tripled",))


def test_a_file_of_weights_under_any_name_is_no_model(place):
    with pytest.raises(ValueError, match=r"^it holds weights only, and no model\. Give the whole model"):
        load(place / "named_otherwise.h5")


def test_a_saved_model_keeps_its_precision_and_says_so(place):
    loaded = load(place / "half.keras")
    assert loaded.compute_dtype == "float16"
    assert [finding.code for finding in loaded.findings] == ["own_dtype"]
    assert load(place / "dense.keras").compute_dtype == "float32"


def test_a_keras_export_gives_what_the_model_gives_and_is_called_a_restored_graph(place):
    exported, model = load(place / "exported"), load(place / "dense.keras")
    (feed,) = model.inputs(0)
    ((name, _),) = exported.inputs(0)[0].items()
    # A graph refers to its variables weakly: something must hold them.
    gc.collect()
    (output,) = exported.step.call({name: feed}).values()
    np.testing.assert_allclose(output, model.step.call(feed), rtol=1e-6)
    assert exported.weights_sha256 == model.weights_sha256
    (finding,) = exported.findings
    assert (finding.code, finding.mode) == ("restored_graph", "eager")
    assert finding.what.startswith("Restored graph: a SavedModel holds no Python code")


def test_an_endpoint_is_chosen_by_name_with_inputs_of_its_own(place):
    loaded = load(place / "two", endpoint="plus", batch_size=3)
    facts = {one.name: (one.shape, one.dtype) for one in loaded.input_facts}
    assert facts == {"n": ((3, 1), "int32"), "x": ((3, 2), "float32")}
    feed, output = answer(loaded)
    np.testing.assert_allclose(output["sum"], feed["x"] + np.float32(feed["n"]) + 3.0, rtol=1e-6)


def test_the_usual_endpoint_is_taken_unasked(place):
    assert len(load(place / "usual").input_facts) == 2
    assert len(load(place / "usual", endpoint="times").input_facts) == 1


@pytest.mark.parametrize(
    ("name", "endpoint", "reason"),
    [
        ("two", None, "several endpoints; choose one with --endpoint: plus, times"),
        ("two", "minus", "no endpoint 'minus'; the SavedModel has plus, times"),
        ("nothing", None, "no endpoint and cannot be called; save it with signatures"),
    ],
)
def test_without_an_endpoint_that_is_meant_those_that_are_there_are_listed(place, name, endpoint, reason):
    with pytest.raises(ValueError, match=reason):
        load(place / name, endpoint=endpoint)


def test_a_damaged_description_inside_a_whole_file_is_the_models_error(place, tmp_path):
    with zipfile.ZipFile(place / "dense.keras") as whole, zipfile.ZipFile(tmp_path / "bad.keras", "w") as damaged:
        for entry in whole.namelist():
            config = json.dumps({"class_name": "Sequential", "module": "keras", "config": {"layers": "none"}})
            damaged.writestr(entry, config if entry == "config.json" else whole.read(entry))
    with pytest.raises((ValueError, TypeError, AttributeError)):
        load(tmp_path / "bad.keras")


def origin():
    return ModelOrigin(uri="models:/m-1", flavor="tensorflow")


def test_a_shape_that_came_with_a_model_fills_what_the_model_leaves_open(place):
    source = ModelSource(path=str(place / "open.keras"), origin=origin(), input_shape=(9, 8, 3))
    assert fetched(source).input_facts[0].shape == (1, 9, 8, 3)
    assert fetched(source, input_shape=(5, 6, 3)).input_facts[0].shape == (1, 5, 6, 3)


@pytest.fixture
def pickled(place, tmp_path):
    """Give a model beside which its classes are pickled, as MLflow keeps them."""
    import cloudpickle
    import keras

    path = tmp_path / "custom_objects.cloudpickle"
    path.write_bytes(cloudpickle.dumps({"Doubled": import_named(str(place / "own_layers.py"), "Doubled")}))
    yield ModelSource(path=str(place / "own.keras"), origin=origin(), pickles=(str(path),))
    keras.saving.get_custom_objects().pop("Doubled", None)


def fetched(source, **fields):
    return load_model(Spec(model="models:/m-1", modes=("eager", "graph"), **fields), source)


def test_a_fetched_model_is_loaded_from_where_it_was_brought(place):
    source = ModelSource(path=str(place / "dense.keras"), origin=origin())
    assert fetched(source).weights_sha256 == load(place / "dense.keras").weights_sha256


def test_pickled_classes_are_opened_only_without_safe_mode(pickled):
    with pytest.raises(ValueError, match=r"'Doubled'\. .* or let it open the pickle .* any code: --no-safe-mode$"):
        fetched(pickled)
    feed, output = answer(fetched(pickled, safe_mode=False))
    np.testing.assert_allclose(output, feed * 2)


def test_modules_that_came_with_a_model_can_be_named_and_are_out_of_reach_before(place, monkeypatch):
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry != str(place)])
    source = ModelSource(path=str(place / "dense.keras"), origin=origin(), import_path=str(place))
    fetched(source)
    assert str(place) not in sys.path
    source = ModelSource(path=str(place / "own.keras"), origin=origin(), import_path=str(place))
    assert fetched(source, custom_objects=("own_layers:Doubled",)).input_facts[0].shape == (1, 4)
    assert sys.path[-1] == str(place)


def test_a_pickle_that_cannot_be_opened_is_said_so(pickled, tmp_path):
    (tmp_path / "custom_objects.cloudpickle").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="custom objects that came with the model cannot be opened"):
        fetched(pickled, safe_mode=False)
