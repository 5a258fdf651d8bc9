"""Models whose time says something else than it seems: overhead, work at trace time, compilers inside."""

# ruff: noqa: TID253 - loaded in workers, which have TensorFlow

import itertools
import time

import keras
import numpy as np
import tensorflow as tf


def overhead_bound():
    """Give so little work that the calls themselves are what is timed."""
    return keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3, activation="tanh"), keras.layers.Dense(2)])


def elementwise():
    """Give a chain of small operations, which XLA fuses."""

    def step(x):
        for _ in range(20):
            x = tf.tanh(x) * 1.1 + 0.01
        return x

    return step


def convolution():
    """Give a convolution net, for which XLA on a CPU leaves the libraries that graphs use."""
    layers = keras.layers
    return keras.Sequential(
        [
            layers.Input((32, 32, 3)),
            layers.Conv2D(8, 3, activation="relu"),
            layers.BatchNormalization(),
            layers.GlobalAveragePooling2D(),
            layers.Dense(5),
        ]
    )


def numpy_work_in_call():
    """Do work in NumPy in every eager call, which a graph does once, while it is traced."""
    model = overhead_bound()

    def step(x):
        table = np.linalg.matrix_power(np.full((200, 200), 1e-3, dtype="float32"), 9)
        return model(x, training=False) + table[0, 0]

    return step


def slow_to_compile():
    """Give a graph of a few hundred different operations, over which XLA takes long."""

    def step(x):
        parts = [tf.reduce_sum(tf.sin(x * float(number)) @ tf.ones((4, number % 7 + 1))) for number in range(150)]
        return tf.stack(parts)

    return step


def never_traced():
    """Give a model whose trace never ends."""

    def step(x):
        if not tf.executing_eagerly():
            time.sleep(3600)
        return x * 2.0

    return step


def never_the_same_time():
    """Take longer with every call."""
    calls = itertools.count()

    def wait(x):
        time.sleep(0.002 * (next(calls) % 50))
        return x

    def step(x):
        y = tf.numpy_function(wait, [x], x.dtype)
        y.set_shape(x.shape)
        return y

    return step


def traces_in_every_call():
    """Hand a new Python number to an inner function in every eager call: each is a trace."""
    numbers = itertools.count()
    inner = tf.function(lambda x, number: x * 2.0 + 0.0 * number)
    return lambda x: inner(x, next(numbers))


def compiles_in_every_call():
    """Hand a new Python number to an inner function that XLA compiles: in eager each call compiles."""
    numbers = itertools.count()
    inner = tf.function(lambda x, number: x * 2.0 + 0.0 * number, jit_compile=True)
    return lambda x: inner(x, next(numbers))


def compiles_inside():
    """Have XLA compile a part of the model by itself, whatever the mode is called."""
    model = overhead_bound()
    inner = tf.function(lambda x: tf.tanh(x) * 2.0, jit_compile=True)
    return lambda x: inner(model(x, training=False))


def loop():
    """Loop a fixed number of times, in the graph."""
    return lambda x: tf.while_loop(lambda i, _: i < 5, lambda i, y: (i + 1, tf.tanh(y) + 0.1), (0, x))[1]
