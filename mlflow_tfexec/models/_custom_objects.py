"""Classes and functions that a model's file names, and that Keras does not know."""

from pathlib import Path
from typing import Any

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.models._imports import import_named, split_reference


def check_custom_object(text: str) -> None:
    """Make sure that *text* has the form `module:Class` or `path/to/file.py:Class`. Imports nothing.

    Raises:
        RequestError: it has not, or the file is not there.
    """
    if split_reference(text) is None:
        raise RequestError(f"--custom-objects {text!r} names nothing. Give module:Class or path/to/file.py:Class.")


def import_custom_objects(texts: tuple[str, ...]) -> dict[str, Any]:
    """Import what was named: name → class or function. Whatever the modules register with Keras is known as well.

    Raises:
        ValueError: a module has nothing of that name; or whatever importing it raises.
    """
    found = {}
    for text in texts:
        parts = split_reference(text)
        if parts is None:
            raise ValueError(f"{text!r} is not module:Class")
        found[parts[1]] = import_named(*parts, what="class or function")
    return found


def unpickle_custom_objects(paths: tuple[str, ...]) -> None:
    """Make known to Keras what MLflow pickled beside a model. Runs whatever code the pickles hold.

    Raises:
        ValueError: a pickle cannot be opened here.
    """
    import cloudpickle
    import keras

    for path in paths:
        try:
            objects = cloudpickle.loads(Path(path).read_bytes())
        except Exception as error:
            raise ValueError(
                f"the custom objects that came with the model cannot be opened ({type(error).__name__}: {error})"
            ) from error
        if isinstance(objects, dict):
            keras.saving.get_custom_objects().update(objects)
