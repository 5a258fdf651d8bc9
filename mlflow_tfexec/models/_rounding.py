"""A few roundings more or less: what a model makes of them, its answers cannot be held to."""

import dataclasses
import functools
from typing import Any

from mlflow_tfexec.models._reference import LoadedModel

# A few distances to the next number of the dtype that the model computes in; 16-bit floats are coarse enough by one.
_CHANGES = {"float64": 8 * 2.0**-52, "float32": 8 * 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}


def few_roundings(dtype: str) -> float:
    """Return a few roundings of *dtype*, as a fraction."""
    return _CHANGES.get(dtype, _CHANGES["float32"])


def with_rounded_inputs(loaded: LoadedModel, dtype: str) -> LoadedModel:
    """Give a model that infers its first inputs changed by a few roundings, where any of them can be.

    Args:
        loaded: the model.
        dtype: in which it computes.
    """
    import tensorflow as tf

    inputs = loaded.inputs(0)
    if not any(_can_be_rounded(leaf) for leaf in tf.nest.flatten(inputs, expand_composites=True)):
        return loaded
    return dataclasses.replace(loaded, rounded_inputs=functools.partial(_rounded, inputs, few_roundings(dtype)))


def _rounded(inputs: tuple[Any, ...], change: float, trial: int) -> tuple[Any, ...]:
    """Change each number of *inputs* by *change*, up or down; another *trial* draws other signs. Gives tensors."""
    import numpy as np
    import tensorflow as tf

    generator = np.random.default_rng(trial)

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
