"""Models of the kinds and structures that people bring."""

# ruff: noqa: TID253 - loaded in workers, which have TensorFlow

import keras
import tensorflow as tf

layers = keras.layers


def lstm():
    """Give a recurrent net, as cuDNN has it on a GPU."""
    return keras.Sequential([layers.Input((12, 4)), layers.LSTM(5), layers.Dense(2)])


def gru_both_ways():
    """Give a recurrent net that reads in both directions."""
    return keras.Sequential([layers.Input((12, 4)), layers.Bidirectional(layers.GRU(5)), layers.Dense(2)])


def two_inputs_two_outputs():
    """Take two inputs and give two answers."""
    left, right = layers.Input((3,), name="left"), layers.Input((5,), name="right")
    both = layers.Concatenate()([layers.Dense(4)(left), layers.Dense(4)(right)])
    return keras.Model([left, right], [layers.Dense(2, name="class")(both), layers.Dense(1, name="size")(both)])


def nested_inputs():
    """Take a dictionary with a list inside."""
    one, two, three = (layers.Input((3,), name=name) for name in ("one", "two", "three"))
    inputs = {"first": one, "others": [two, three]}
    return keras.Model(inputs, layers.Dense(2)(layers.Add()([one, two, three])))


def lambda_layer():
    """Have a Lambda layer."""
    return keras.Sequential([layers.Input((4,)), layers.Lambda(lambda x: x * 2.0), layers.Dense(2)])


class Subclassed(keras.Model):
    """A model of its own class."""

    def __init__(self):
        super().__init__()
        self.hidden = layers.Dense(3)

    def call(self, x, training=False):
        return self.hidden(x) * (2.0 if training else 1.0)


def subclassed():
    """Give a model that says nothing of its inputs before its first call."""
    return Subclassed()


class _Private(Subclassed):
    pass


def private_class():
    """Give a model whose class has a name that graphs do not allow."""
    return _Private()


class _Scale(tf.Module):
    def __init__(self):
        super().__init__()
        self.scale = tf.Variable(tf.ones((4,)) * 3.0)

    def __call__(self, x):
        return x * self.scale


def module():
    """Give a tf.Module."""
    return _Scale()


def function():
    """Give a tf.function with a signature."""
    weight = tf.Variable(tf.reshape(tf.range(8.0), (4, 2)))
    return tf.function(lambda x: x @ weight, input_signature=[tf.TensorSpec((None, 4))])


def no_answer():
    """Answer with nothing."""
    return lambda _: None


def sparse_answer():
    """Answer with a sparse tensor."""
    return lambda x: tf.sparse.from_dense(tf.where(x > 0.5, x, 0.0))


def large_answer():
    """Answer with 64 MiB."""
    return lambda x: tf.broadcast_to(x[:, :, None], (1, 4, 2**22)) * 2.0


def strategy():
    """Make variables under a distribution strategy."""
    with tf.distribute.MirroredStrategy(["/cpu:0"]).scope():
        return keras.Sequential([layers.Input((4,)), layers.Dense(2)])
