"""The common part of all modes that go through `tf.function`."""

from mlflow_tfexec.measurement.call import ModelStep, PreparedCall


def prepare_function(step: ModelStep, *, jit_compile: bool | None) -> PreparedCall:
    """Wrap *step* in a `tf.function`.

    The tracing count is the function's own; TensorFlow's retracing warning comes too late and not always.
    Source: https://www.tensorflow.org/api_docs/python/tf/function
    """
    import tensorflow as tf

    function = tf.function(step.call, jit_compile=jit_compile)
    return PreparedCall(
        function=function,
        trace=function.get_concrete_function,
        traces=function.experimental_get_tracing_count,
    )
