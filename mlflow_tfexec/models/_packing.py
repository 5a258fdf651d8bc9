"""A live object of the calling program, written to a file from which another process makes it again.

Keras objects go as Keras saves them, so that what is measured is what a `.keras` file holds; everything else, and the
classes and functions that Keras does not know, by cloudpickle. Code of `__main__`, of a notebook and of modules that a
fresh process would not find goes by value, other code by the name of its module.
"""

import contextlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mlflow_tfexec.errors import RequestError, SpoolError
from mlflow_tfexec.models import _unpacking
from mlflow_tfexec.models._pickles import Pickles
from mlflow_tfexec.models._private_files import make_private, write_private
from mlflow_tfexec.protocol import ModelSource
from mlflow_tfexec.records.origin import LiveObject

_MODEL = "live-model.pickle"

_LONGEST_REASON = 300

# What Keras says of a layer that takes arguments which nothing tells it again.
_NO_CONFIG = re.compile(r"Object (\w+) was created by passing non-serializable")


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
    with _told(described):
        content = Pickles(directory, compiled=compiled).dumps(model)
    write_private(directory / _MODEL, content)
    return ModelSource(path=str(directory / _MODEL), live=described, module_paths=_unpacking.own_module_paths())


@contextlib.contextmanager
def _told(described: LiveObject) -> Iterator[None]:
    """Turn whatever pickling raises into one line that names the object."""
    try:
        yield
    except (RequestError, SpoolError):
        raise
    except OSError as error:
        raise SpoolError(f"Cannot write the {described.kind} {described.type}: {error.strerror or error}.") from None
    except Exception as error:  # an object's own code may raise anything
        raise RequestError(_refusal(described, error)) from error


def _refusal(described: LiveObject, error: Exception) -> str:
    """Say why an object cannot be brought along, and what to do."""
    text = " ".join(str(error).split())
    missing = _NO_CONFIG.search(text)
    if missing is not None:
        return (
            f"Keras cannot save the {missing[1]} in {described.type}: it takes arguments and has no get_config.\n"
            "Give it one, or give path/to/file.py:function that makes the model."
        )
    return (
        f"The {described.kind} {described.type} cannot be brought to another process "
        f"({type(error).__name__}: {text[:_LONGEST_REASON].rstrip('.')}).\n"
        "Give path/to/file.py:function that makes it, so that each process makes its own."
    )


def _qualified(named: Any) -> str:
    module, name = getattr(named, "__module__", None), getattr(named, "__qualname__", type(named).__qualname__)
    if str(module).startswith("keras.src."):
        # Where Keras keeps its own differs from release to release.
        module = "keras"
    return f"{module}.{name}" if module else str(name)
