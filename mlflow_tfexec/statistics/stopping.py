"""Whether enough is known to stop."""

import math
from collections.abc import Sequence

from mlflow_tfexec.records.judgement import Comparison


def reason_to_stop(comparisons: Sequence[Comparison], *, margin: float) -> str | None:
    """Say why the data make further launches unnecessary. None: they do not.

    `nothing_to_compare`: there are no pairs. `decided`: no pair is undecided. `narrow`: every interval is narrower than
    the margin. Such an interval always decides; where a verdict is missing all the same, it was withheld because the
    control differs, and more launches will not mend that.
    """
    if not comparisons:
        return "nothing_to_compare"
    if not any(comparison.verdict == "undecided" for comparison in comparisons):
        return "decided"
    if all(_is_narrow(comparison, margin) for comparison in comparisons):
        return "narrow"
    return None


def undecided_pairs(comparisons: Sequence[Comparison]) -> tuple[tuple[str, str], ...]:
    """Name the pairs of ranked modes that are still open."""
    return tuple((c.a, c.b) for c in comparisons if c.verdict == "undecided")


def _is_narrow(comparison: Comparison, margin: float) -> bool:
    if comparison.ci95_low is None or comparison.ci95_high is None:
        return False
    return math.log(comparison.ci95_high / comparison.ci95_low) <= math.log(1 + margin)
