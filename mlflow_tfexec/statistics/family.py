"""Claims on many pairs that hold together: intervals by Bonferroni, differences by Holm."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from scipy.special import stdtr

from mlflow_tfexec.statistics.intervals import Interval, Spread, factors, half_width

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Claim:
    """What may be said of one log ratio."""

    center: float
    half_width: float | None
    """Of the simultaneous interval. None: too little data for one."""
    differs: bool
    """True: shown to be different from 0."""

    @property
    def interval(self) -> Interval | None:
        """The interval of the ratio. It ends at 1 where the step-down test alone, and not its width, excludes 1."""
        ends = factors(self.center, self.half_width)
        if ends is None or not self.differs:
            return ends
        low, high = ends
        return (max(low, 1.0), high) if self.center > 0 else (low, min(high, 1.0))


def claim_together(
    centers: Mapping[Key, float], spreads: Mapping[Key, Spread | None], *, error: float
) -> dict[Key, Claim]:
    """Make claims on all of *centers*, all of them true with probability 1 - *error*.

    Each interval has confidence 1 - error / m for m pairs (Bonferroni), which holds however the pairs depend on one
    another. Whether a pair differs is decided step by step from the clearest on (Holm, "A simple sequentially
    rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979), which finds more at the same error:
    once a pair is found to differ, the next has one pair less to compete with. The interval of a pair found that way
    ends at 0 (Strassburger and Bretz, "Compatible simultaneous lower confidence bounds for the Holm procedure and
    other Bonferroni-based closed tests", Statistics in Medicine 27, 2008).

    Args:
        centers: estimated log ratio of each pair.
        spreads: what its interval rests on. None: too little data; the pair counts in m all the same.
        error: shared by all.
    """
    differing = holm({key: p_value(center, spreads[key]) for key, center in centers.items()}, error=error)
    confidence = 1 - error / max(1, len(centers))
    return {
        key: Claim(
            center=center,
            half_width=None if (spread := spreads[key]) is None else half_width(spread, confidence=confidence),
            differs=key in differing,
        )
        for key, center in centers.items()
    }


def p_value(center: float, spread: Spread | None) -> float:
    """Two-sided chance of an estimate at least this far from 0 were the truth 0. 1 where nothing is known."""
    if spread is None:
        return 1.0
    if spread.standard_error == 0:
        return 1.0 if center == 0 else 0.0
    return 2 * float(stdtr(spread.degrees_of_freedom, -abs(center) / spread.standard_error))


def holm(p_values: Mapping[Key, float], *, error: float) -> set[Key]:
    """Name the hypotheses that Holm's step-down procedure rejects at *error*."""
    rejected: set[Key] = set()
    for tested, (key, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        if p > error / (len(p_values) - tested):
            break
        rejected.add(key)
    return rejected
