"""The same model in float64: what a difference can be blamed by."""

import dataclasses
from collections.abc import Callable
from typing import Any

from mlflow_tfexec.models._inputs import to_device
from mlflow_tfexec.models._reference import LoadedModel
from mlflow_tfexec.records.findings import Finding

_FLOATS = frozenset({"float16", "bfloat16", "float32", "mixed_float16", "mixed_bfloat16"})


def with_float64_reference(loaded: LoadedModel) -> LoadedModel:
    """Add a way to have the model's answers in float64, or a finding that says why there is none."""
    import keras

    model = loaded.subject
    if not isinstance(model, keras.Model):
        return _without(loaded, "only a Keras model can be built once more in float64, and this is another callable")
    if model.compute_dtype == "float64":
        return _without(loaded, "the model computes in float64 already")
    try:
        # Making the layers tells whether it is possible; they are made again where they are needed.
        _rebuilt(model)
    except Exception as error:  # noqa: BLE001 - a layer's own code may raise anything
        return _without(loaded, f"Keras cannot build it from its configuration ({type(error).__name__})")
    return dataclasses.replace(loaded, float64=_answers(model, loaded.inputs))


def _without(loaded: LoadedModel, why: str) -> LoadedModel:
    finding = Finding(
        code="float64_not_possible",
        what=f"There is no reference in float64: {why}.",
        why="Without one, a difference between two modes does not tell which of them is off.",
    )
    return dataclasses.replace(loaded, findings=(*loaded.findings, finding))


def _answers(model: Any, inputs: Callable[[int], tuple[Any, ...]]) -> Callable[[], Any]:
    def answers() -> Any:
        import keras
        import tensorflow as tf

        def widened(leaf: Any) -> Any:
            tensor = tf.convert_to_tensor(leaf)
            return tf.cast(tensor, tf.float64) if tensor.dtype.is_floating else tensor

        arguments = keras.tree.map_structure(widened, to_device(inputs(0)))
        exact = _rebuilt(model)
        exact(*arguments, training=False)
        exact.set_weights(model.get_weights())
        return exact(*arguments, training=False)

    return answers


def _rebuilt(model: Any) -> Any:
    """Build a model from its configuration, with every float type in it replaced. Its weights are new."""
    import keras

    classes = {type(layer).__name__: type(layer) for layer in model._flatten_layers()}  # noqa: SLF001 - nested ones, too
    with keras.utils.custom_object_scope(classes):
        return type(model).from_config(_in_float64(model.get_config()))


def _in_float64(config: Any) -> Any:
    """Replace the types of floats in a configuration: as names, and as policies with a name."""
    if isinstance(config, dict):
        return {key: _type(value) if key == "dtype" else _in_float64(value) for key, value in config.items()}
    if isinstance(config, list | tuple):
        return type(config)(_in_float64(value) for value in config)
    return config


def _type(value: Any) -> Any:
    if isinstance(value, str):
        return "float64" if value in _FLOATS else value
    if isinstance(value, dict):
        return "float64" if value.get("config", {}).get("name") in _FLOATS else value
    return value
