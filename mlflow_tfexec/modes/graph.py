"""The step inside tf.function, with TensorFlow left to choose: no XLA on a CPU or GPU."""

import functools

from mlflow_tfexec.modes._function import prepare_function
from mlflow_tfexec.modes._mode import Mode

MODE = Mode(
    id="graph",
    title="tf.function(...), jit_compile=None",
    position=1,
    prepare=functools.partial(prepare_function, jit_compile=None),
)
