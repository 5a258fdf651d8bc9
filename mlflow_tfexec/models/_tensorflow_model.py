"""From what is no Keras model, a restored graph for instance, to a step that has been called once."""

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any

from mlflow_tfexec.measurement.call import ModelStep
from mlflow_tfexec.models import _findings
from mlflow_tfexec.models._input_sets import InputSets, inputs_of, inputs_of_unknown
from mlflow_tfexec.models._inputs import leaves
from mlflow_tfexec.models._keras_model import compute_dtype, hash_weights, prepare_callable, prepare_step
from mlflow_tfexec.models._reference import LoadedModel
from mlflow_tfexec.records.findings import Finding
from mlflow_tfexec.records.spec import Spec

_USUAL_ENDPOINTS = ("serve", "serving_default")
"""What Keras's `export` and `tf.saved_model.save` call the function that is meant."""

_VARIABLES = ("variables", "weights", "trainable_variables")


def prepare_tensorflow_model(model: Any, spec: Spec) -> LoadedModel:
    """Take a `tf.Module`, a `tf.function`, a concrete function, a restored SavedModel or any callable.

    Raises:
        ValueError: it cannot be called, or not with inputs that can be made up.
    """
    import tensorflow as tf

    if not callable(model):
        if isinstance(getattr(model, "signatures", None), Mapping):
            return prepare_restored(model, spec)
        raise ValueError(f"{spec.model!r} returned {type(model).__name__}, which is not a model and cannot be called")
    if isinstance(model, type):
        raise ValueError(f"{spec.model!r} returned the class {model.__name__}; return a model made of it")  # noqa: TRY004 - a wrong request, not a wrong type
    if isinstance(model, tf.types.experimental.ConcreteFunction):
        return _prepare_graph(model, model, spec, "a concrete function")
    restored = model if hasattr(model, "concrete_functions") else model.__call__
    if hasattr(restored, "concrete_functions"):
        return _prepare_restored_function(model, restored.concrete_functions, spec)
    function = model
    if not isinstance(model, tf.types.experimental.PolymorphicFunction):
        function = getattr(type(model), "__call__", None)  # noqa: B004 - the function itself is asked for
    if not isinstance(function, tf.types.experimental.PolymorphicFunction):
        loaded = prepare_callable(model, spec)
        return loaded if loaded.weights_sha256 else _with_weights(loaded, model)
    return _prepare_unwrapped(model, function, spec)


def prepare_restored(model: Any, spec: Spec) -> LoadedModel:
    """Take one endpoint of a restored SavedModel.

    Raises:
        ValueError: it does not have the endpoint that was asked for, or none was, and several would do.
    """
    signatures = dict(model.signatures)
    if not signatures and callable(model):
        if spec.endpoint is not None:
            raise ValueError(f"no endpoint {spec.endpoint!r}: the SavedModel names none; leave --endpoint out")
        return _prepare_restored_function(model, model.__call__.concrete_functions, spec)
    function = signatures[choose_endpoint(list(signatures), spec.endpoint)]
    return _prepare_graph(function, function, spec, "a SavedModel", owner=model)


def choose_endpoint(names: list[str], asked: str | None) -> str:
    """Choose the one that was asked for, the only one, or the usual one.

    Raises:
        ValueError: none of these is there; the text lists what is.
    """
    if asked is not None:
        if asked not in names:
            raise ValueError(f"no endpoint {asked!r}; the SavedModel has {_listed(names)}")
        return asked
    if len(names) == 1:
        return names[0]
    for usual in _USUAL_ENDPOINTS:
        if usual in names:
            return usual
    if not names:
        raise ValueError("the SavedModel has no endpoint and cannot be called; save it with signatures")
    raise ValueError(f"the SavedModel has several endpoints; choose one with --endpoint: {_listed(names)}")


def _listed(names: list[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _prepare_restored_function(model: Any, concrete: list[Any], spec: Spec) -> LoadedModel:
    """Take a restored object that is called as it was before it was saved, and has these graphs."""
    if len(concrete) == 1:
        return _prepare_graph(model, concrete[0], spec, "a SavedModel")
    loaded = prepare_callable(model, spec)
    return _with_finding(loaded, _findings.restored_graph("a SavedModel"))


def _prepare_graph(function: Any, concrete: Any, spec: Spec, what: str, *, owner: Any = None) -> LoadedModel:
    """Take a function that is traced already.

    Args:
        function: is called.
        concrete: its one graph, whose signature says what it takes.
        spec: what was asked for.
        what: names it in the finding.
        owner: what holds the variables of the graph, which itself refers to them weakly.
    """
    positional, named = concrete.structured_input_signature
    arguments = (*positional, named) if named else positional
    call = functools.partial(_call_by_name if named else _call, function, owner)
    loaded = prepare_step(ModelStep(call=call), _inputs(function, arguments, spec), lambda: concrete.variables)
    return _with_finding(loaded, _findings.restored_graph(what))


def _call(function: Any, _owner: Any, *arguments: Any) -> Any:
    return function(*arguments)


def _call_by_name(function: Any, _owner: Any, *arguments: Any) -> Any:
    """Take named arguments as one last dictionary."""
    return function(*arguments[:-1], **arguments[-1])


def _prepare_unwrapped(model: Any, function: Any, spec: Spec) -> LoadedModel:
    """Take the Python function out of a `tf.function`, so that the modes decide how it is executed."""
    call = function.python_function
    if function is not model:
        # What the class holds is not bound; bound by TensorFlow, it would not keep the model alive.
        call = functools.partial(call, model)
    inputs = _inputs(call, tuple(function.input_signature or ()), spec)
    loaded = _with_weights(prepare_step(ModelStep(call=call), inputs, lambda: None), model)
    if function is not model:
        for name in _VARIABLES:
            # Who trains the model looks for them on what is called.
            setattr(call, name, getattr(model, name, None))
    return _with_finding(loaded, _findings.function_unwrapped(getattr(function, "_jit_compile", None)))


def _with_finding(loaded: LoadedModel, finding: Finding) -> LoadedModel:
    return dataclasses.replace(loaded, findings=(*loaded.findings, finding))


def _with_weights(loaded: LoadedModel, model: Any) -> LoadedModel:
    """Look for the variables under the names that TensorFlow's and Keras's objects give them."""
    for name in _VARIABLES:
        variables = getattr(model, name, None)
        if isinstance(variables, list | tuple) and variables:
            return dataclasses.replace(loaded, weights_sha256=hash_weights(variables))
    return loaded


def _inputs(function: Callable[..., Any], arguments: tuple[Any, ...], spec: Spec) -> InputSets:
    """Make inputs by a signature; where it leaves open of what rank they are, as for a callable without one."""
    tensors = [leaf for _, leaf in leaves(arguments) if leaf is not None]
    for tensor in tensors:
        if not hasattr(tensor, "shape") or not hasattr(tensor, "dtype"):
            raise ValueError(f"the function takes {tensor!r}, which is no tensor; give one that takes only tensors")
    if not tensors or any(tensor.shape.rank is None for tensor in tensors):
        return inputs_of_unknown(function, spec, dtype=compute_dtype(spec.dtype))
    return inputs_of(arguments, spec)
