"""Models whose relative speed is known beforehand, for `real_verdicts.py`."""

# ruff: noqa: TID253 - models are loaded in workers, which have TensorFlow

import os
from collections.abc import Callable

import keras
import numpy as np
import tensorflow as tf

# 2 · 512³ operations: a few milliseconds on one core, a thousand times what starting the operation costs.
WIDTH = 512


def tiny() -> keras.Model:
    """Give a dense model whose call is over in a fraction of a millisecond."""
    layers = [keras.layers.Dense(16, activation="relu") for _ in range(4)]
    return keras.Sequential([keras.layers.Input((16,)), *layers])


def heavy_layers() -> Callable[[tf.Tensor], tf.Tensor]:
    """Give as many equal matrix products as REAL_LAYERS says, each by the identity: all answer the same."""
    identity = tf.constant(np.eye(WIDTH, dtype=np.float32))
    layers = int(os.environ["REAL_LAYERS"])

    def call(matrix: tf.Tensor) -> tf.Tensor:
        for _ in range(layers):
            matrix = tf.matmul(matrix, identity)
        return matrix

    return call
