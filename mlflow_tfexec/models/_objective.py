"""What `train` minimises: a loss, and targets made up for it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

DEFAULT_LOSS = "mean_squared_error"
DEFAULT_LOSS_OF_PROBABILITIES = "categorical_crossentropy"

_CLASS_NUMBERS = frozenset({"sparse_categorical_crossentropy"})
_ONE_HOT = frozenset({"categorical_crossentropy", "categorical_focal_crossentropy", "kl_divergence"})
_ZERO_OR_ONE = frozenset({"binary_crossentropy", "binary_focal_crossentropy", "hinge", "squared_hinge", "dice"})

Loss = Callable[[Any, Any], Any]
"""Targets, predictions → loss per item."""


@dataclass(frozen=True)
class Objective:
    """A loss, and how to make targets that fit it."""

    name: str
    is_default: bool
    loss: Loss
    targets: str
    """What they are, in words."""
    make_targets: Callable[[Sequence[int]], list[Any]]
    """Seed → one tensor of targets for each output of floats, on the device."""


def choose_objective(model: Any, outputs: Sequence[Any], wanted: str | None) -> Objective:
    """Take the loss that is asked for, else the one that the model was compiled with, else a default.

    The default is categorical cross-entropy where the last layer is a softmax, and the mean squared error otherwise.

    Args:
        model: whatever is trained.
        outputs: its outputs of floats, as examples.
        wanted: Keras's name of a loss, or None.

    Raises:
        ValueError: Keras has no loss of this name, or it is not one of two arguments.
    """
    compiled = _compiled_loss(model)
    default = DEFAULT_LOSS_OF_PROBABILITIES if _ends_in(model, "softmax") and len(outputs) == 1 else DEFAULT_LOSS
    chosen = wanted or compiled or default
    name = _name(chosen)
    shapes = [tuple(output.shape) for output in outputs]
    kind = _kind_of_targets(name)
    return Objective(
        name=name,
        is_default=not (wanted or compiled),
        loss=_loss(chosen, model),
        targets=_TARGETS[kind].format(classes=", ".join(str(shape[-1]) for shape in shapes if shape)),
        make_targets=lambda seed: [
            _target(kind, shape, output.dtype, (*seed, place))
            for place, (shape, output) in enumerate(zip(shapes, outputs, strict=True))
        ],
    )


_TARGETS = {
    "numbers": "one class of {classes} per item, as its number",
    "one_hot": "one class of {classes} per item, one-hot",
    "zero_or_one": "0 or 1",
    "uniform": "uniform in [0, 1)",
}


def _kind_of_targets(name: str) -> str:
    for kind, names in (("numbers", _CLASS_NUMBERS), ("one_hot", _ONE_HOT), ("zero_or_one", _ZERO_OR_ONE)):
        if name in names:
            return kind
    return "uniform"


def _target(kind: str, shape: tuple[int, ...], dtype: Any, seed: Sequence[int]) -> Any:
    import numpy as np
    import tensorflow as tf

    generator = np.random.default_rng(seed)
    if kind in {"numbers", "one_hot"}:
        numbers = generator.integers(0, shape[-1], shape[:-1])
        value: Any = numbers if kind == "numbers" else np.eye(shape[-1], dtype=np.float32)[numbers]
    elif kind == "zero_or_one":
        value = generator.integers(0, 2, shape).astype(np.float32)
    else:
        value = generator.random(shape, dtype=np.float32)
    # Through an operation, so that the tensor lives on the device.
    return tf.identity(tf.cast(tf.convert_to_tensor(value), tf.int32 if kind == "numbers" else dtype))


def _loss(chosen: Any, model: Any) -> Loss:
    """Find Keras's function of a name, and tell it whether the model gives probabilities or logits."""
    import inspect

    import keras

    try:
        found = keras.losses.get(chosen)
    except ValueError:
        found = None
    if not callable(found):
        raise ValueError(f"no loss {chosen!r}; give a Keras name such as {DEFAULT_LOSS}")  # noqa: TRY004 - a wrong request
    function: Loss = found
    if not isinstance(found, keras.losses.Loss) and "from_logits" in inspect.signature(found).parameters:
        # By its name a loss takes probabilities; of logits it would take the logarithm all the same.
        logits = not (_ends_in(model, "softmax") or _ends_in(model, "sigmoid"))
        return lambda targets, predictions: found(targets, predictions, from_logits=logits)
    return function


def _compiled_loss(model: Any) -> Any | None:
    """Return the one loss that a model was compiled with. None: it was not, or has one for each output."""
    loss = getattr(model, "loss", None) if getattr(model, "compiled", False) else None
    return loss if isinstance(loss, str) or callable(loss) else None


def _name(loss: Any) -> str:
    if isinstance(loss, str):
        return loss.strip()
    return str(getattr(loss, "name", None) or getattr(loss, "__name__", None) or type(loss).__name__)


def _ends_in(model: Any, activation: str) -> bool:
    layers = getattr(model, "layers", None)
    last = layers[-1] if layers else None
    return getattr(getattr(last, "activation", None), "__name__", None) == activation
