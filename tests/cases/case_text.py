"""Models that read text, look things up, or print."""

# ruff: noqa: TID253 - loaded in workers, which have TensorFlow, and some print on purpose

import sys

import keras
import tensorflow as tf

WORDS = ("good", "bad", "fast", "slow")


def string_lookup():
    """Look words up and embed them."""
    words = keras.layers.Input((5,), dtype="string")
    ids = keras.layers.StringLookup(vocabulary=list(WORDS))(words)
    return keras.Model(words, keras.layers.Dense(2)(keras.layers.Flatten()(keras.layers.Embedding(5, 3)(ids))))


def integer_lookup():
    """Look numbers up and embed them."""
    numbers = keras.layers.Input((5,), dtype="int64")
    ids = keras.layers.IntegerLookup(vocabulary=[7, 42, 1001])(numbers)
    return keras.Model(numbers, keras.layers.Dense(2)(keras.layers.Flatten()(keras.layers.Embedding(4, 3)(ids))))


def string_made_inside():
    """Turn numbers into text and back."""
    return lambda x: tf.strings.to_number(tf.strings.as_string(x)) * 2.0


def prints_in_the_graph():
    """Print by an operation."""

    def step(x):
        tf.print("seen", tf.reduce_sum(x), output_stream=sys.stderr)
        return x * 2.0

    return step


def tokens():
    """Take a dictionary of token ids, mask and types, as language models do."""
    layers = keras.layers
    ids = layers.Input((8,), dtype="int32", name="input_ids")
    mask = layers.Input((8,), dtype="int32", name="attention_mask")
    types = layers.Input((8,), dtype="int32", name="token_type_ids")
    embedded = layers.Embedding(30, 6)(ids) + layers.Embedding(2, 6)(types)
    attended = layers.MultiHeadAttention(2, 3)(embedded, embedded)
    weights = layers.Reshape((8, 1))(keras.ops.cast(mask, "float32"))
    pooled = layers.GlobalAveragePooling1D()(attended * weights)
    return keras.Model({"input_ids": ids, "attention_mask": mask, "token_type_ids": types}, layers.Dense(2)(pooled))
