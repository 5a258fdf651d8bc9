"""Confidence intervals: over launches by Student's t, inside one launch by a moving-block bootstrap."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

Interval = tuple[float, float]
"""Lower and upper end."""

RESAMPLES = 10_000
"""At the strictest level in use (95 % over 15 pairs) some 17 resamples still lie beyond each end."""

# With fewer rounds the resamples take so few values that their percentiles say nothing.
MIN_ROUNDS = 4

# Fixed, so that the same recording always gives the same bytes, and the same for every pair, so that the interval of
# a over b is exactly the inverse of b over a.
_SEED = 1989

# Resampled values held in memory at once (8 bytes each).
_CHUNK = 2_000_000


def t_interval(values: Sequence[float] | NDArray[np.float64], *, confidence: float) -> Interval | None:
    """Give the two-sided Student interval of the mean of *values*, one value per launch.

    The launch is the unit because calls and rounds of one process share its fate (memory layout, clocks, algorithm
    choices); see Georges, Buytaert, Eeckhout, "Statistically rigorous Java performance evaluation", OOPSLA 2007,
    section 3. Values are expected on the log scale where they are times or ratios of times.

    Returns:
        None with fewer than two values. An interval of width zero where all values are equal.
    """
    launches = len(values)
    if launches < 2:  # noqa: PLR2004 - one value has no spread
        return None
    mean = float(np.mean(values))
    half_width = t_half_width(float(np.std(values, ddof=1)), launches, confidence=confidence)
    return mean - half_width, mean + half_width


def t_half_width(std: float, launches: int, *, confidence: float) -> float:
    """Half the width of the two-sided Student interval of a mean over *launches* with standard deviation *std*."""
    quantile = float(stdtrit(launches - 1, 0.5 + confidence / 2))
    return quantile * std / math.sqrt(launches)


def bootstrap_interval(series: NDArray[np.float64], *, confidence: float) -> Interval | None:
    """Give the percentile interval of the median of one launch's *series* of rounds, in measured order.

    Neighbouring rounds resemble each other, so whole stretches of them are drawn: the moving-block bootstrap of
    Künsch, "The jackknife and the bootstrap for general stationary observations", Annals of Statistics 17 (1989).
    Block length n^(1/3) is the rate derived there. It speaks of this launch only: the spread between launches is
    not in it.

    Returns:
        None with fewer than four rounds.
    """
    if len(series) < MIN_ROUNDS:
        return None
    positions = _block_positions(len(series))
    per_chunk = max(1, _CHUNK // len(series))
    medians = np.concatenate(
        [
            np.median(series[_expand(positions[start : start + per_chunk], len(series))], axis=1)
            for start in range(0, RESAMPLES, per_chunk)
        ]
    )
    low, high = np.quantile(medians, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def block_length(rounds: int) -> int:
    """Rounds in one block of the bootstrap; at least two, or order would not matter at all."""
    return max(2, round(math.pow(rounds, 1 / 3)))


def _block_positions(rounds: int) -> NDArray[np.int64]:
    """Draw where each block starts, shape (RESAMPLES, blocks)."""
    length = block_length(rounds)
    generator = np.random.Generator(np.random.PCG64(_SEED))
    return generator.integers(0, rounds - length + 1, size=(RESAMPLES, math.ceil(rounds / length)))


def _expand(positions: NDArray[np.int64], rounds: int) -> NDArray[np.int64]:
    """Turn block starts into the positions of all drawn rounds, shape (resamples, rounds)."""
    inside = np.arange(block_length(rounds))
    drawn = (positions[:, :, np.newaxis] + inside).reshape(len(positions), -1)
    return drawn[:, :rounds]
