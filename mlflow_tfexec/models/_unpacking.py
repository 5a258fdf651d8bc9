"""Live objects as `_packing` wrote them, made again in a worker. Opening a pickle runs the code that it holds."""

import linecache
import os
import pickle
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.models import _findings
from mlflow_tfexec.models._keras_arguments import make_again_by_own_arguments
from mlflow_tfexec.models._keras_model import compute_dtype, hash_weights, prepare_keras_model
from mlflow_tfexec.models._keras_objects import layers_of
from mlflow_tfexec.models._reference import LoadedModel
from mlflow_tfexec.models._tensorflow_model import prepare_tensorflow_model
from mlflow_tfexec.protocol import ModelSource
from mlflow_tfexec.records.spec import Spec


def load_live(spec: Spec, source: ModelSource) -> LoadedModel:
    """Make the live object of *source* again, and prepare it as a factory's model is.

    Raises:
        ValueError: it cannot be made again here, or not with the weights that it had.
    """
    import keras

    keras.mixed_precision.set_dtype_policy(spec.dtype)
    # What is not built yet gets its weights here, the same in every mode.
    keras.utils.set_random_seed(spec.seed)
    model = _unpickled(Path(str(source.path)), source.module_paths)
    if not isinstance(model, keras.Model):
        return prepare_tensorflow_model(model, spec)
    loaded = prepare_keras_model(model, spec)
    dtype = loaded.compute_dtype
    if dtype is None or dtype == compute_dtype(spec.dtype):
        return loaded
    return loaded.with_finding(_findings.own_dtype(dtype))


def restore_keras(
    path: str,
    class_: type[Any],
    custom_objects: Mapping[str, Any],
    weights_sha256: str | None,
    trainable: Sequence[bool],
    compile_: bool,
) -> Any:
    """Load a Keras object from the archive at *path*, and prove that its weights are those that it had.

    *trainable* are the flags of it and of the layers in it.

    Raises:
        ValueError: Keras cannot make it again, or with other weights.
    """
    import keras

    keras.saving.get_custom_objects().update(custom_objects)
    for one in custom_objects.values():
        if isinstance(one, type) and issubclass(one, keras.layers.Layer):
            make_again_by_own_arguments(one)
    try:
        model = keras.saving.load_model(path, custom_objects=dict(custom_objects), compile=compile_, safe_mode=False)
    except Exception as error:
        raise ValueError(
            f"Keras saves the {class_.__name__} and cannot make it again ({type(error).__name__}: {error})"
        ) from error
    if weights_sha256 is not None and hash_weights(model.weights) != weights_sha256:
        raise ValueError(
            f"Keras makes the {class_.__name__} again with other weights than it had. Make all its layers in __init__ "
            "or build, and give it a get_config that says with which arguments"
        )
    # What a subclassed model froze after it was made is in no archive. Outer layers come first: they set inner ones.
    for layer, is_trainable in zip(layers_of(model), trainable, strict=False):
        layer.trainable = is_trainable
    return model


def restore_function(function: Callable[..., Any], input_signature: Any, options: Mapping[str, Any]) -> Any:
    """Make a `tf.function` again: what it had traced stays behind."""
    import tensorflow as tf

    return tf.function(function, input_signature=input_signature, **options)


def _unpickled(path: Path, module_paths: tuple[str, ...]) -> Any:
    # Last: what every process finds by itself comes from where it always does.
    sys.path.extend(place for place in module_paths if place not in sys.path)
    try:
        with path.open("rb") as stream:
            for name, source in pickle.load(stream).items():  # noqa: S301 - the calling program's own
                # Without a time, so that nobody looks for a newer one on disk: notebooks have none there.
                linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
            return pickle.load(stream)  # noqa: S301 - as above
    except (ValueError, RequestError, MemoryError):
        raise
    except Exception as error:
        raise ValueError(
            f"it cannot be made again in another process ({type(error).__name__}: {error}). "
            "Give path/to/file.py:function that makes it"
        ) from error


def own_module_paths() -> tuple[str, ...]:
    """Say where this process finds modules, as absolute paths."""
    return tuple(dict.fromkeys(os.path.abspath(place or ".") for place in sys.path))  # noqa: PTH100 - texts
