"""The plain call: every operation is dispatched from Python."""

from mlflow_tfexec.measurement.call import ModelStep, PreparedCall
from mlflow_tfexec.modes._mode import Mode


def prepare(step: ModelStep) -> PreparedCall:
    """Take the step as it is."""
    return PreparedCall(function=step.call)


MODE = Mode(id="eager", title="model(x, training=False)", position=0, prepare=prepare)
