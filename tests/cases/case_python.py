"""Models whose Python code does what a graph cannot, or does once instead of every time."""

# ruff: noqa: TID253 - loaded in workers, which have TensorFlow

import random

import keras
import numpy as np
import tensorflow as tf


def _dense():
    return keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3, activation="tanh"), keras.layers.Dense(2)])


def py_function():
    """Call back into Python by tf.py_function."""

    def step(x):
        y = tf.py_function(lambda t: t * 2.0, [x], tf.float32)
        y.set_shape(x.shape)
        return y

    return step


class _PythonLayer(keras.layers.Layer):
    def call(self, x):
        y = tf.numpy_function(lambda t: t * np.float32(2), [x], tf.float32)
        y.set_shape(x.shape)
        return y

    def compute_output_shape(self, input_shape):
        return input_shape


def numpy_function_in_a_layer():
    """Call back into NumPy in a layer of a Keras model."""
    layers = [keras.layers.Input((4,)), keras.layers.Dense(3), _PythonLayer(name="doubles"), keras.layers.Dense(2)]
    return keras.Sequential(layers)


def py_function_without_shape():
    """Ask for the shape of what tf.py_function gives."""

    def step(x):
        y = tf.py_function(lambda t: t * 2.0, [x], tf.float32)
        return tf.reshape(y, [y.shape.as_list()[0], -1])

    return step


def value_in_a_comprehension():
    """Decide by a tensor, where AutoGraph does not reach."""
    return lambda x: tf.add_n([y for y in (x, x * 2.0) if tf.reduce_sum(y) > 0])


def numpy_of_a_tensor():
    """Ask a tensor for its array."""
    return lambda x: tf.constant(np.tanh(x.numpy()))


def _undecided(x):
    if tf.reduce_sum(x) > 1.0:
        y = x * 2.0
    return y


def defined_in_one_branch():
    """Define a value in one of two branches only."""
    return lambda x: _undecided(x + 1.0)


class _Fills(keras.layers.Layer):
    def call(self, x):
        rows = []
        for row in tf.range(3):
            rows.append(tf.cast(row, tf.float32))  # noqa: PERF401 - what this model is for
        return x + rows[-1]


def list_filled_in_a_loop():
    """Fill a Python list in a loop that becomes part of the graph."""
    return keras.Sequential([keras.layers.Input((4,)), _Fills(name="fills")])


def layer_made_in_call():
    """Make a layer, and so variables, in every call."""

    def step(x):
        dense = keras.layers.Dense(2, kernel_initializer=keras.initializers.RandomNormal(seed=1))
        return dense(x)

    return step


def function_that_makes_variables():
    """Make variables in an inner tf.function, once."""

    class Scales(tf.Module):
        def __init__(self):
            super().__init__()
            self.scale = None

        @tf.function
        def __call__(self, x):
            if self.scale is None:
                self.scale = tf.Variable(tf.ones((4,)) * 2.0)
            return x * self.scale

    return Scales()


class _Lazy(keras.layers.Layer):
    @tf.function
    def call(self, x):
        if not hasattr(self, "inner"):
            self.inner = keras.layers.Dense(2)
        return self.inner(x)


def layer_whose_shape_keras_cannot_infer():
    """Make a sublayer in the first call, inside a tf.function, in a layer of which Keras asks its shape before."""
    return keras.Sequential([keras.layers.Input((4,)), _Lazy(name="lazy")])


class LazyModel(keras.Model):
    """A model whose layer gets its weights in the first call."""

    def __init__(self):
        super().__init__()
        self.inner = keras.layers.Dense(2)

    @tf.function(jit_compile=True)
    def call(self, x, training=False):
        return self.inner(x)


def sublayer_built_lazily():
    """Build a layer in the first call, inside a function that XLA compiles."""
    return LazyModel()


def tensor_kept_from_a_loop():
    """Keep a tensor of a loop's body in a list, and use it outside."""
    kept = []

    def body(i, x):
        kept.append(x * 2.0)
        return i + 1, kept[-1]

    def step(x):
        kept.clear()
        tf.while_loop(lambda i, _: i < 2, body, (0, x))
        return kept[-1] + 1.0

    return step


def python_random():
    """Draw a number in Python: another in every eager call, one for ever in a graph."""
    return lambda x: x * random.random()


def raises_in_a_graph():
    """Refuse to be traced, in words with a line break and a colour."""

    def step(x):
        if not tf.executing_eagerly():
            raise NotImplementedError("this model is\n\x1b[31meager\x1b[0m only")
        return x

    return step


def fails_by_value_in_a_graph():
    """Fail in an operation, and only in a graph."""

    def step(x):
        zero = 0 if tf.executing_eagerly() else 9
        return tf.gather(x[0], tf.cast(x[0, :1] * 0.0, tf.int32) + zero)

    return step
