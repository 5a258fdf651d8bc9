"""From text to the shape of one item: of one input, or of several by name."""

from typing import Any

from mlflow_tfexec.errors import RequestError

# Beyond this a number is a slip of the finger.
_MAX_DIMENSION = 1_000_000


def input_shapes(option: str, text: str) -> dict[str, Any]:
    """Read the shape of one item, such as `384x384x3`, or of several inputs, such as `ids=128;mask=128`.

    Returns:
        The fields of a spec that hold it.

    Raises:
        RequestError: it is no shape; the text names *option*.
    """
    if "=" not in text:
        return {"input_shape": _shape(option, text)}
    shapes: dict[str, tuple[int, ...]] = {}
    for part in text.split(";"):
        name, _, shape = (piece.strip() for piece in part.partition("="))
        if not name or name in shapes:
            raise RequestError(f"--{option} {text!r}: give each input once, as name=shape;name=shape.")
        shapes[name] = _shape(option, shape)
    return {"input_shapes": shapes}


def _shape(option: str, text: str) -> tuple[int, ...]:
    """Read `384,384,3` or `384x384x3`: the shape of one item, without the batch."""
    parts = text.strip().strip("()[]").lower().replace("x", ",").split(",")
    try:
        shape = tuple(int(part) for part in parts if part.strip())
    except ValueError:
        shape = ()
    if not shape:
        raise RequestError(
            f"--{option} {text!r} is not a shape. Give one item's, without the batch, such as 384,384,3."
        )
    for size in shape:
        if not 1 <= size <= _MAX_DIMENSION:
            raise RequestError(f"--{option} {text!r}: {size} is out of range. Give sizes from 1 to {_MAX_DIMENSION}.")
    return shape
