"""What made-up inputs hold: numbers and words that a model of this kind can be shown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

WORDS = ("the", "model", "was", "slow", "on", "monday", "and", "fast", "again", "today")
"""Where a model takes text and has no vocabulary of its own."""

_WORDS_PER_TEXT = 8

# Pixels as files hold them. Models that scale pixels themselves would see a constant in [0, 1), and their outputs
# would hardly depend on what they compute.
_IMAGE_RANGE = 255
IMAGE_RANK = 4
IMAGE_CHANNELS = (1, 3, 4)

Draw = Callable[["np.random.Generator", tuple[int, ...]], Any]


@dataclass(frozen=True)
class Values:
    """A way to draw an input's values."""

    says: str
    """What they are, for the reader of a report."""
    draw: Draw
    """Generator and shape → an array of NumPy's own type for it; the caller casts it to the input's dtype."""


def below(limit: int, what: str) -> Values:
    """Give whole numbers from 0 to *limit* - 1; *what* names them in the plural."""
    return Values(f"{what} below {limit}", lambda generator, shape: generator.integers(0, max(1, limit), shape))


def one_of(choices: Sequence[Any], says: str) -> Values:
    """Give items of *choices*."""
    import numpy as np

    pool = np.array(_encoded(choices), dtype=object if isinstance(choices[0], str | bytes) else None)
    return Values(says, lambda generator, shape: pool[generator.integers(0, len(pool), shape)])


def texts(words: Sequence[str], says: str) -> Values:
    """Give texts of a few of *words* each."""
    import numpy as np

    pool = np.array(_encoded(words), dtype=object)

    def draw(generator: "np.random.Generator", shape: tuple[int, ...]) -> Any:
        rows = pool[generator.integers(0, len(pool), (*shape, _WORDS_PER_TEXT))].reshape(-1, _WORDS_PER_TEXT)
        made = np.empty(len(rows), dtype=object)
        made[:] = [b" ".join(row) for row in rows]
        return made.reshape(shape)

    return Values(says, draw)


def is_image(shape: Sequence[Any]) -> bool:
    """Say whether this shape is taken for images: batch, height, width, and 1, 3 or 4 channels."""
    return len(shape) == IMAGE_RANK and shape[-1] in IMAGE_CHANNELS


def usual_values(dtype: str, shape: Sequence[Any]) -> Values | None:
    """Choose by dtype and shape alone: images in [0, 255), other floats in [0, 1), whole numbers 0 or 1.

    None: nothing can be made up for this dtype.
    """
    kinds: tuple[tuple[bool, Callable[[], Values]], ...] = (
        (dtype.startswith(("float", "bfloat")), lambda: _uniform(_IMAGE_RANGE if is_image(shape) else 1)),
        (dtype.startswith("complex"), lambda: Values("real and imaginary part uniform in [0, 1)", _complex)),
        (dtype == "string", lambda: one_of(WORDS, f"words of a list of {len(WORDS)}")),
        (dtype == "uint8" and is_image(shape), lambda: below(_IMAGE_RANGE + 1, "whole numbers")),
        (dtype == "bool", lambda: Values("true or false", _zero_or_one)),
        (dtype.startswith(("int", "uint")), lambda: Values("0 or 1", _zero_or_one)),
    )
    return next((make() for holds, make in kinds if holds), None)


def _uniform(upper: int) -> Values:
    import numpy as np

    return Values(
        f"uniform in [0, {upper})",
        lambda generator, shape: generator.random(shape, dtype=np.float32) * np.float32(upper),
    )


def _zero_or_one(generator: "np.random.Generator", shape: tuple[int, ...]) -> Any:
    return generator.integers(0, 2, shape)


def _complex(generator: "np.random.Generator", shape: tuple[int, ...]) -> Any:
    return generator.random(shape) + 1j * generator.random(shape)


def _encoded(choices: Sequence[Any]) -> list[Any]:
    """Give text as TensorFlow holds it, in bytes; numbers stay numbers."""
    return [choice.encode() if isinstance(choice, str) else choice for choice in choices]
