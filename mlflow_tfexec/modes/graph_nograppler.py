"""The step inside tf.function with Grappler, TensorFlow's graph optimizer, switched off."""

from mlflow_tfexec.measurement.call import ModelStep, PreparedCall
from mlflow_tfexec.modes._function import prepare_function
from mlflow_tfexec.modes._mode import Mode


def prepare(step: ModelStep) -> PreparedCall:
    """Switch the meta optimizer off for this process, then wrap the step as `graph` does.

    Source: https://www.tensorflow.org/api_docs/python/tf/config/optimizer/set_experimental_options
    """
    import tensorflow as tf

    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    return prepare_function(step, jit_compile=None)


MODE = Mode(
    id="graph_nograppler",
    title="tf.function(...) without Grappler's optimizations",
    position=6,
    prepare=prepare,
    default=False,
)
