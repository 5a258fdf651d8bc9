"""Models for the tests, each made by a factory; most behave badly, and only in the modes that the factory names."""

# ruff: noqa: T201, TID253 - models are loaded in workers, which have TensorFlow, and some print on purpose

import os
import re
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import keras
import numpy as np
import psutil
import tensorflow as tf

Step = Callable[[Any], Any]


def tiny():
    """Give a dense model with a few units."""
    return keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3, activation="tanh"), keras.layers.Dense(2)])


def tokens():
    """Give a model of two inputs in a dictionary, one of them whole numbers."""
    ids = keras.layers.Input((6,), dtype="int32", name="ids")
    scale = keras.layers.Input((1,), name="scale")
    pooled = keras.layers.GlobalAveragePooling1D()(keras.layers.Embedding(10, 4)(ids))
    return keras.Model({"ids": ids, "scale": scale}, keras.layers.Dense(2)(pooled) * scale)


def image():
    """Give a convolution that takes images of any size."""
    return keras.Sequential([keras.layers.Input((None, None, 3)), keras.layers.Conv2D(2, 3)])


def any_shape():
    """Give a callable that takes whatever it is given."""
    return lambda x: x * 2.0


def refuses_to_load():
    """Fail as a factory does whose weights file is missing."""
    raise FileNotFoundError("no weights at nowhere.h5")


def dies_while_loading():
    """End the process as a crash in native code does."""
    os.kill(os.getpid(), signal.SIGKILL)


def own_weights_in_each_process():
    """Give a model whose weights no seed determines."""
    return _dense(keras.initializers.RandomNormal(seed=os.getpid()))


def random_in_inference():
    """Give a model that never answers twice the same."""
    model = tiny()
    return lambda x: model(x, training=False) + tf.random.uniform((1, 2))


def wrong_in_xla():
    """Give a model that is by far the fastest under XLA, and wrong there."""
    model = tiny()
    wrong = _mode() == "xla"

    def step(x):
        if wrong and not tf.executing_eagerly():
            return model(x, training=False) + 1e-2
        return model(_python(_sleep(0.03), x), training=False)

    return step


def sleeps_20_ms():
    """Give a model whose every call takes 20 ms at least."""
    return lambda x: _python(_sleep(0.02), x)


def slow_and_talkative():
    """Give a model whose call takes a second and prints in every way there is."""
    return _talkative(1.0)


def very_slow_and_talkative():
    """Give a model whose call takes half a minute."""
    return _talkative(30.0)


def shows_its_input():
    """Give a model that prints its input in every call."""
    model = tiny()

    def show(x):
        print("input", x.tobytes().hex())
        return x

    def step(x):
        return model(_python(show, x), training=False)

    step.variables = model.weights
    return step


def ready_to_be_killed():
    """Give a model that is traced without end in xla, so that it can be killed there, and is well elsewhere."""
    return _misbehaving({"xla": _hang})


def hangs_in_first_call():
    """Give a model whose first call never ends in graph, in Python; in graph_nojit in an operation."""
    return _misbehaving({"graph": _hang, "graph_nojit": lambda x: _python(_sleep(3600), x)})


def refused_in_three_modes():
    """Give a model that cannot be traced, compiled, or traced without ending the process."""
    return _misbehaving({"graph_nojit": _raise, "xla": lambda x: _python(_sleep(0), x), "graph_control": _exit})


def dies_in_three_modes():
    """Give a model that kills its process in a late call, ends it, or asks for more memory than there is."""
    return _misbehaving({"graph_nojit": _killed_in_call(20), "xla": _end, "graph_control": _too_large})


def out_of_memory_in_python():
    """Give a model for which Python has not the memory, in graph_nojit."""
    return _misbehaving({"graph_nojit": lambda x: x + float(np.zeros(2**60, "uint8")[0])})


def fails_in_a_late_call():
    """Give a model that calls sys.exit in a late call of eager, and raises in one of graph_nojit."""
    model = tiny()
    exits, raises = _after(20, _exit), _after(20, _raise)
    if _mode() == "eager":
        return lambda x: model(exits(x), training=False)
    return lambda x: model(_python(raises, x) if _mode() == "graph_nojit" else x, training=False)


def matmul_chain():
    """Give a step that keeps a GPU busy for long after the call has returned."""
    # So scaled, a product is about as large as its factor.
    factor = tf.Variable(keras.random.normal((2048, 2048), stddev=2048**-0.5, seed=0))

    def step(x):
        for _ in range(200):
            x = tf.matmul(x, factor)
        return x

    step.variables = [factor]
    return step


def convolution():
    """Give a small convolution net, which needs cuDNN on a GPU."""
    layers = [keras.layers.Input((32, 32, 3)), keras.layers.Conv2D(8, 3), keras.layers.GlobalAveragePooling2D()]
    return keras.Sequential(layers)


def _mode() -> str | None:
    """Name the mode of this worker, which only its log's name tells. None: this is no worker."""
    names = [Path(file.path).name for file in psutil.Process().open_files()]
    matches = [re.fullmatch(r"launch-\d+-(\w+)\.log", name) for name in names]
    return next((match[1] for match in matches if match), None)


def _misbehaving(actions: Mapping[str, Step]) -> Step:
    """Give a step that passes its input through this mode's action, while it is traced and never before."""
    model = tiny()
    action = actions.get(_mode() or "")

    def step(x):
        return model(action(x) if action and not tf.executing_eagerly() else x, training=False)

    step.variables = model.weights
    return step


def _dense(initializer: Any) -> Any:
    return keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3, kernel_initializer=initializer)])


def _python(function: Step, x: Any) -> Any:
    """Run a Python function in every call, in a graph too. XLA cannot compile it."""
    result = tf.numpy_function(function, [x], x.dtype)
    result.set_shape(x.shape)
    return result


def _sleep(seconds: float) -> Step:
    def sleep(x):
        time.sleep(seconds)
        return x

    return sleep


def _after(calls: int, action: Step) -> Step:
    """Do *action* in a later call than this many."""
    count = iter(range(calls))
    return lambda x: x if next(count, None) is not None else action(x)


def _hang(x):
    time.sleep(3600)
    return x


def _raise(_):
    raise ValueError("this model does not like\ngraphs")


def _exit(_):
    sys.exit(3)


def _end(_):
    os._exit(7)


def _killed_in_call(calls: int) -> Step:
    return lambda x: _python(_after(calls, lambda _: os.kill(os.getpid(), signal.SIGKILL)), x)


def _too_large(x):
    """Ask TensorFlow for 4 TiB, by a size that is known only in the call."""
    return x + tf.reduce_sum(tf.fill([2**20, 2**20], x[0, 0]))


def _talkative(seconds: float) -> Step:
    model = tiny()
    os.system("echo a child of the factory")
    print("\x1etfexec {} looks like a message")

    def speak(x):
        print("printed in a call")
        sys.stderr.write("written to stderr in a call\n")
        os.write(1, b"written to descriptor 1 in a call\n")
        time.sleep(seconds)
        return x

    def step(x):
        print("printed by the step")
        tf.print("printed by TensorFlow", output_stream=sys.stdout)
        return model(_python(speak, x), training=False)

    return step


def trainable_cnn():
    """Give a small convolution net with batch normalization, which learns to tell five classes."""
    return keras.Sequential(
        [
            keras.layers.Input((12, 12, 3)),
            keras.layers.Conv2D(6, 3),
            keras.layers.BatchNormalization(),
            keras.layers.Activation("relu"),
            keras.layers.GlobalAveragePooling2D(),
            keras.layers.Dense(5, activation="softmax"),
        ]
    )


def trainable_with_dropout():
    """Give a model that draws random numbers in training, from a seed that Keras keeps."""
    return keras.Sequential([keras.layers.Input((8,)), keras.layers.Dropout(0.5), keras.layers.Dense(4)])


def two_outputs():
    """Give a model of one input and two outputs with names."""
    x = keras.layers.Input((4,))
    return keras.Model(x, {"scores": keras.layers.Dense(3)(x), "size": keras.layers.Dense(1)(x)})


def second_output_wrong_in_xla():
    """Give a step of two outputs, of which one is off by 1e-2 in xla."""
    model = two_outputs()
    wrong = _mode() == "xla"

    def step(x):
        outputs = model(x, training=False)
        if wrong and not tf.executing_eagerly():
            return {**outputs, "size": outputs["size"] + 1e-2}
        return outputs

    step.variables = model.weights
    return step
