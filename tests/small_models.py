"""Small Keras models, loaded with their inputs as a worker loads them. Needs TensorFlow in the test's own process."""

from mlflow_tfexec.models._keras_model import prepare_callable, prepare_keras_model
from mlflow_tfexec.records.spec import Spec


def load(model, **fields):
    import keras

    prepare = prepare_keras_model if isinstance(model, keras.Model) else prepare_callable
    return prepare(model, Spec(model="m", modes=("eager", "graph"), **fields))


def functional(shape, *layers, dtype="float32", name="x", **more):
    """Give a functional model of a chain of layers."""
    import keras

    tensor = start = keras.layers.Input(shape, dtype=dtype, name=name, **more)
    for layer in layers:
        tensor = layer(tensor)
    return keras.Model(start, tensor)


def values(loaded, number=0):
    (argument,) = loaded.inputs(number)
    return argument.numpy()


def says(loaded):
    return [one.values for one in loaded.input_facts]
