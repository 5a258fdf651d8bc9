"""Whether a series of times stayed at one level: steps, trends and jumps between two levels.

The limits come from simulation, 5,000 to 100,000 series each. In independent normal noise with a standard deviation
of 1 % or 3 %, each detector fires in at most 0.2 % of series of 10 or 20 rounds. Where neighbours resemble each other
(autoregressive, coefficient 0.5, standard deviation 1 %), steps are seen in 0.3 % of series, trends in 0.8 % of those
of 10 rounds and 1.3 % of those of 20, two levels in none. Noise that is not normal has more false alarms: two levels
are seen in 2 % of series of 10 rounds of exponential noise of 3 %, steps in 0.3 %.
"""

import bisect
import functools
import itertools
import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from mlflow_tfexec.statistics.steady_state import MAX_TREND, theil_sen_slope

# Of fewer values chance makes every shape.
MIN_VALUES = 8

# Two odd rounds at an end, or near it, are no step.
MIN_VALUES_PER_LEVEL = 3

# Log of the least ratio that is told: less cannot make two equal modes look different.
_LEAST_CHANGE = math.log1p(MAX_TREND)

# A step must be so many standard errors high. Independent noise of 3 % passes 5.6 in 0.2 % of series of 8 or 10
# values, and 4.9 in those of 20. The rest is for noise with memory: at 3 %, 1 % of its series pass 6.6.
_STEP_LIMIT = 6.5

# A step is fitted by its place and two levels, a line by two numbers: nearly as good a line is the simpler reading.
_MAX_SHARE_OF_LINE = 0.9

# Mean absolute deviation to standard deviation of normal noise: the root of pi/2.
_STD_PER_MEAN_DEVIATION = math.sqrt(math.pi / 2)

# Over the count of values, the chance of a Kendall correlation as strong as the one seen: 0.001 for 10 values. Noise
# whose neighbours resemble each other looks like a trend, the more so the longer the series.
_TREND_LEVEL = 0.01

# Up to so many values the distribution of falling pairs is worked out; beyond, a normal one is as good.
_MOST_EXACT = 50

# Fewer are odd rounds, and no level.
_MIN_SHARE_OF_LEVEL = 0.20

# One switch is a step; two are a disturbance that passed.
_MIN_SWITCHES = 3

# The gap between two levels must be this number over the count of values wide, in standard deviations within the
# levels: gaps of chance shrink as values fill them. In noise of 3 %, 0.2 % of series pass 56 over the count with 8
# values, 51 with 10, 45 with 20, 44 with 40.
_GAP_LIMIT = 54.0

# Narrower ones no eye would call a gap, however many values leave it empty.
_MIN_GAP = 2.0


@dataclass(frozen=True)
class Step:
    """One lasting change of level."""

    position: int
    """Index of the first value after it, missing values counted."""
    ratio: float
    """Level after it over level before it."""


@dataclass(frozen=True)
class TwoLevels:
    """Times that went back and forth between two levels."""

    ratio: float
    """Upper level over lower level, above 1."""
    share_of_upper: float
    """Which part of the values lies at the upper level."""


def find_step(log_times: Iterable[float]) -> Step | None:
    """Find the one lasting change of level in a series, if there is one.

    Of all splits with three values or more on either side, the one whose change of medians is the largest compared
    with its standard error counts, and the standard error is taken from the mean absolute deviation from the two
    medians. None: fewer than eight values, a change below 2.5 % or below 6.5 standard errors, a side of which fewer
    than three values are nearer to its own level than to the other, or a series that a Theil-Sen line fits nearly as
    well as two levels do.

    In noise of 1 %, a step of 10 % in the middle of ten rounds is found in 99.8 % of series, one of 5 % in 65 %.

    Args:
        log_times: natural logarithms of times in measured order; NaN marks a missing one.
    """
    series = tuple(log_times)
    positions, values = _present(series)
    if not _may_have_changed(values):
        return None
    best = _most_prominent_split(values)
    if abs(best.change) < _LEAST_CHANGE or best.prominence < _STEP_LIMIT or best.support(values) < MIN_VALUES_PER_LEVEL:
        return None
    if best.deviation >= _MAX_SHARE_OF_LINE * _deviation_from_line(series):
        return None
    return Step(position=positions[best.place], ratio=math.exp(best.change))


def find_trend(log_times: Iterable[float]) -> float | None:
    """Give the ratio of the last time to the first on the Theil-Sen line, if the series has a trend.

    None: fewer than eight values, a drift below 2.5 %, one that Kendall's rank correlation with the order takes
    for chance (Mann, "Nonparametric tests against trend", Econometrica 13, 1945; here at 0.01 over the count),
    or a step, see `find_step`.

    In noise of 1 %, a ramp of 10 % over ten rounds is found in 95.7 % of series.

    Args:
        log_times: natural logarithms of times in measured order; NaN marks a missing one.
    """
    series = tuple(log_times)
    positions, values = _present(series)
    if not _may_have_changed(values):
        return None
    drift = theil_sen_slope(series) * (positions[-1] - positions[0])
    if abs(drift) < _LEAST_CHANGE:
        return None
    if chance_of_trend(values) >= _TREND_LEVEL / len(values) or find_step(series) is not None:
        return None
    return math.exp(drift)


def chance_of_trend(values: Sequence[float]) -> float:
    """Two-sided chance of as clear a trend in *values* were their order random.

    The test of Mann, "Nonparametric tests against trend", Econometrica 13 (1945): pairs that rise less pairs that fall,
    against their exact distribution, and beyond 50 values against its normal approximation. (SciPy has it as Kendall's
    tau, in a part that takes half a second and 45 MiB to import.)
    """
    count = len(values)
    pairs = count * (count - 1) // 2
    balance = abs(float(np.tril(np.sign(np.subtract.outer(values, values))).sum()))
    if count > _MOST_EXACT:
        std = math.sqrt(count * (count - 1) * (2 * count + 5) / 18)
        return 2 * float(ndtr(-max(0.0, balance - 1) / std))
    # As many pairs against the trend or fewer; a pair of equal values counts half.
    against = math.floor((pairs - balance) / 2)
    return min(1.0, 2 * float(_shares_of_orders(count)[: against + 1].sum()))


@functools.cache
def _shares_of_orders(count: int) -> NDArray[np.float64]:
    """Share of the orders of *count* values in which 0, 1, 2, … pairs fall."""
    shares = np.ones(1)
    for size in range(2, count + 1):
        # The last of `size` values falls behind 0 to size - 1 others, each as likely.
        shares = np.convolve(shares, np.full(size, 1 / size))
    return shares


def find_two_levels(log_times: Iterable[float]) -> TwoLevels | None:
    """Find the two levels that a series jumps between, if there are two.

    The widest gap between neighbours in size parts the levels, among the gaps that leave 20 % of the values and at
    least two on either side. None: fewer than eight values, medians of the levels less than 2.5 % apart, a gap that
    is narrow beside the standard deviation within the levels (5.4 of them with 10 values, 2.7 with 20, never below
    2), or fewer than three switches from one level to the other.

    In noise of 1 %, two levels 10 % apart between which a fair coin decides each round are found in 76 % of series of
    10 rounds and 99.7 % of those of 20. A tenth of the former switches less than three times.

    Args:
        log_times: natural logarithms of times in measured order; NaN marks a missing one.
    """
    _, values = _present(log_times)
    if not _may_have_changed(values):
        return None
    ranked, count = sorted(values), len(values)
    least = max(2, math.ceil(_MIN_SHARE_OF_LEVEL * count))
    place = max(range(least, count - least + 1), key=lambda rank: ranked[rank] - ranked[rank - 1])
    lower, upper = ranked[:place], ranked[place:]
    apart, gap = statistics.median(upper) - statistics.median(lower), upper[0] - lower[-1]
    if apart < _LEAST_CHANGE or gap < max(_MIN_GAP, _GAP_LIMIT / count) * _std_within(lower, upper):
        return None
    if _switches(values, upper[0]) < _MIN_SWITCHES:
        return None
    return TwoLevels(ratio=math.exp(apart), share_of_upper=len(upper) / count)


@dataclass(frozen=True)
class _Split:
    """A series taken for two levels, the second one from *place* on."""

    place: int
    level_before: float
    level_after: float
    deviation: float
    """Sum of the distances from the two medians."""
    prominence: float
    """The change in standard errors."""

    @property
    def change(self) -> float:
        """The level after less the level before."""
        return self.level_after - self.level_before

    def support(self, values: Sequence[float]) -> int:
        """Count the values that are nearer to their own level than to the other, on the side that has fewer of them."""
        is_before = [abs(value - self.level_before) < abs(value - self.level_after) for value in values]
        return min(is_before[: self.place].count(True), is_before[self.place :].count(False))


def _most_prominent_split(values: Sequence[float]) -> _Split:
    count = len(values)
    places = np.arange(MIN_VALUES_PER_LEVEL, count - MIN_VALUES_PER_LEVEL + 1)
    before = _running_medians(values)[places - 1]
    after = _running_medians(values[::-1])[count - places - 1]
    levels = np.where(np.arange(count) < places[:, np.newaxis], before[:, np.newaxis], after[:, np.newaxis])
    deviations = np.abs(values - levels).sum(axis=1)
    # Two levels were fitted, so the deviations are as many as the values less two.
    errors = _STD_PER_MEAN_DEVIATION * deviations / (count - 2) * np.sqrt(1 / places + 1 / (count - places))
    prominences = np.divide(np.abs(after - before), errors, out=np.full(len(places), np.inf), where=errors > 0)
    best = int(np.argmax(prominences))
    return _Split(
        place=int(places[best]),
        level_before=float(before[best]),
        level_after=float(after[best]),
        deviation=float(deviations[best]),
        prominence=float(prominences[best]),
    )


def _running_medians(values: Sequence[float]) -> NDArray[np.float64]:
    """Median of the first value, of the first two, and so on."""
    ordered: list[float] = []
    medians = []
    for count, value in enumerate(values, start=1):
        bisect.insort(ordered, value)
        medians.append((ordered[(count - 1) // 2] + ordered[count // 2]) / 2)
    return np.array(medians)


def _present(log_times: Iterable[float]) -> tuple[list[int], list[float]]:
    """Part the values that are there into their places and themselves."""
    present = [(place, float(value)) for place, value in enumerate(log_times) if math.isfinite(value)]
    return [place for place, _ in present], [value for _, value in present]


def _may_have_changed(values: Sequence[float]) -> bool:
    """Say whether there are values enough, far enough apart, for any finding. True does not mean that they changed."""
    return len(values) >= MIN_VALUES and max(values) - min(values) >= _LEAST_CHANGE


def _deviation_from_line(series: Sequence[float]) -> float:
    """Sum of the distances from the Theil-Sen line."""
    slope = theil_sen_slope(series)
    heights = [value - slope * place for place, value in zip(*_present(series), strict=True)]
    return _distance(heights, statistics.median(heights))


def _distance(values: Iterable[float], level: float) -> float:
    return math.fsum(abs(value - level) for value in values)


def _std_within(lower: Sequence[float], upper: Sequence[float]) -> float:
    """Standard deviation of the values from the mean of their level."""
    squares = math.fsum((value - math.fsum(level) / len(level)) ** 2 for level in (lower, upper) for value in level)
    return math.sqrt(squares / (len(lower) + len(upper) - 2))


def _switches(values: Sequence[float], least_of_upper: float) -> int:
    """Count how often the series goes from one level to the other."""
    sides = [value >= least_of_upper for value in values]
    return sum(earlier != later for earlier, later in itertools.pairwise(sides))
