"""The step inside tf.function with XLA ruled out."""

import functools

from mlflow_tfexec.modes._function import prepare_function
from mlflow_tfexec.modes._mode import Mode

MODE = Mode(
    id="graph_nojit",
    title="tf.function(..., jit_compile=False)",
    position=2,
    prepare=functools.partial(prepare_function, jit_compile=False),
)
