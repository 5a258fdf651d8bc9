"""What the A/A control allows to be claimed."""

import dataclasses
import math
from collections.abc import Iterable

from mlflow_tfexec.records.judgement import Comparison

# A difference that the control shows between a mode and itself may point either way in any other pair.
_TIMES_FLOOR = 2


def noise_floor(control: Comparison | None) -> float | None:
    """Return the log ratio by which a mode was found to differ from itself. None: it was not."""
    if control is None or control.verdict not in {"slower", "faster"}:
        return None
    return abs(math.log(control.ratio))


def smallest_claim(control: Comparison | None) -> float | None:
    """Return the smallest difference, as a fraction, that an unstable session may claim. None: it is not unstable."""
    floor = noise_floor(control)
    return None if floor is None else math.expm1(_TIMES_FLOOR * floor)


def withhold(comparisons: Iterable[Comparison], control: Comparison | None, *, margin: float) -> tuple[Comparison, ...]:
    """Take back every verdict that the noise of the session may have made.

    Where the control differs from the mode that it repeats, something moved processes of one mode apart, and no
    interval knows of it. Then `slower` and `faster` need a ratio beyond twice that difference, and `equivalent` a
    margin of at least twice that difference. What is taken back is `undecided`, and more launches are not foreseen to
    mend it.
    """
    floor = noise_floor(control)
    if floor is None:
        return tuple(comparisons)
    limit = _TIMES_FLOOR * floor
    return tuple(
        dataclasses.replace(comparison, verdict="undecided", launches_needed=None)
        if _is_within(comparison, limit, margin=margin)
        else comparison
        for comparison in comparisons
    )


def _is_within(comparison: Comparison, limit: float, *, margin: float) -> bool:
    if comparison.verdict == "equivalent":
        return math.log(1 + margin) < limit
    return abs(math.log(comparison.ratio)) < limit
