"""A Python function that returns a model: `path/to/file.py:function` or `package.module:function`."""

import importlib
import importlib.util
import os.path
import sys
from pathlib import Path
from types import ModuleType

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.models._keras_model import prepare_callable, prepare_keras_model
from mlflow_tfexec.models._reference import LoadedModel, ReferenceKind
from mlflow_tfexec.records.spec import Spec


def recognise(reference: str) -> str | None:
    """Take anything of the form `where:function`; `where` is a file that ends in .py, or a module."""
    where, separator, function = reference.rpartition(":")
    if not separator or not function.isidentifier():
        return None
    if where.endswith(".py"):
        if not os.path.isfile(where):  # noqa: PTH113 - Path.is_file raises for a name that is too long
            raise RequestError(f"No file {where!r} for model {reference!r}. Give the path of an existing Python file.")
        return reference
    return reference if all(part.isidentifier() for part in where.split(".")) else None


def load(spec: Spec) -> LoadedModel:
    """Import the function, call it without arguments, and take the Keras model or the callable that it returns."""
    import keras

    where, _, function = spec.model.rpartition(":")
    keras.mixed_precision.set_dtype_policy(spec.dtype)
    keras.utils.set_random_seed(spec.seed)
    factory = getattr(_import(where), function, None)
    if not callable(factory):
        raise ValueError(f"{where!r} has no function {function!r}")  # noqa: TRY004 - wrong request, not a wrong type
    model = factory()
    if isinstance(model, keras.Model):
        return prepare_keras_model(model, spec)
    if callable(model):
        return prepare_callable(model, spec)
    raise ValueError(f"{spec.model!r} returned {type(model).__name__}, which is not a model and cannot be called")


def _import(where: str) -> ModuleType:
    """Import a module by name, or a file by path with its directory importable, as running it would."""
    if not where.endswith(".py"):
        return importlib.import_module(where)
    path = Path(where).resolve()
    sys.path.insert(0, str(path.parent))
    module_spec = importlib.util.spec_from_file_location(path.stem, path)
    if module_spec is None or module_spec.loader is None:
        raise ValueError(f"cannot import {where!r}")
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[path.stem] = module
    module_spec.loader.exec_module(module)
    return module


KIND = ReferenceKind(
    title="path/to/file.py:function or package.module:function", position=1, recognise=recognise, load=load
)
