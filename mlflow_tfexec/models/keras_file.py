"""A `.keras` file, as `model.save` of Keras 3 writes it.

Source: https://keras.io/guides/serialization_and_saving/
"""

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.models._files import check_archive, is_directory, is_file
from mlflow_tfexec.models._reference import ReferenceKind
from mlflow_tfexec.models._saved_keras import load_saved_keras

_SUFFIX = ".keras"


def recognise(reference: str) -> str | None:
    """Take a path that ends in .keras, as it was given."""
    if not reference.lower().endswith(_SUFFIX) or is_directory(reference):
        return None
    if not is_file(reference):
        raise RequestError(f"No file {reference!r}. Give the path of an existing .keras file.")
    if not reference.endswith(_SUFFIX):
        raise RequestError(f"Keras loads {reference!r} only if its name ends in .keras, in small letters. Rename it.")
    check_archive(reference)
    return reference


KIND = ReferenceKind(
    title="a .keras file",
    position=2,
    recognise=recognise,
    load=load_saved_keras,
    heeds=frozenset({"custom_objects", "safe_mode"}),
)
