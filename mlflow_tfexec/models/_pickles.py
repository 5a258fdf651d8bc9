"""Pickles of live objects: Keras's parts as Keras saves them, functions with their source, graphs left behind."""

import contextlib
import importlib.machinery
import io
import linecache
import marshal
import os.path
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.models import _unpacking
from mlflow_tfexec.models._keras_model import hash_weights
from mlflow_tfexec.models._keras_objects import custom_objects_of, layers_of
from mlflow_tfexec.models._private_files import OWNER_ONLY

Reduced = tuple[Callable[..., Any], tuple[Any, ...]]


class Pickles:
    """Pickles one object; Keras's parts of it go to archives in *directory*."""

    def __init__(self, directory: Path, *, compiled: bool) -> None:
        self._directory = directory
        self._compiled = compiled
        self._archives = 0
        self._sources: dict[str, str] = {}

    def dumps(self, model: Any) -> bytes:
        """Pickle the sources of the functions that go by value, and behind them *model*."""
        import cloudpickle

        reduce = self._reduce

        class Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # its module has no annotations
            def reducer_override(self, obj: Any) -> Any:
                reduced = reduce(obj)
                return super().reducer_override(obj) if reduced is None else reduced

        with io.BytesIO() as stream, _lost_modules_by_value():
            Pickler(stream, protocol=pickle.HIGHEST_PROTOCOL).dump(model)
            return pickle.dumps(self._sources) + stream.getvalue()

    def _reduce(self, obj: Any) -> Reduced | None:
        """Say how to make *obj* again. None: as any other object."""
        keras, tf = sys.modules.get("keras"), sys.modules.get("tensorflow")
        if isinstance(obj, CodeType):
            # Cloudpickle forgets the file, without which AutoGraph finds no source, and then no `if` on a tensor works.
            self._sources[obj.co_filename] = "".join(linecache.getlines(obj.co_filename))
            return marshal.loads, (marshal.dumps(obj),)
        if keras is not None and isinstance(obj, keras.Model | keras.layers.Layer):
            return self._reduce_keras(obj)
        if tf is not None and isinstance(obj, tf.types.experimental.PolymorphicFunction):
            options = {"jit_compile": getattr(obj, "_jit_compile", None)}
            signature = None if obj.input_signature is None else tuple(obj.input_signature)
            return _unpacking.restore_function, (obj.python_function, signature, options)
        return None

    def _reduce_keras(self, model: Any) -> Reduced:
        import keras

        _refuse_foreign_variables(model)
        path = self._directory / f"live-{self._archives}.keras"
        self._archives += 1
        with warnings.catch_warnings():
            # What has no weights yet gets them in the worker.
            warnings.simplefilter("ignore")
            keras.saving.save_model(model, path)
        path.chmod(OWNER_ONLY)
        is_compiled = self._compiled and bool(getattr(model, "compiled", False))
        weights = list(model.weights)
        sha256 = hash_weights(weights) if weights else None
        found = custom_objects_of(model, path)
        trainable = [bool(layer.trainable) for layer in layers_of(model)]
        return _unpacking.restore_keras, (str(path), type(model), found, sha256, trainable, is_compiled)


def _refuse_foreign_variables(model: Any) -> None:
    """Refuse variables of TensorFlow's own in a Keras layer: Keras neither counts nor saves them.

    Raises:
        RequestError: there is one.
    """
    import tensorflow as tf

    for layer in layers_of(model):
        for name, value in vars(layer).items():
            if isinstance(value, tf.Variable):
                raise RequestError(
                    f"{type(layer).__name__}.{name} is a tf.Variable, which Keras does not save. "
                    "Make it with self.add_weight, or give path/to/file.py:function that makes the model."
                )


@contextlib.contextmanager
def _lost_modules_by_value() -> Iterator[None]:
    """Have code of modules that a fresh process would not find pickled by value inside the block."""
    import cloudpickle

    before = cloudpickle.list_registry_pickle_by_value()
    mine = [module for name, module in list(sys.modules.items()) if name not in before and _is_lost(name, module)]
    for module in mine:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in mine:
            cloudpickle.unregister_pickle_by_value(module)


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
