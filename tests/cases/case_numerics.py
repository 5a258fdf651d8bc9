"""Models whose answers depend on how they are computed, and models that are wrong in one way of it."""

# ruff: noqa: TID253 - loaded in workers, which have TensorFlow

import keras
import numpy as np
import tensorflow as tf


def moments_of_large_numbers():
    """Take the variance of three equal numbers that are large."""
    return lambda x: tf.nn.moments(x * 0.0 + 7.5e10, axes=[1])[1]


def chaotic():
    """Amplify the last digit until it is the first."""
    return lambda x: tf.tan(tf.cosh(tf.cosh(x * 0.1 + 3.25)))


def sign_of_complex_numbers():
    """Take the sign of complex numbers."""
    return lambda x: tf.sign(tf.complex(x - 0.5, x))


def in_top_k_with_nan():
    """Ask whether a NaN is among the largest."""

    def step(x):
        scores = tf.concat([x, x * np.nan], axis=1)
        return tf.math.in_top_k(tf.constant([0]), scores, k=2)

    return step


def check_numerics():
    """Check numbers, all of which are finite."""
    return lambda x: tf.debugging.check_numerics(x * 2.0, "not a number")


def check_numerics_fails():
    """Check numbers, one of which is not finite."""
    return lambda x: tf.debugging.check_numerics(tf.math.log(x * 0.0 - 1.0), "the model's own check")


def check_numerics_everywhere():
    """Have TensorFlow check the result of every operation."""
    tf.debugging.enable_check_numerics()
    return lambda x: tf.tanh(x) * 2.0


def assertion():
    """Assert what is true; XLA leaves assertions out."""

    def step(x):
        tf.debugging.assert_less(x, 2.0)
        return x * 2.0

    return step


def not_a_number():
    """Answer with NaN and infinity, everywhere alike."""
    return lambda x: tf.concat([tf.math.log(x - 2.0), x / 0.0, x], axis=1)


def sigmoid():
    """Give the sigmoid of a few numbers."""
    return keras.Sequential([keras.layers.Input((64,)), keras.layers.Dense(64), keras.layers.Activation("sigmoid")])


def nearly_constant():
    """Answer nearly the same whatever is asked."""
    dense = keras.layers.Dense(8, kernel_initializer=keras.initializers.Constant(1e-12), bias_initializer="ones")
    return keras.Sequential([keras.layers.Input((4,)), dense])


def random_numbers():
    """Add random numbers, others in every call."""
    return lambda x: x + tf.random.uniform((1, 4))


def stateless_random_numbers():
    """Add random numbers, the same in every call."""
    return lambda x: x + tf.random.stateless_uniform((1, 4), seed=(1, 2))


def dropout():
    """Have dropout, which inference leaves out."""
    layers = [keras.layers.Input((4,)), keras.layers.Dense(8), keras.layers.Dropout(0.5), keras.layers.Dense(2)]
    return keras.Sequential(layers)


def dropout_always():
    """Have dropout that is active in inference."""
    model = keras.Sequential([keras.layers.Input((16,)), keras.layers.Dropout(0.5)])
    return lambda x: model(x, training=True)


def counts_calls():
    """Count calls in a variable, so that no two answers are the same."""
    calls = tf.Variable(0.0)

    def step(x):
        return x + calls.assign_add(1.0)

    return step


def determinism():
    """Switch operation determinism on."""
    tf.config.experimental.enable_op_determinism()
    layers = [keras.layers.Input((8, 8, 3)), keras.layers.Conv2D(4, 3), keras.layers.MaxPooling2D()]
    return keras.Sequential(layers)


def determinism_and_random_numbers():
    """Switch operation determinism on, and draw numbers without a seed."""
    tf.random.set_seed(None)
    tf.config.experimental.enable_op_determinism()
    return lambda x: x + tf.random.uniform((1, 4))


def eigenvalues():
    """Ask for eigenvalues, for which XLA has no operation."""
    return lambda x: tf.math.abs(tf.linalg.eigvals(tf.tile(x, [4, 1]) + tf.eye(4)))
