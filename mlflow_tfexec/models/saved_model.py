"""A SavedModel directory, as `tf.saved_model.save` and Keras's `model.export` write it.

Source: https://www.tensorflow.org/guide/saved_model
"""

import os.path

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.models._files import is_directory, is_file
from mlflow_tfexec.models._reference import LoadedModel, ReferenceKind
from mlflow_tfexec.models._tensorflow_model import prepare_restored
from mlflow_tfexec.records.spec import Spec

_PROGRAM = "saved_model.pb"


def recognise(reference: str) -> str | None:
    """Take a directory with a saved_model.pb in it, as it was given."""
    if os.path.basename(reference) == _PROGRAM and is_file(reference):  # noqa: PTH119 - a text, as it was given
        raise RequestError(f"{reference!r} is a part of a SavedModel. Give the directory that it lies in.")
    program = os.path.join(reference, _PROGRAM)  # noqa: PTH118 - as above
    if not reference or not is_directory(reference) or not is_file(program):
        return None
    if os.path.getsize(program) == 0:  # noqa: PTH202 - as above
        raise RequestError(f"{program!r} is empty: the SavedModel was not copied whole.")
    return reference


def load(spec: Spec) -> LoadedModel:
    """Restore the graph, and take one of its endpoints."""
    import tensorflow as tf

    return prepare_restored(tf.saved_model.load(spec.model), spec)


KIND = ReferenceKind(
    title="a SavedModel directory",
    position=4,
    recognise=recognise,
    load=load,
    heeds=frozenset({"endpoint"}),
)
