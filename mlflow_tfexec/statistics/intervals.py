"""Half widths of confidence intervals: over launches by Student's t, inside one launch by a block bootstrap.

All values are logs of times or of ratios of times, so that the intervals are of factors.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

Interval = tuple[float, float]
"""Lower and upper end."""

RESAMPLES = 10_000
"""Enough to know the standard error to 1 %."""

# Below this there are only two blocks: Student's quantile for several pairs is then in the hundreds, and an interval
# of a factor of a million says less than none.
MIN_ROUNDS = 6

# Fixed, so that the same recording always gives the same bytes, and the same for every pair, so that the interval of
# a over b is exactly the inverse of b over a.
_SEED = 1989

# Resampled values held in memory at once (8 bytes each).
_CHUNK = 2_000_000

# e^700 is about the largest factor that a float holds; an interval as wide as that says nothing.
_MAX_LOG = 700.0


def launch_half_width(values: Sequence[float] | NDArray[np.float64], *, confidence: float) -> float | None:
    """Half the two-sided Student interval of the mean of *values*, one log per launch.

    The launch is the unit because calls and rounds of one process share its fate (memory layout, clocks, choice of
    algorithms): Georges, Buytaert, Eeckhout, "Statistically rigorous Java performance evaluation", OOPSLA 2007.

    Returns:
        None with fewer than two launches. 0 where all values are equal.
    """
    launches = len(values)
    if launches < 2:  # noqa: PLR2004 - one value has no spread
        return None
    return student_half_width(sample_std(values), launches, confidence=confidence)


def student_half_width(std: float, count: int, *, confidence: float) -> float:
    """Half the two-sided Student interval of a mean of *count* values whose sample standard deviation is *std*."""
    quantile = float(stdtrit(count - 1, 0.5 + confidence / 2))
    return quantile * std / math.sqrt(count)


def sample_std(values: Sequence[float] | NDArray[np.float64]) -> float:
    """Sample standard deviation of two values or more; exactly 0 where all are equal."""
    # The mean of equal values may round away from them; their differences cannot.
    return float(np.std(np.asarray(values) - values[0], ddof=1))


def round_half_width(series: NDArray[np.float64], *, confidence: float) -> float | None:
    """Half the two-sided interval of the median of one launch's *series* of logs, one per round in measured order.

    Neighbouring rounds resemble each other, so whole stretches of them are drawn: the moving-block bootstrap of
    Künsch, "The jackknife and the bootstrap for general stationary observations", Annals of Statistics 17 (1989),
    with blocks of about n^(1/3) rounds. It gives the standard error of the median. The interval is Student's with one
    degree of freedom less than there are blocks, and the standard error is corrected for its narrowness in small
    samples: Hesterberg, "What teachers should know about the bootstrap", The American Statistician 69 (2015). Plain
    percentiles of the resamples will not do: with ten independent rounds they miss the truth about one time in six
    where one in twenty is promised, as no resample lies outside of the few values seen.

    The spread between launches is not in it: it speaks of this launch only.

    Returns:
        None with fewer than six rounds. 0 where all values are equal.
    """
    rounds = len(series)
    if rounds < MIN_ROUNDS:
        return None
    blocks = math.ceil(rounds / block_length(rounds))
    standard_error = sample_std(_resampled_medians(series)) * math.sqrt(blocks / (blocks - 1))
    return float(stdtrit(blocks - 1, 0.5 + confidence / 2)) * standard_error


def factors(center: float, half_width: float | None) -> Interval | None:
    """Turn an interval of logs into one of factors. None: there is none, or it is too wide for numbers."""
    if half_width is None or abs(center) + half_width > _MAX_LOG:
        return None
    return math.exp(center - half_width), math.exp(center + half_width)


def block_length(rounds: int) -> int:
    """Rounds in one block of the bootstrap; at least two, or order would not matter at all."""
    return max(2, round(math.pow(rounds, 1 / 3)))


def _resampled_medians(series: NDArray[np.float64]) -> NDArray[np.float64]:
    """Median of each resample, shape (RESAMPLES,)."""
    starts = _block_starts(len(series))
    per_chunk = max(1, _CHUNK // len(series))
    chunks = (starts[first : first + per_chunk] for first in range(0, RESAMPLES, per_chunk))
    return np.concatenate([np.median(series[_drawn_rounds(chunk, len(series))], axis=1) for chunk in chunks])


def _block_starts(rounds: int) -> NDArray[np.int64]:
    """Draw where each block starts, shape (RESAMPLES, blocks)."""
    length = block_length(rounds)
    generator = np.random.Generator(np.random.PCG64(_SEED))
    return generator.integers(0, rounds - length + 1, size=(RESAMPLES, math.ceil(rounds / length)))


def _drawn_rounds(starts: NDArray[np.int64], rounds: int) -> NDArray[np.int64]:
    """Turn block starts into the positions of all drawn rounds, shape (resamples, rounds)."""
    inside = np.arange(block_length(rounds))
    drawn = (starts[:, :, np.newaxis] + inside).reshape(len(starts), -1)
    return drawn[:, :rounds]
