"""The step compiled by XLA as a whole."""

import functools

from mlflow_tfexec.modes._function import prepare_function
from mlflow_tfexec.modes._mode import Mode

MODE = Mode(
    id="xla",
    title="tf.function(..., jit_compile=True)",
    position=3,
    prepare=functools.partial(prepare_function, jit_compile=True),
)
