"""The step inside tf.function, with XLA compiling whatever clusters of operations it chooses."""

import functools

from mlflow_tfexec.modes._function import prepare_function
from mlflow_tfexec.modes._mode import Mode

# Auto-clustering leaves the CPU alone unless it is told not to.
# Source: https://openxla.org/xla/tf2xla#auto-clustering
_FLAGS = "--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit"

MODE = Mode(
    id="xla_autocluster",
    title="tf.function(...) with XLA's auto-clustering",
    position=7,
    prepare=functools.partial(prepare_function, jit_compile=None),
    default=False,
    variables={"TF_XLA_FLAGS": _FLAGS},
)
