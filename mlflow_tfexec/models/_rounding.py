"""A few roundings more or less: what a model makes of them, its answers cannot be held to."""

from typing import Any

# A few distances to the next number of the dtype that the model computes in; 16-bit floats are coarse enough by one.
_CHANGES = {"float64": 8 * 2.0**-52, "float32": 8 * 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}


def few_roundings(dtype: str) -> float:
    """Return a few roundings of *dtype*, as a fraction."""
    return _CHANGES.get(dtype, _CHANGES["float32"])


def rounded_inputs(inputs: tuple[Any, ...], dtype: str, trial: int) -> tuple[Any, ...] | None:
    """Change each number of *inputs* by a few roundings, up or down. None: none of them can be changed so.

    Args:
        inputs: tensors or arrays, or structures of them.
        dtype: in which the model computes.
        trial: from 0; another one draws other signs.

    Returns:
        Tensors, in the same structure.
    """
    import numpy as np
    import tensorflow as tf

    if not any(_can_be_rounded(leaf) for leaf in tf.nest.flatten(inputs, expand_composites=True)):
        return None
    change, generator = few_roundings(dtype), np.random.default_rng(trial)

    def rounded(leaf: Any) -> Any:
        value = tf.convert_to_tensor(leaf)
        if not _can_be_rounded(value):
            return value
        signs = generator.choice(np.array([-1.0, 1.0]), value.shape)
        return value * tf.cast(1 + change * signs, value.dtype)

    changed: tuple[Any, ...] = tf.nest.map_structure(rounded, inputs, expand_composites=True)
    return changed


def _can_be_rounded(leaf: Any) -> bool:
    """Say whether *leaf* holds measured values. Whole numbers may be ids, though floats: another id is no rounding."""
    import numpy as np
    import tensorflow as tf

    value = tf.convert_to_tensor(leaf)
    if not value.dtype.is_floating:
        return False
    array = np.asarray(tf.cast(value, tf.float64))
    return bool((array != np.round(array)).any())
