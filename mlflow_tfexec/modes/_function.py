"""The common part of all modes that go through `tf.function`."""

import functools
from typing import Any

from mlflow_tfexec.measurement.call import PreparedCall
from mlflow_tfexec.modes._mode import Step


def prepare_function(step: Step, inputs: tuple[Any, ...], *, jit_compile: bool | None) -> PreparedCall:
    """Wrap *step* in a `tf.function` and bind it to *inputs*.

    The tracing count is the function's own; TensorFlow's retracing warning comes too late and not always.
    Source: https://www.tensorflow.org/api_docs/python/tf/function
    """
    import tensorflow as tf

    function = tf.function(step, jit_compile=jit_compile)
    return PreparedCall(
        run=functools.partial(function, *inputs),
        trace=functools.partial(function.get_concrete_function, *inputs),
        traces=function.experimental_get_tracing_count,
    )
