"""Input tensors made up from their shape and dtype."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mlflow_tfexec.units import memory

# Activations need many times the memory of the input; an input that takes this share of it leaves no room for them.
_MAX_SHARE_OF_MEMORY = 0.5

# Pixels as files hold them. Models that scale pixels themselves would see a constant in [0, 1), and their outputs
# would hardly depend on what they compute.
_IMAGE_RANGE = 255
_IMAGE_RANK = 4
_IMAGE_CHANNELS = (1, 3, 4)

_ITEM_BYTES = {"float64": 8, "int64": 8, "uint64": 8, "float16": 2, "bfloat16": 2, "int16": 2, "uint16": 2}
_ITEM_BYTES |= {"int8": 1, "uint8": 1, "bool": 1}


@dataclass(frozen=True)
class TensorFacts:
    """One input as the model describes it; None in a shape is an open dimension."""

    name: str | None
    shape: tuple[Any, ...]
    dtype: str


def make_tensor(facts: TensorFacts, *, seed: Sequence[int]) -> Any:
    """Make a tensor on the default device: images uniform in [0, 255), other floats in [0, 1), integers 0 or 1.

    Args:
        facts: shape without open dimensions, and dtype.
        seed: the same numbers give the same values.

    Raises:
        ValueError: the tensor cannot fit in memory, or its dtype has no numbers.
    """
    import numpy as np
    import tensorflow as tf

    _check_size(facts)
    generator = np.random.default_rng(seed)
    dtype = tf.dtypes.as_dtype(facts.dtype)
    if dtype.is_floating:
        value: Any = generator.random(facts.shape, dtype=np.float32) * np.float32(
            _IMAGE_RANGE if _is_image(facts) else 1
        )
    elif dtype.is_integer or dtype.is_bool:
        value = generator.integers(0, 2, facts.shape)
    else:
        raise ValueError(f"input {facts.name!r} is of dtype {facts.dtype}, for which no input can be made up")
    # Through an operation, so that the tensor lives on the device and no call pays for a transfer.
    return tf.identity(tf.cast(tf.convert_to_tensor(value), dtype))


def _is_image(facts: TensorFacts) -> bool:
    return len(facts.shape) == _IMAGE_RANK and facts.shape[-1] in _IMAGE_CHANNELS


def _check_size(facts: TensorFacts) -> None:
    import psutil

    needed = math.prod(facts.shape) * _ITEM_BYTES.get(facts.dtype, 4)
    available = psutil.virtual_memory().available
    if needed > available * _MAX_SHARE_OF_MEMORY:
        raise ValueError(
            f"an input of shape {facts.shape} takes {memory(needed / 2**20)}, and this machine has "
            f"{memory(available / 2**20)} free; give a smaller --batch-size or --input-shape"
        )
