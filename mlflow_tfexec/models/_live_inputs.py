"""Arrays that the calling program gives as inputs, on their way to the workers."""

import pickle
from pathlib import Path
from typing import Any

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.models._inputs import map_leaves
from mlflow_tfexec.models._private_files import make_private, write_private

# `--inputs` never opens a pickle: it refuses a file of this name before a worker starts.
_FILE = "live-inputs.pickle"


def arrays_of(inputs: Any) -> Any:
    """Give *inputs* as a structure of NumPy arrays: tensors and numbers are taken over.

    Raises:
        RequestError: a leaf is no array of numbers, truth values or text, or there is none.
    """
    import numpy as np

    found = 0

    def array(path: Any, leaf: Any) -> Any:
        nonlocal found
        place = f"inputs{''.join(f'[{part!r}]' for part in path)}"
        found += 1
        try:
            value = np.asarray(leaf.numpy() if hasattr(leaf, "numpy") else leaf)
        except Exception as error:  # noqa: BLE001 - whatever a foreign type raises
            raise RequestError(
                f"{place} is a {type(leaf).__name__}, which is no array ({error}). Give arrays."
            ) from None
        if value.dtype.kind == "O" and not all(isinstance(item, bytes | str) for item in value.reshape(-1)):
            raise RequestError(
                f"{place} is a {type(leaf).__name__}, which is no array of numbers or text. Give arrays."
            )
        if value.size == 0:
            raise RequestError(f"{place} is empty: its shape is {value.shape}. Give at least one item.")
        return value

    arrays = map_leaves(array, inputs)
    if not found:
        raise RequestError("inputs holds no array. Give one, in the structure that the model takes.")
    return arrays


def pack_inputs(inputs: Any, directory: Path) -> str:
    """Write the arrays of one set of inputs into *directory*; give the path of the file."""
    make_private(directory)
    path = directory / _FILE
    write_private(path, pickle.dumps(inputs, protocol=pickle.HIGHEST_PROTOCOL))
    return str(path)


def load_live_inputs(path: str) -> Any:
    """Read the one set of inputs that the calling program gave: a structure of arrays."""
    return pickle.loads(Path(path).read_bytes())  # noqa: S301 - the calling program's own


def is_live_inputs(path: str) -> bool:
    """Say whether *path* is the file that a calling program wrote its inputs to."""
    return Path(path).name == _FILE
