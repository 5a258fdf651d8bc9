"""From a Keras model, or any callable, to a step that has been called once with inputs that fit."""

import functools
import hashlib
from collections.abc import Callable, Iterable
from typing import Any

from mlflow_tfexec.measurement.call import ModelStep
from mlflow_tfexec.models._inputs import TensorFacts, make_tensor
from mlflow_tfexec.models._reference import LoadedModel
from mlflow_tfexec.records.recording import InputFacts
from mlflow_tfexec.records.spec import Spec


def prepare_keras_model(model: Any, spec: Spec) -> LoadedModel:
    """Make inputs from the model's own signature (same structure) and build it by one call."""
    import keras

    signature = _signature(model, spec)
    tensors = [_facts(tensor, spec) for tensor in keras.tree.flatten(signature)]

    def inputs(number: int) -> tuple[Any, ...]:
        made = [make_tensor(facts, seed=(spec.seed, number, place)) for place, facts in enumerate(tensors)]
        return (keras.tree.pack_sequence_as(signature, made),)

    step = functools.partial(model, training=False)
    _build(step, inputs(0))
    return LoadedModel(
        step=ModelStep(call=step, predict=model.predict),
        inputs=inputs,
        input_facts=tuple(InputFacts(name=t.name, shape=t.shape, dtype=t.dtype) for t in tensors),
        weights_sha256=hash_weights(model.weights),
    )


def prepare_callable(function: Callable[..., Any], spec: Spec) -> LoadedModel:
    """Take a callable that says nothing of its inputs: one float tensor of the shape that was asked for."""
    if spec.input_shape is None:
        raise ValueError("the model does not say what input it takes; give --input-shape")
    facts = TensorFacts(name=None, shape=(spec.batch_size, *spec.input_shape), dtype=compute_dtype(spec.dtype))

    def inputs(number: int) -> tuple[Any, ...]:
        return (make_tensor(facts, seed=(spec.seed, number, 0)),)

    _build(function, inputs(0))
    variables = getattr(function, "variables", None)
    return LoadedModel(
        step=ModelStep(call=function),
        inputs=inputs,
        input_facts=(InputFacts(shape=facts.shape, dtype=facts.dtype),),
        weights_sha256=hash_weights(variables) if isinstance(variables, list | tuple) else None,
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


def _signature(model: Any, spec: Spec) -> Any:
    """Find what the model takes: its symbolic inputs, in their structure."""
    if getattr(model, "inputs", None):
        try:
            return model.input
        except (AttributeError, ValueError):
            return model.inputs[0] if len(model.inputs) == 1 else list(model.inputs)
    if spec.input_shape is None:
        raise ValueError("the model does not say what input it takes; give --input-shape")
    return TensorFacts(name=None, shape=(None, *spec.input_shape), dtype=compute_dtype(spec.dtype))


def _facts(tensor: Any, spec: Spec) -> TensorFacts:
    """Fill the batch and the open dimensions of one symbolic input."""
    shape = tuple(tensor.shape)
    item = shape[1:]
    if spec.input_shape is not None:
        if len(item) != len(spec.input_shape) or any(
            own is not None and own != asked for own, asked in zip(item, spec.input_shape, strict=True)
        ):
            raise ValueError(f"input shape {spec.input_shape} does not fit the model's input, which takes {item}")
        item = spec.input_shape
    if None in item:
        raise ValueError(f"input {tensor.name!r} has open dimensions {item}; give --input-shape")
    batch = shape[0] if shape[0] is not None else spec.batch_size
    if batch != spec.batch_size:
        raise ValueError(f"batch size {spec.batch_size} does not fit the model, which is built for {batch}")
    return TensorFacts(name=tensor.name, shape=(batch, *item), dtype=str(tensor.dtype))


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
