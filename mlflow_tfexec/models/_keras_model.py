"""From a Keras model, or any callable, to a step that has been called once with inputs that fit."""

import dataclasses
import functools
import hashlib
from collections.abc import Callable, Iterable
from typing import Any

from mlflow_tfexec.measurement.call import ModelStep
from mlflow_tfexec.models import _findings
from mlflow_tfexec.models._consumers import consumed_values, layers_that_take_text
from mlflow_tfexec.models._input_sets import InputSets, inputs_of, inputs_of_unknown
from mlflow_tfexec.models._reference import LoadedModel
from mlflow_tfexec.records.spec import Spec

_LEAST_PRECISE_FIRST = ("bfloat16", "float16", "float32", "float64")


def prepare_keras_model(model: Any, spec: Spec) -> LoadedModel:
    """Make inputs from the model's own signature (same structure) and build it by one call."""
    signature = _signature(model)
    if signature is None:
        inputs = inputs_of_unknown(model.call, spec, dtype=compute_dtype(spec.dtype))
    else:
        inputs = inputs_of((signature,), spec, values=consumed_values(model))
    step = ModelStep(call=functools.partial(model, training=False), predict=model.predict)
    loaded = prepare_step(step, inputs, lambda: model.weights)
    inner = _layers_with_inner_jit(model)
    return dataclasses.replace(
        loaded,
        subject=model,
        text_layers=() if signature is None else tuple(layers_that_take_text(model)),
        compute_dtype=_least_precise_dtype(model),
        findings=(*loaded.findings, *([_findings.inner_jit(inner)] if inner else [])),
    )


def prepare_callable(function: Callable[..., Any], spec: Spec) -> LoadedModel:
    """Take a callable that says nothing of its inputs: a float tensor of the shape asked for, or what is given."""
    inputs = inputs_of_unknown(function, spec, dtype=compute_dtype(spec.dtype))
    return prepare_step(ModelStep(call=function), inputs, lambda: getattr(function, "variables", None))


def prepare_step(step: ModelStep, inputs: InputSets, find_weights: Callable[[], Any]) -> LoadedModel:
    """Build *step* by one call on *inputs*.

    *find_weights* gives the variables once the step has been called; what is no list of them is not known.
    """
    with inputs.blamed():
        _build(step.call, inputs.tensors(0))
    weights = find_weights()
    return inputs.on(
        LoadedModel(
            step=step,
            inputs=inputs.tensors,
            input_facts=inputs.facts,
            weights_sha256=hash_weights(weights) if isinstance(weights, list | tuple) else None,
            subject=step.call,
        )
    )


def compute_dtype(policy: str) -> str:
    """Name the dtype in which a Keras dtype policy computes: `mixed_float16` computes in float16."""
    return policy.removeprefix("mixed_")


def _least_precise_dtype(model: Any) -> str | None:
    """Name the least precise dtype in which a layer computes. None: none says."""
    computed = {str(getattr(layer, "compute_dtype", None)) for layer in getattr(model, "layers", None) or [model]}
    return next((dtype for dtype in _LEAST_PRECISE_FIRST if dtype in computed), None)


def _layers_with_inner_jit(model: Any) -> list[str]:
    """Name the layers whose `call` is a `tf.function` that asks for XLA by itself."""
    layers = [model, *(getattr(model, "layers", None) or [])]
    return [one.name for one in layers if getattr(getattr(type(one), "call", None), "_jit_compile", None)]


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
        # A sequential model that another one calls names the other's tensors for its own.
        return (getattr(model, "_functional", None) or model).input
    except (AttributeError, ValueError):
        return model.inputs[0] if len(model.inputs) == 1 else list(model.inputs)


def _build(step: Callable[..., Any], inputs: tuple[Any, ...]) -> None:
    """Call once with every inner `tf.function` run eagerly.

    Otherwise an inner function traces the initialisers of lazily built layers into its graph, and every
    mode then ignores the weights. Seen in TensorFlow 2.21 with Keras 3.15.

    Raises:
        ValueError: the model answers with nothing. A graph without an answer is empty, and quick.
    """
    import tensorflow as tf

    tf.config.run_functions_eagerly(True)
    try:
        answer = step(*inputs)
    finally:
        tf.config.run_functions_eagerly(False)
    if all(leaf is None for leaf in tf.nest.flatten(answer)):
        raise ValueError("called with inputs it returned nothing, so that there is nothing to compute; return tensors")
