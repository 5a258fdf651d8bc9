"""A live object of the calling program, written to a file from which another process makes it again.

Keras objects go as Keras saves them, so that what is measured is what a `.keras` file holds; everything else, and the
classes and functions that Keras does not know, by cloudpickle. Code of `__main__`, of a notebook and of modules that a
fresh process would not find goes by value, other code by the name of its module.
"""

import contextlib
import importlib.machinery
import io
import os.path
import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from mlflow_tfexec.errors import RequestError, SpoolError
from mlflow_tfexec.models import _unpacking
from mlflow_tfexec.models._keras_model import hash_weights
from mlflow_tfexec.models._keras_objects import custom_objects_of
from mlflow_tfexec.models._private_files import OWNER_ONLY, make_private, write_private
from mlflow_tfexec.protocol import ModelSource
from mlflow_tfexec.records.recording import LiveObject

_MODEL = "live-model.pickle"


def describe(model: Any) -> LiveObject:
    """Say what a live object is. Imports nothing: what TensorFlow is not loaded for is a plain callable.

    Raises:
        RequestError: it is no model.
    """
    keras, tf = sys.modules.get("keras"), sys.modules.get("tensorflow")
    type_name = _qualified(type(model))
    if isinstance(model, type):
        raise RequestError(f"{_qualified(model)} is a class, and a model made of it is wanted. Call it first.")
    if keras is not None and isinstance(model, keras.Model):
        return LiveObject(kind="Keras model", type=type_name)
    if tf is not None and isinstance(model, tf.types.experimental.PolymorphicFunction):
        return LiveObject(kind="tf.function", type=_qualified(model.python_function))
    if not callable(model):
        raise RequestError(
            f"{type_name} is no model and cannot be called. "
            "Give a Keras model, a tf.Module with __call__, a tf.function, a callable on tensors, or a reference."
        )
    if tf is not None and isinstance(model, tf.Module):
        return LiveObject(kind="tf.Module", type=type_name)
    is_function = hasattr(model, "__qualname__")
    return LiveObject(kind="callable", type=_qualified(model) if is_function else type_name)


def name_of(model: Any, described: LiveObject) -> str:
    """Name a live object: a Keras model's own name, a function's qualified name, a class."""
    if described.kind == "Keras model":
        return str(model.name)
    return described.type.removeprefix("__main__.").removeprefix("builtins.")


def heeded_by(described: LiveObject) -> frozenset[str]:
    """Name the fields of a spec that matter to a live object, of those that not every model heeds."""
    return frozenset() if described.kind == "Keras model" else frozenset({"dtype"})


def pack_model(model: Any, described: LiveObject, directory: Path, *, compiled: bool) -> ModelSource:
    """Write *model* into *directory*, which only its owner can enter. The object itself is left as it is.

    Args:
        model: a live object.
        described: from `describe`.
        directory: is made if it is not there.
        compiled: True takes along what a Keras model was compiled with.

    Raises:
        RequestError: it cannot be brought to another process.
        SpoolError: the disk is full.
    """
    make_private(directory)
    packer = _Packer(directory, compiled=compiled)
    with _told(described), packer.by_value():
        content = packer.dumps(model)
    write_private(directory / _MODEL, content)
    return ModelSource(path=str(directory / _MODEL), live=described, module_paths=_unpacking.own_module_paths())


class _Packer:
    """Pickles one object; Keras's parts of it go to archives beside it."""

    def __init__(self, directory: Path, *, compiled: bool) -> None:
        self._directory = directory
        self._compiled = compiled
        self._archives = 0

    def dumps(self, model: Any) -> bytes:
        import cloudpickle

        reduce = self._reduce

        class Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # its module has no annotations
            def reducer_override(self, obj: Any) -> Any:
                reduced = reduce(obj)
                return super().reducer_override(obj) if reduced is None else reduced

        with io.BytesIO() as stream:
            Pickler(stream, protocol=pickle.HIGHEST_PROTOCOL).dump(model)
            return stream.getvalue()

    @contextlib.contextmanager
    def by_value(self) -> Iterator[None]:
        """Have code of modules that a fresh process would not find pickled by value inside the block."""
        import cloudpickle

        lost = [module for name, module in list(sys.modules.items()) if _is_lost(name, module)]
        before = cloudpickle.list_registry_pickle_by_value()
        mine = [module for module in lost if module.__name__ not in before]
        for module in mine:
            cloudpickle.register_pickle_by_value(module)
        try:
            yield
        finally:
            for module in mine:
                cloudpickle.unregister_pickle_by_value(module)

    def _reduce(self, obj: Any) -> tuple[Callable[..., Any], tuple[Any, ...]] | None:
        """Say how to make *obj* again. None: as any other object."""
        keras, tf = sys.modules.get("keras"), sys.modules.get("tensorflow")
        if keras is not None and isinstance(obj, keras.Model | keras.layers.Layer):
            return self._reduce_keras(obj)
        if tf is not None and isinstance(obj, tf.types.experimental.PolymorphicFunction):
            options = {"jit_compile": getattr(obj, "_jit_compile", None)}
            signature = None if obj.input_signature is None else tuple(obj.input_signature)
            return _unpacking.restore_function, (obj.python_function, signature, options)
        return None

    def _reduce_keras(self, model: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        import keras

        path = self._directory / f"live-{self._archives}.keras"
        self._archives += 1
        keras.saving.save_model(model, path)
        path.chmod(OWNER_ONLY)
        is_compiled = self._compiled and bool(getattr(model, "compiled", False))
        weights = list(model.weights)
        sha256 = hash_weights(weights) if weights else None
        found = custom_objects_of(model, path)
        return _unpacking.restore_keras, (str(path), type(model), found, sha256, is_compiled)


def _is_lost(name: str, module: ModuleType | None) -> bool:
    """Say whether a fresh process would look for a module in vain: it was loaded from a file by hand."""
    if not isinstance(module, ModuleType) or name == "__main__" or "." in name:
        return False
    spec = getattr(module, "__spec__", None)
    origin = getattr(module, "__file__", None)
    if not origin or not origin.endswith(".py") or (spec is not None and spec.origin in {"built-in", "frozen"}):
        return False
    found = importlib.machinery.PathFinder.find_spec(name)
    return found is None or (found.origin is not None and os.path.realpath(found.origin) != os.path.realpath(origin))


@contextlib.contextmanager
def _told(described: LiveObject) -> Iterator[None]:
    """Turn whatever pickling raises into one line that names the object."""
    try:
        yield
    except (RequestError, SpoolError):
        raise
    except OSError as error:
        raise SpoolError(f"Cannot write the {described.kind} {described.type}: {error.strerror or error}.") from None
    except Exception as error:
        text = " ".join(str(error).split())[:300]
        raise RequestError(
            f"The {described.kind} {described.type} cannot be brought to another process "
            f"({type(error).__name__}: {text.rstrip('.')}).\n"
            "Give path/to/file.py:function that makes it, so that each process makes its own."
        ) from error


def _qualified(named: Any) -> str:
    module, name = getattr(named, "__module__", None), getattr(named, "__qualname__", type(named).__qualname__)
    if str(module).startswith("keras.src."):
        # Where Keras keeps its own differs from release to release.
        module = "keras"
    return f"{module}.{name}" if module else str(name)
