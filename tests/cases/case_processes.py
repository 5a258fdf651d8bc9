"""Models that break the process they are in, or do with it what models should not."""

# ruff: noqa: T201, TID253 - loaded in workers, which have TensorFlow, and some print on purpose

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import keras
import numpy as np
import psutil
import tensorflow as tf


def _mode():
    """Name the mode of this worker, which only its log's name tells."""
    names = [Path(file.path).name for file in psutil.Process().open_files()]
    matches = [re.fullmatch(r"(?:launch|batch)-\d+-(\w+)\.log", name) for name in names]
    return next((match[1] for match in matches if match), None)


def _in(mode, action):
    """Do *action* while *mode* is traced, and nothing in any other mode."""
    act = action if _mode() == mode else None

    def step(x):
        if act is not None and not tf.executing_eagerly():
            x = act(x)
        return x * 2.0

    return step


def _leave(_):
    sys.exit("a farewell")


def _kill(_):
    os.kill(os.getpid(), signal.SIGKILL)


def _end(_):
    os._exit(0)


def _recurse(x):
    return _recurse(x)


def _huge_array(x):
    return x + float(np.zeros(2**60, "uint8")[0])


def _huge_tensor(x):
    return x + tf.reduce_sum(tf.fill([2**20, 2**20], x[0, 0]))


def calls_exit():
    """Call sys.exit while it is traced in graph."""
    return _in("graph", _leave)


def killed():
    """Be killed while it is traced in xla, as the system's out-of-memory killer does."""
    return _in("xla", _kill)


def ends_quietly():
    """End the process with exit code 0 in xla."""
    return _in("xla", _end)


def endless_recursion():
    """Call itself without end in graph."""
    return _in("graph", _recurse)


def out_of_memory_in_python():
    """Ask Python for more memory than there is, in graph."""
    return _in("graph", _huge_array)


def out_of_memory_in_tensorflow():
    """Ask TensorFlow for more memory than there is, in graph."""
    return _in("graph", _huge_tensor)


def out_of_memory_by_batch():
    """Ask TensorFlow for more memory than there is, in graph, for more than two items."""
    return _in("graph", lambda x: _huge_tensor(x) if x.shape[0] > 2 else x)


def starts_threads():
    """Have threads of its own that never end."""
    for _ in range(5):
        threading.Thread(target=time.sleep, args=(3600,), daemon=False).start()
    return lambda x: x * 2.0


def starts_processes():
    """Have child processes that outlive every call, one of them in a session of its own."""
    sleep = [sys.executable, "-c", "import time; time.sleep(3600)"]
    children = [subprocess.Popen(sleep, start_new_session=is_apart) for is_apart in (False, True)]
    return lambda x: x * float(len(children))


def prints_much():
    """Print a megabyte, in Python and past it."""
    print("x" * 1_000_000)
    os.write(1, b"y" * 100_000)
    return lambda x: x * 2.0


def closes_its_streams():
    """Close the standard streams."""
    sys.stdout.close()
    os.close(0)
    return lambda x: x * 2.0


def variable_on_another_device():
    """Keep a variable on a second device."""
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    with tf.device("CPU:1"):
        weight = tf.Variable(tf.reshape(tf.range(8.0), (4, 2)))
    return lambda x: x @ weight


def float64_by_default():
    """Change what Keras computes in."""
    keras.config.set_floatx("float64")
    return keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(2)])
