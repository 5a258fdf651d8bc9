"""Given arrays held against what a model takes: same structure or names, fitting shapes, types without loss."""

from collections.abc import Mapping, Sequence
from typing import Any

from mlflow_tfexec.models._dimensions import Leaf
from mlflow_tfexec.models._inputs import TensorFacts, leaves

# Names that Keras makes up; nobody can be asked to know them.
_MADE_UP_NAMES = ("keras_tensor", "input_layer", "input_")


def fit(given: Any, inputs: Sequence[Leaf]) -> list[Any]:
    """Give the arrays of one set in the order of *inputs*, each in the dtype that the model takes.

    A dictionary goes by names, a list, a tuple or a single array by places, anything nested by its paths.

    Raises:
        ValueError: names, number, rank, shape or dtype do not fit; the text says what the model takes.
    """
    arrays = [
        _as_dtype(_array(found, leaf), leaf) for leaf, found in zip(inputs, _arranged(given, inputs), strict=True)
    ]
    for leaf, array in zip(inputs, arrays, strict=True):
        _check_shape(leaf, array)
    batches = {a.shape[0] for leaf, a in zip(inputs, arrays, strict=True) if leaf.facts.shape[:1] == (None,)}
    if len(batches) > 1:
        raise ValueError(f"--inputs: the batches differ: {told(inputs, arrays)}.")
    return arrays


def told(inputs: Sequence[Leaf], arrays: Sequence[Any]) -> str:
    """List arrays with their names, shapes and types."""
    return ", ".join(f"{leaf.title!r} {a.shape} {_dtype(a)}" for leaf, a in zip(inputs, arrays, strict=True))


def not_finite(array: Any) -> int:
    """Count the values that are NaN or infinite."""
    import numpy as np

    return int(np.size(array) - np.isfinite(array).sum()) if array.dtype.kind in "fc" else 0


def _arranged(given: Any, inputs: Sequence[Leaf]) -> list[Any]:
    found = leaves(given)
    is_flat = all(len(path) == 1 for path, _ in found)
    if isinstance(given, Mapping) and is_flat:
        return _by_name(given, inputs)
    if len(inputs) == len(found) and (is_flat or not isinstance(given, Mapping | list | tuple)):
        return [leaf for _, leaf in found]
    by_path = dict(found)
    if set(by_path) == {leaf.path for leaf in inputs}:
        return [by_path[leaf.path] for leaf in inputs]
    raise ValueError(f"--inputs gives {len(found)} array(s), and the model takes {_wanted(inputs)}.")


def _by_name(given: Mapping[Any, Any], inputs: Sequence[Leaf]) -> list[Any]:
    left = dict(given)
    arranged = []
    for leaf in inputs:
        names = [name for name in left if str(name) in leaf.names]
        if not names and len(inputs) == len(left) == 1 and leaf.title.startswith(_MADE_UP_NAMES):
            names = list(left)
        if not names:
            break
        arranged.append(left.pop(names[0]))
    if left or len(arranged) < len(inputs):
        names_given = ", ".join(repr(str(name)) for name in given)
        raise ValueError(f"--inputs gives {names_given}, and the model takes {_wanted(inputs)}.")
    return arranged


def _wanted(inputs: Sequence[Leaf]) -> str:
    return ", ".join(f"{leaf.title!r} {leaf.facts.shape} {leaf.facts.dtype}" for leaf in inputs)


def _array(found: Any, leaf: Leaf) -> Any:
    import numpy as np

    value = np.asarray(found)
    if value.dtype.kind == "U":
        value = np.char.encode(value, "utf-8").astype(object)
    elif value.dtype.kind == "S":
        value = value.astype(object)
    if value.dtype == object and not all(isinstance(item, bytes | str) for item in value.reshape(-1)):
        kind = type(found).__name__
        raise ValueError(f"--inputs: {leaf.title!r} is of Python objects ({kind}), and an array is wanted.")
    if value.size == 0:
        raise ValueError(f"--inputs: {leaf.title!r} is empty: its shape is {value.shape}.")
    return value


def _check_shape(leaf: Leaf, array: Any) -> None:
    wanted = leaf.facts.shape
    if len(wanted) == array.ndim and all(a in {None, b} for a, b in zip(wanted, array.shape, strict=True)):
        return
    advice = " The batch comes first: add it." if array.ndim == len(wanted) - 1 else ""
    raise ValueError(f"--inputs: {leaf.title!r} has shape {array.shape}, and the model takes {wanted}.{advice}")


def _as_dtype(array: Any, leaf: Leaf) -> Any:
    """Cast without loss; between floats, to the nearest that is finite."""
    import numpy as np
    import tensorflow as tf

    wanted = tf.dtypes.as_dtype(leaf.facts.dtype).as_numpy_dtype
    if array.dtype == wanted:
        return array
    refusal = f"--inputs: {leaf.title!r} is of dtype {_dtype(array)}, and the model takes {leaf.facts.dtype}."
    if array.dtype == object or wanted is object or (array.dtype.kind == "c" and np.dtype(wanted).kind != "c"):
        raise ValueError(refusal)
    with np.errstate(over="ignore", invalid="ignore"):
        cast = array.astype(wanted)
        if _is_floating(array) and _is_floating(cast):
            kept = not_finite(cast.astype(np.float64)) == not_finite(array.astype(np.float64))
        else:
            kept = bool(np.array_equal(cast.astype(array.dtype), array))
    if not kept:
        raise ValueError(f"{refusal} Its values cannot be kept in that.")
    return cast


def _is_floating(array: Any) -> bool:
    # bfloat16 is of kind V to NumPy.
    return array.dtype.kind == "f" or "float" in array.dtype.name


def _dtype(array: Any) -> str:
    return "string" if array.dtype == object else str(array.dtype)


def as_given(found: Any, name: str | None, path: Any) -> Leaf:
    """Describe an array that a model takes as it is, because it says nothing of its inputs."""
    placeholder = Leaf(path, TensorFacts(name=name, shape=(), dtype="float32"))
    value = _array(found, placeholder)
    return Leaf(path, TensorFacts(name=name, shape=tuple(value.shape), dtype=_dtype(value)))
