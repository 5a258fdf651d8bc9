"""From the shape that a model describes to the one it is shown: the batch, what was asked for, stated defaults."""

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

from mlflow_tfexec.models._inputs import Path, TensorFacts
from mlflow_tfexec.models._values import IMAGE_CHANNELS
from mlflow_tfexec.records.findings import Finding
from mlflow_tfexec.records.spec import Spec

DEFAULT_DIMENSIONS = "default_dimensions"
"""Code of the finding that dimensions were filled by the following."""

DEFAULT_LENGTH = 128
"""Of a sequence, in tokens or steps; of anything that is not said otherwise."""
DEFAULT_SIDE = 224
"""Height and width of an image, in pixels."""
DEFAULT_DEPTH = 16
"""Frames of a video, and every side of a volume."""
DEFAULT_CHANNELS = 3

_IMAGE_RANK, _VIDEO_RANK = 3, 4


class Leaf(NamedTuple):
    """One input: where it stands in the structure, and what is known of it."""

    path: Path
    facts: TensorFacts

    @property
    def names(self) -> frozenset[str]:
        """What it may be called: its tensor's name, and its key in a dictionary."""
        key = self.path[-1] if self.path else None
        return frozenset(str(name) for name in (self.facts.name, key) if isinstance(name, str))

    @property
    def title(self) -> str:
        """What to call it in a message."""
        key = self.path[-1] if self.path else None
        return str(key) if isinstance(key, str) else self.facts.name or "/".join(map(str, self.path)) or "0"


def fill(inputs: Sequence[Leaf], spec: Spec) -> tuple[list[Leaf], tuple[Finding, ...]]:
    """Fill the batch and the open dimensions of every input.

    Returns:
        The inputs with whole shapes, and a finding where dimensions were filled by our own defaults.

    Raises:
        ValueError: what was asked for does not fit the model.
    """
    asked = _asked_shapes(inputs, spec)
    filled, defaults = [], []
    for leaf, shape in zip(inputs, asked, strict=True):
        own = leaf.facts.shape
        if not own:
            filled.append(leaf)
            continue
        item = own[1:] if shape is None else _fitting(leaf, shape)
        if None in item:
            whole = default_item(item, leaf.facts.dtype)
            defaults.append(f"{leaf.title} {_text(item)} as {_text(whole)}")
            item = whole
        facts = dataclasses.replace(leaf.facts, shape=(_batch(own[0], spec), *item))
        filled.append(Leaf(leaf.path, facts))
    return filled, (_default_dimensions(defaults),) if defaults else ()


def default_item(item: Sequence[Any], dtype: str) -> tuple[int, ...]:
    """Fill the open dimensions of one item's shape by what is usual for such a shape.

    >>> default_item((None,), "int32"), default_item((None, None, 3), "float32"), default_item((None, 40), "float32")
    ((128,), (224, 224, 3), (128, 40))
    """
    if dtype == "string":
        defaults = [1] * len(item)
    elif len(item) == _IMAGE_RANK and item[0] in IMAGE_CHANNELS and item[2] not in IMAGE_CHANNELS:
        defaults = [DEFAULT_CHANNELS, DEFAULT_SIDE, DEFAULT_SIDE]
    elif len(item) == _IMAGE_RANK and item[2] in {None, *IMAGE_CHANNELS}:
        defaults = [DEFAULT_SIDE, DEFAULT_SIDE, DEFAULT_CHANNELS]
    elif len(item) == _VIDEO_RANK:
        defaults = [DEFAULT_DEPTH, DEFAULT_DEPTH, DEFAULT_DEPTH, DEFAULT_CHANNELS]
    else:
        defaults = [DEFAULT_LENGTH] * len(item)
    return tuple(default if own is None else int(own) for own, default in zip(item, defaults, strict=True))


def _asked_shapes(inputs: Sequence[Leaf], spec: Spec) -> list[tuple[int, ...] | None]:
    """Give each input the shape that was asked for it. None: none was."""
    by_name = dict(spec.input_shapes)
    asked = []
    for place, leaf in enumerate(inputs):
        said = [name for name in (*sorted(leaf.names), str(place)) if name in by_name]
        asked.append(by_name.pop(said[0]) if said else spec.input_shape)
    if by_name:
        titles = ", ".join(repr(leaf.title) for leaf in inputs)
        raise ValueError(f"--input-shape names {next(iter(by_name))!r}, and the model's inputs are {titles}")
    return asked


def _fitting(leaf: Leaf, asked: Sequence[int]) -> tuple[int, ...]:
    own = leaf.facts.shape[1:]
    if len(own) != len(asked) or any(a not in {None, b} for a, b in zip(own, asked, strict=True)):
        raise ValueError(
            f"input shape {_text(asked)} does not fit the model's input, which takes {_text(own)}: {leaf.title!r}; "
            "shapes of several inputs are given as name=shape;name=shape"
        )
    return tuple(asked)


def _batch(own: int | None, spec: Spec) -> int:
    """Choose the batch: a model that is built for one has it, unless another one was asked for."""
    if own is None or own == spec.batch_size:
        return spec.batch_size
    if spec.batch_asked:
        raise ValueError(f"batch size {spec.batch_size} does not fit the model, which is built for {own}")
    return int(own)


def _default_dimensions(filled: Sequence[str]) -> Finding:
    return Finding(
        code=DEFAULT_DIMENSIONS,
        what=f"The model leaves dimensions of its input open; they were filled: {', '.join(filled)}.",
        why="Times and orderings depend on them.",
        what_to_try="Give the size that you use with --input-shape.",
    )


def _text(shape: Sequence[Any]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
