"""The A/A control: `graph` once more, in a process of its own; what differs is this session's noise."""

import functools

from mlflow_tfexec.modes._function import prepare_function
from mlflow_tfexec.modes._mode import Mode

MODE = Mode(
    id="graph_control",
    title="graph again, in its own process (never ranked)",
    position=4,
    prepare=functools.partial(prepare_function, jit_compile=None),
)
