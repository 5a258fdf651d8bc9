"""The plain call: every operation is dispatched from Python."""

import functools
from typing import Any

from mlflow_tfexec.measurement.call import PreparedCall
from mlflow_tfexec.modes._mode import Mode, Step


def prepare(step: Step, inputs: tuple[Any, ...]) -> PreparedCall:
    """Bind the step to its inputs."""
    return PreparedCall(run=functools.partial(step, *inputs))


MODE = Mode(id="eager", title="model(x, training=False)", position=0, prepare=prepare)
