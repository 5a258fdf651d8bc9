"""Models whose shapes follow from values, or are open."""

# ruff: noqa: TID253 - loaded in workers, which have TensorFlow

import keras
import tensorflow as tf


def open_length():
    """Take sequences of any length."""
    ids = keras.layers.Input((None,), dtype="int32")
    pooled = keras.layers.GlobalAveragePooling1D()(keras.layers.Embedding(20, 4)(ids))
    return keras.Model(ids, keras.layers.Dense(2)(pooled))


def fixed_batch():
    """Take four items at a time, and no other number."""
    return keras.Sequential([keras.layers.Input((3,), batch_size=4), keras.layers.Dense(2)])


def length_from_value():
    """Compute over a range as long as the input says."""
    return lambda x: tf.reduce_sum(tf.cast(tf.range(tf.cast(x[0, 0] * 50.0, tf.int32)), tf.float32)) + x


def boolean_mask():
    """Keep what is above a half, and add it up."""
    return lambda x: tf.reduce_sum(tf.boolean_mask(x, x > 0.5)) + x


def repeat():
    """Repeat items as often as the input says."""
    return lambda x: tf.repeat(x[0], tf.cast(x[0] * 4.0, tf.int32))


def conditional_padding():
    """Pad in one case and not in the other."""

    def step(x):
        return tf.cond(tf.reduce_sum(x) > 2.0, lambda: tf.pad(x, [[0, 0], [0, 2]]), lambda: x)

    return step


def non_max_suppression():
    """Select boxes, as many as are left."""

    def step(x):
        boxes = tf.concat([x[:, :2], x[:, :2] + 1.0], axis=1) + tf.constant([[0.0], [0.1], [3.0], [3.1], [6.0]])
        kept = tf.image.non_max_suppression(boxes, tf.linspace(0.1, 0.9, 5), 3)
        return tf.gather(boxes, kept)

    return step


def ragged_answer():
    """Answer with rows of different lengths."""
    return lambda x: tf.RaggedTensor.from_row_lengths(x[0] * 2.0, tf.constant([1, 0, 3]))


def ragged_range():
    """Make ranges as long as the input says."""
    return lambda x: tf.ragged.range(tf.cast(x[0] * 5.0, tf.int32)).to_tensor()
