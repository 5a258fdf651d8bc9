"""When warm-up is over."""

import statistics
from collections.abc import Iterable, Sequence

import numpy as np

# Long enough to see a trend past one odd block, short enough that warm-up does not outlast the measurement.
WINDOW = 6

# Two values always lie on a line and make two halves of one: they cannot show that nothing changes any more.
MIN_BLOCKS = 3

# Half the margin of practical equivalence: a mode that still moves by less cannot make two equal modes look different.
MAX_TREND = 0.025


def is_steady(medians_ns: Sequence[float]) -> bool:
    """Say whether the latest block medians show no trend any more.

    True: over the last six blocks neither the Theil-Sen line (Sen, "Estimates of the regression coefficient based on
    Kendall's tau", JASA 63, 1968: the median of all pairwise slopes, which one odd block cannot tilt) nor the median
    of the later half against the earlier half moves by 2.5 % or more. False: it still moves, or fewer than three
    blocks are known.

    Args:
        medians_ns: median latency of each block so far, in measured order.
    """
    window = medians_ns[-WINDOW:]
    if len(window) < MIN_BLOCKS:
        return False
    half = len(window) // 2
    level = statistics.median(window)
    earlier, later = statistics.median(window[:half]), statistics.median(window[-half:])
    if level <= 0 or earlier <= 0:
        return False
    drift = abs(theil_sen_slope(window)) * len(window) / level
    return drift < MAX_TREND and abs(later / earlier - 1) < MAX_TREND


def theil_sen_slope(values: Iterable[float]) -> float:
    """Give the median of the slopes between every two values, per step.

    A value that is not finite is missing: its place counts as a step and nothing else. At least two must be there.
    """
    series = np.fromiter(values, dtype=np.float64)
    (places,) = np.nonzero(np.isfinite(series))
    earlier, later = np.triu_indices(len(places), k=1)
    i, j = places[earlier], places[later]
    return float(np.median((series[j] - series[i]) / (j - i)))
