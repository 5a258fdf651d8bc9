"""From a Keras model, or any callable, to a step that has been called once with inputs that fit."""

import functools
import hashlib
from collections.abc import Callable, Iterable
from typing import Any

from mlflow_tfexec.measurement.call import ModelStep
from mlflow_tfexec.models._consumers import consumed_values
from mlflow_tfexec.models._input_sets import inputs_of, inputs_of_unknown
from mlflow_tfexec.models._reference import LoadedModel
from mlflow_tfexec.records.spec import Spec


def prepare_keras_model(model: Any, spec: Spec) -> LoadedModel:
    """Make inputs from the model's own signature (same structure) and build it by one call."""
    signature = _signature(model)
    dtype = compute_dtype(spec.dtype)
    if signature is None:
        inputs = inputs_of_unknown(model.call, spec, dtype=dtype)
    else:
        inputs = inputs_of((signature,), spec, values=consumed_values(model))
    step = functools.partial(model, training=False)
    _build(step, inputs.tensors(0))
    return inputs.on(
        LoadedModel(
            step=ModelStep(call=step, predict=model.predict),
            inputs=inputs.tensors,
            input_facts=inputs.facts,
            weights_sha256=hash_weights(model.weights),
        )
    )


def prepare_callable(function: Callable[..., Any], spec: Spec) -> LoadedModel:
    """Take a callable that says nothing of its inputs: a float tensor of the shape asked for, or what is given."""
    inputs = inputs_of_unknown(function, spec, dtype=compute_dtype(spec.dtype))
    _build(function, inputs.tensors(0))
    variables = getattr(function, "variables", None)
    return inputs.on(
        LoadedModel(
            step=ModelStep(call=function),
            inputs=inputs.tensors,
            input_facts=inputs.facts,
            weights_sha256=hash_weights(variables) if isinstance(variables, list | tuple) else None,
        )
    )


def compute_dtype(policy: str) -> str:
    """Name the dtype in which a Keras dtype policy computes: `mixed_float16` computes in float16."""
    return policy.removeprefix("mixed_")


def hash_weights(weights: Iterable[Any]) -> str:
    """Hash weights in order, so that two processes can prove that they hold the same model."""
    import numpy as np

    digest = hashlib.sha256()
    for weight in weights:
        value = np.ascontiguousarray(weight)
        digest.update(f"{value.dtype}{value.shape}".encode())
        # As bytes without a copy: weights can be large, and bfloat16 has no buffer of its own.
        digest.update(value.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _signature(model: Any) -> Any:
    """Find what the model takes: its symbolic inputs, in their structure. None: it does not say."""
    if not getattr(model, "inputs", None):
        return None
    try:
        return model.input
    except (AttributeError, ValueError):
        return model.inputs[0] if len(model.inputs) == 1 else list(model.inputs)


def _build(step: Callable[..., Any], inputs: tuple[Any, ...]) -> None:
    """Call once with every inner `tf.function` run eagerly.

    Otherwise an inner function traces the initialisers of lazily built layers into its graph, and every
    mode then ignores the weights. Seen in TensorFlow 2.21 with Keras 3.15.
    """
    import tensorflow as tf

    tf.config.run_functions_eagerly(True)
    try:
        step(*inputs)
    finally:
        tf.config.run_functions_eagerly(False)
