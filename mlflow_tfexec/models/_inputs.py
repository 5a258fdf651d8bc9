"""Inputs as arrays of the host: made up from shape, dtype and values, and taken to the device."""

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlflow_tfexec.models._values import Values, usual_values
from mlflow_tfexec.units import memory

# Activations need many times the memory of the input; an input that takes this share of it leaves no room for them.
_MAX_SHARE_OF_MEMORY = 0.5

_ITEM_BYTES = {"float64": 8, "int64": 8, "uint64": 8, "float16": 2, "bfloat16": 2, "int16": 2, "uint16": 2}
_ITEM_BYTES |= {"int8": 1, "uint8": 1, "bool": 1, "complex64": 8, "complex128": 16, "string": 64}

Path = tuple[str | int, ...]
"""Keys and places that lead to one array in a structure of dictionaries, lists and tuples."""


@dataclass(frozen=True)
class TensorFacts:
    """One input as the model describes it; None in a shape is an open dimension."""

    name: str | None
    shape: tuple[Any, ...]
    dtype: str
    values: Values | None = None
    """What it can take. None: what is usual for its dtype and shape."""


def map_leaves(function: Callable[[Path, Any], Any], structure: Any, path: Path = ()) -> Any:
    """Give *structure* with each leaf replaced by what *function* makes of its path and itself.

    Dictionaries, lists, tuples and named tuples are structure; everything else is a leaf, and so is None.
    """
    if isinstance(structure, Mapping):
        return {key: map_leaves(function, value, (*path, key)) for key, value in structure.items()}
    if isinstance(structure, list | tuple):
        values = [map_leaves(function, value, (*path, place)) for place, value in enumerate(structure)]
        if hasattr(structure, "_fields"):
            return type(structure)(*values)
        return tuple(values) if isinstance(structure, tuple) else values
    return function(path, structure)


def leaves(structure: Any) -> list[tuple[Path, Any]]:
    """List the leaves of *structure* with their paths, in its own order."""
    found: list[tuple[Path, Any]] = []
    map_leaves(lambda path, leaf: found.append((path, leaf)), structure)
    return found


def make_array(facts: TensorFacts, *, seed: Sequence[int]) -> Any:
    """Make up a NumPy array; text is an array of bytes objects.

    Args:
        facts: shape without open dimensions, dtype, values.
        seed: the same numbers give the same array.

    Raises:
        ValueError: the array cannot fit in memory, or nothing can be made up for its dtype.
    """
    import numpy as np
    import tensorflow as tf

    values = values_of(facts)
    check_size(facts.shape, facts.dtype)
    drawn = values.draw(np.random.default_rng(seed), facts.shape)
    return np.asarray(drawn).astype(tf.dtypes.as_dtype(facts.dtype).as_numpy_dtype)


def values_of(facts: TensorFacts) -> Values:
    """Say what is made up for an input. Raises ValueError: nothing can be, for its dtype."""
    values = facts.values or usual_values(facts.dtype, facts.shape)
    if values is None:
        raise ValueError(
            f"input {facts.name!r} is of dtype {facts.dtype}, for which no input can be made up; give --inputs"
        )
    return values


def to_device(structure: Any) -> Any:
    """Copy every array of *structure* to the default device."""
    import tensorflow as tf

    # Through an operation, so that the tensor lives on the device and no call pays for a transfer.
    return map_leaves(lambda _, leaf: leaf if leaf is None else tf.identity(tf.convert_to_tensor(leaf)), structure)


def hash_inputs(sets: Iterable[Any]) -> str:
    """Hash structures of arrays: paths, dtypes, shapes and bytes, in order."""
    import numpy as np

    digest = hashlib.sha256()
    for number, one_set in enumerate(sets):
        for path, leaf in leaves(one_set):
            value = np.asarray(leaf)
            digest.update(f"{number}{path}{value.dtype}{value.shape}".encode())
            if value.dtype == object:
                for item in value.reshape(-1):
                    data = item if isinstance(item, bytes) else str(item).encode()
                    digest.update(f"{len(data)}:".encode() + data)
            else:
                # As bytes without a copy: bfloat16 has no buffer of its own.
                digest.update(np.ascontiguousarray(value).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def check_size(shape: Sequence[int], dtype: str) -> None:
    """Refuse an input that leaves no memory for the model. Raises ValueError."""
    import psutil

    needed = math.prod(shape) * _ITEM_BYTES.get(dtype, 4)
    available = psutil.virtual_memory().available
    if needed > available * _MAX_SHARE_OF_MEMORY:
        raise ValueError(
            f"an input of shape {tuple(shape)} takes {memory(needed / 2**20)}, and this machine has "
            f"{memory(available / 2**20)} free; give a smaller --batch-size or --input-shape"
        )
