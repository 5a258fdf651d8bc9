"""A Python function that returns a model: `path/to/file.py:function` or `package.module:function`."""

from mlflow_tfexec.models._imports import import_named, split_reference
from mlflow_tfexec.models._keras_model import prepare_keras_model
from mlflow_tfexec.models._reference import LoadedModel, ReferenceKind
from mlflow_tfexec.models._tensorflow_model import prepare_tensorflow_model
from mlflow_tfexec.records.spec import Spec


def recognise(reference: str) -> str | None:
    """Take anything of the form `where:function`, as it was given; `where` is a file that ends in .py, or a module."""
    return None if split_reference(reference) is None else reference


def load(spec: Spec) -> LoadedModel:
    """Import the function, call it without arguments, and take what it returns.

    That is a Keras model, a `tf.Module`, a `tf.function`, a restored SavedModel, or any callable.
    """
    import keras

    where, _, function = spec.model.rpartition(":")
    keras.mixed_precision.set_dtype_policy(spec.dtype)
    keras.utils.set_random_seed(spec.seed)
    factory = import_named(where, function)
    if not callable(factory):
        raise ValueError(f"{where!r} has no function {function!r}")  # noqa: TRY004 - wrong request, not a wrong type
    model = factory()
    if isinstance(model, keras.Model):
        return prepare_keras_model(model, spec)
    return prepare_tensorflow_model(model, spec)


KIND = ReferenceKind(
    title="path/to/file.py:function or package.module:function",
    position=1,
    recognise=recognise,
    load=load,
    heeds=frozenset({"dtype"}),
)
