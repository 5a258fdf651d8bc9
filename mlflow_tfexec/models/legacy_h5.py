"""A whole model in an HDF5 file, as Keras 2 wrote it and Keras 3 still can."""

import json
from collections.abc import Iterator
from typing import Any

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.models._files import check_hdf5, is_directory, is_file
from mlflow_tfexec.models._reference import LoadedModel, ReferenceKind
from mlflow_tfexec.models._saved_keras import UNSAFE, load_saved_keras
from mlflow_tfexec.records.spec import Spec

_SUFFIXES = (".h5", ".hdf5")
_WEIGHTS_ONLY = (
    "it holds weights only, and no model. Give the whole model (model.save), or path/to/file.py:function that builds "
    "it and loads them"
)


def recognise(reference: str) -> str | None:
    """Take a path that ends in .h5 or .hdf5, as it was given."""
    if not reference.lower().endswith(_SUFFIXES) or is_directory(reference):
        return None
    if not is_file(reference):
        raise RequestError(f"No file {reference!r}. Give the path of an existing .h5 file.")
    if not reference.endswith(_SUFFIXES):
        raise RequestError(f"Keras loads {reference!r} only if its name ends in .h5, in small letters. Rename it.")
    if reference.endswith(".weights.h5"):
        raise RequestError(f"{reference!r} is no model: {_WEIGHTS_ONLY}.")
    check_hdf5(reference)
    return reference


def load(spec: Spec) -> LoadedModel:
    """Load the model, if there is one.

    In safe mode a file with Python code is refused here: some releases of Keras 3 ran it all the same (CVE-2025-9905).
    """
    import h5py

    with h5py.File(spec.model, "r") as file:
        text = file.attrs.get("model_config")
    if text is None:
        raise ValueError(_WEIGHTS_ONLY)
    if spec.safe_mode and any(_is_python_code(layer) for layer in _dictionaries(_parsed(text))):
        raise ValueError(UNSAFE)
    return load_saved_keras(spec)


def _parsed(text: Any) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("its description of the model is nested too deeply") from None


def _dictionaries(tree: Any) -> Iterator[dict[str, Any]]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


def _is_python_code(layer: dict[str, Any]) -> bool:
    """Say whether a layer carries the code of a Python function, and not only a function's name."""
    if layer.get("class_name") == "__lambda__":
        return True
    # Keras 2 kept code in lists, and said so beside them: function_type, output_shape_type, mask_type.
    kinds = (value for key, value in layer.items() if key.endswith("_type"))
    return isinstance(layer.get("function"), list) or "lambda" in kinds


KIND = ReferenceKind(
    title="a legacy .h5 file",
    position=3,
    recognise=recognise,
    load=load,
    heeds=frozenset({"custom_objects", "safe_mode"}),
)
