"""Half widths of confidence intervals: over launches by Student's t, inside one launch by a block bootstrap.

All values are logs of times or of ratios of times, so that the intervals are of factors.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from mlflow_tfexec.statistics.dependence import autocorrelation, optimal_block_length

Interval = tuple[float, float]
"""Lower and upper end."""

RESAMPLES = 2_000
"""Enough to know the standard error to 2 %: 1 / sqrt(2 · 2000) where medians scatter normally, and a little more where
few values repeat. Fifteen pairs of 200 rounds then take a quarter of a second."""

# Below this there are fewer than three blocks: Student's quantile for several pairs is then in the hundreds, and an
# interval of a factor of a million says less than none.
MIN_ROUNDS = 6

# Fixed, so that the same recording always gives the same bytes, and the same for every pair, so that the interval of
# a over b is exactly the inverse of b over a.
_SEED = 1989

# Resampled values held in memory at once (8 bytes each).
_CHUNK = 2_000_000

# Few rounds cannot tell a higher autocorrelation from a walk that never returns, for which no interval is wide enough.
_MAX_AUTOCORRELATION = 0.9

# e^700 is about the largest factor that a float holds; an interval as wide as that says nothing.
_MAX_LOG = 700.0


@dataclass(frozen=True)
class Spread:
    """What the interval of one figure rests on.

    Attributes:
        standard_error: of the figure, a log; 0 where all that it summarizes is equal.
        degrees_of_freedom: how much the standard error itself rests on; a fraction where blocks are no whole number.
    """

    standard_error: float
    degrees_of_freedom: float


def half_width(spread: Spread, *, confidence: float) -> float:
    """Half the two-sided Student interval of a figure with this *spread*."""
    return float(stdtrit(spread.degrees_of_freedom, 0.5 + confidence / 2)) * spread.standard_error


def launch_spread(values: Sequence[float] | NDArray[np.float64]) -> Spread | None:
    """Spread of the mean of *values*, one log per launch.

    The launch is the unit because calls and rounds of one process share its fate (memory layout, clocks, choice of
    algorithms): Georges, Buytaert, Eeckhout, "Statistically rigorous Java performance evaluation", OOPSLA 2007.

    Returns:
        None with fewer than two launches. A standard error of 0 where all values are equal.
    """
    launches = len(values)
    if launches < 2:  # noqa: PLR2004 - one value has no spread
        return None
    return Spread(standard_error=sample_std(values) / math.sqrt(launches), degrees_of_freedom=launches - 1)


def launch_half_width(values: Sequence[float] | NDArray[np.float64], *, confidence: float) -> float | None:
    """Half the two-sided Student interval of the mean of *values*, one log per launch. None: fewer than two."""
    spread = launch_spread(values)
    return half_width(spread, confidence=confidence) if spread else None


def sample_std(values: Sequence[float] | NDArray[np.float64]) -> float:
    """Sample standard deviation of two values or more; exactly 0 where all are equal."""
    # The mean of equal values may round away from them; their differences cannot.
    differences = np.asarray(values) - values[0]
    differences -= differences.sum() / len(differences)
    # For a handful of launches this is four times as quick as NumPy's own.
    return math.sqrt(float((differences * differences).sum()) / (len(differences) - 1))


def round_spread(series: NDArray[np.float64]) -> Spread | None:
    """Spread of the median of one launch's *series* of logs, one per round in measured order.

    Neighbouring rounds resemble each other, so whole stretches of them are drawn: the moving-block bootstrap of
    Künsch, "The jackknife and the bootstrap for general stationary observations", Annals of Statistics 17 (1989),
    with blocks as long as the series itself asks for. With so few rounds it errs low, which is corrected twice:

    - A sample varies less around its own middle than around the truth: by sqrt(blocks / (blocks - 1)); Hesterberg,
      "What teachers should know about the bootstrap", The American Statistician 69 (2015). There is one degree of
      freedom less than there are blocks. Plain percentiles of the resamples will not do: with ten independent rounds
      they miss the truth about one time in six where one in twenty is promised, as no resample lies outside of the
      few values seen.
    - Blocks too short for their rounds' resemblance cut it at their ends. What they miss of it is added as if each
      round remembered only the one before it (`_caught_share`). Without that, ten or twenty rounds with an
      autocorrelation of 0.5 miss the truth about one time in ten.

    The spread between launches is not in it: it speaks of this launch only.

    Returns:
        None with fewer than six rounds. A standard error of 0 where all values are equal. The same, to the last bit,
        for the negated series.
    """
    rounds = len(series)
    if rounds < MIN_ROUNDS:
        return None
    length = block_length(series)
    freedom = rounds / length - 1
    few_blocks = math.sqrt((freedom + 1) / freedom)
    standard_error = sample_std(_resampled_medians(series, length)) * few_blocks
    return Spread(standard_error / math.sqrt(_caught_share(series, length)), freedom)


def round_half_width(series: NDArray[np.float64], *, confidence: float) -> float | None:
    """Half the two-sided interval of the median of one launch's *series* of logs. None: fewer than six rounds."""
    spread = round_spread(series)
    return half_width(spread, confidence=confidence) if spread else None


def factors(center: float, half_width: float | None) -> Interval | None:
    """Turn an interval of logs into one of factors. None: there is none, or it is too wide for numbers."""
    if half_width is None or abs(center) + half_width > _MAX_LOG:
        return None
    return math.exp(center - half_width), math.exp(center + half_width)


def block_length(series: NDArray[np.float64]) -> int:
    """Rounds in one block of the bootstrap: the estimated optimum, within what the series has room for.

    At least two, or order would not matter at all; at most so many that there are three blocks.
    """
    return min(max(2, round(optimal_block_length(series))), max(2, len(series) // 3))


def _caught_share(series: NDArray[np.float64], length: int) -> float:
    """Share of the variance of a mean that blocks of *length* rounds catch, above 0 and at most 1.

    Blocks weigh the autocovariance at lag k by 1 - k / length (Künsch 1989). In a first-order autoregression, whose
    autocorrelations are the powers of the first, rho, all sums are known: the share is
    1 - 2 rho (1 - rho^length) / (length (1 - rho^2)). That so simple a model mends what a few free lags leave out is
    the idea of prewhitening: Andrews, Monahan, "An improved heteroskedasticity and autocorrelation consistent
    covariance matrix estimator", Econometrica 60 (1992). From the measured lag-1 autocorrelation its bias in n rounds
    is taken out, about -(1 + 4 rho) / n: Marriott, Pope, "Bias in the estimation of autocorrelations", Biometrika 41
    (1954). Rounds that alternate narrow nothing.
    """
    measured = autocorrelation([series])
    if measured is None:
        return 1.0
    unbiased = (len(series) * measured + 1) / (len(series) - 4)
    rho = min(max(0.0, unbiased), _MAX_AUTOCORRELATION)
    return 1 - 2 * rho * (1 - math.pow(rho, length)) / (length * (1 - rho**2))


def _resampled_medians(series: NDArray[np.float64], length: int) -> NDArray[np.float64]:
    """Median of each resample in blocks of *length* rounds, shape (RESAMPLES,)."""
    rounds = len(series)
    starts = _block_starts(rounds, length)
    per_chunk = max(1, _CHUNK // rounds)
    chunks = (starts[first : first + per_chunk] for first in range(0, RESAMPLES, per_chunk))
    return np.concatenate([np.median(series[_drawn_rounds(chunk, rounds, length)], axis=1) for chunk in chunks])


def _block_starts(rounds: int, length: int) -> NDArray[np.int64]:
    """Draw where each block starts, shape (RESAMPLES, blocks)."""
    generator = np.random.Generator(np.random.PCG64(_SEED))
    return generator.integers(0, rounds - length + 1, size=(RESAMPLES, math.ceil(rounds / length)))


def _drawn_rounds(starts: NDArray[np.int64], rounds: int, length: int) -> NDArray[np.int64]:
    """Turn block starts into the positions of all drawn rounds, shape (resamples, rounds)."""
    drawn = (starts[:, :, np.newaxis] + np.arange(length)).reshape(len(starts), -1)
    return drawn[:, :rounds]
