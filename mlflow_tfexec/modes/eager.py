"""The plain call: every operation is dispatched from Python."""

from collections.abc import Callable

from mlflow_tfexec.measurement.call import ModelStep, PreparedCall
from mlflow_tfexec.modes._mode import Mode


def prepare(step: ModelStep) -> PreparedCall:
    """Take the step as it is; what is traced are functions inside it, if there are any."""
    return PreparedCall(function=step.call, traces=_count_traces())


def _count_traces() -> Callable[[], int]:
    """Count the traced functions that become known to the runtime from now on.

    A `tf.function` inside a model that is traced anew in every call is not seen from outside. No public function
    tells of it. Source: `Context.list_function_names` in tensorflow/python/eager/context.py
    """
    known = _functions()
    new: set[str] = set()

    def count() -> int:
        # Forgotten functions leave the runtime's list, and were traced all the same.
        new.update(_functions() - known)
        return len(new)

    return count


def _functions() -> set[str]:
    """Name the functions that were traced, and not those that wrap one operation. Empty: TensorFlow does not tell."""
    try:
        from tensorflow.python.eager import context

        names = context.context().list_function_names()
    except (ImportError, AttributeError):
        return set()
    return {name for name in names if name.startswith("__inference_")}


MODE = Mode(id="eager", title="model(x, training=False)", position=0, prepare=prepare)
