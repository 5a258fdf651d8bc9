"""How much neighbouring rounds resemble each other, and how many independent ones they are worth.

A series is one launch's figures in measured order, one per round: the logs of one mode's block medians, or the log
ratios of one pair. Launches are processes of their own, so nothing is carried over from the end of one to the next.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Series = NDArray[np.float64]

# Two values lie equally far on either side of their mean: their lag-1 autocorrelation is -1/2 whatever they are.
MIN_SERIES = 3

# So many autocorrelations in a row must be near 0 before the rest is taken for noise.
_QUIET_LAGS = 5


def autocorrelation(series_list: Sequence[Series], lag: int = 1) -> float | None:
    """Autocorrelation at *lag* of several launches' series together, from -1 to 1.

    Each series is centred at its own mean, so that a launch slower than the next is no resemblance between rounds.
    Products and squares are summed over launches before they are divided, by all squares (the biased estimate: it
    never leaves -1 to 1, and fades with the lag). Series of fewer than three values say nothing and are left out.

    Returns:
        None where no series has three values, none is longer than *lag*, or no value differs from its series' mean.
    """
    deviations = _deviations(series_list)
    if not deviations or lag >= max(len(series) for series in deviations):
        return None
    return _products(deviations, lag) / _products(deviations, 0)


def effective_rounds(series_list: Sequence[Series]) -> float | None:
    """How many independent rounds would tell the mean as precisely as all rounds of *series_list* together do.

    n / (1 + 2 (ρ₁ + ρ₂ + …)), with the autocorrelations of all launches together. Their sum ends before the first
    neighbours ρ₂ₘ + ρ₂ₘ₊₁ that are not positive together, beyond which it gathers noise: the initial positive sequence
    of Geyer, "Practical Markov chain Monte Carlo", Statistical Science 7 (1992).

    Never more than there are rounds: rounds that alternate around their mean could claim more, but so few of them do
    not prove it. Never less than one for each launch that has any. Short series flatter themselves: centred at their
    own mean they look less alike than they are.

    Returns:
        None where no series has three values, or no value differs from its series' mean.
    """
    deviations = _deviations(series_list)
    if not deviations:
        return None
    rounds = sum(len(series) for series in series_list)
    launches = sum(len(series) > 0 for series in series_list)
    inflation = 2 * sum(_initial_positive_sums(deviations)) - 1
    return max(float(launches), rounds / max(1.0, inflation))


def optimal_block_length(series: Series) -> float:
    """Length of the blocks, in rounds, with which a circular or moving-block bootstrap of *series* errs least.

    Politis, White, "Automatic block-length selection for the dependent bootstrap", Econometric Reviews 23 (2004), with
    the constant of Patton, Politis, White, "Correction to …", Econometric Reviews 28 (2009): from the autocovariances
    under a flat-top window that ends at twice the first lag from which on they drown in noise. The band that counts as
    noise and the number of lags looked at are those of Patton's published program. It is the variance of a mean that
    such blocks estimate best.

    Returns:
        A fraction of rounds, below 1 where neighbours hardly resemble each other, at most about a third of the
        series. 1 where the series has fewer than three values or all are equal.
    """
    rounds = len(series)
    deviations = _deviations([series])
    if not deviations:
        return 1.0
    longest = math.ceil(min(3 * math.sqrt(rounds), rounds / 3))
    covariances = _autocovariances(deviations[0])
    window = _window(deviations[0], len(covariances) - 1)
    lags = np.arange(1, window + 1)
    weights = 2 * np.minimum(1.0, 2 * (1 - lags / window)) * covariances[1 : window + 1]
    slope = float(np.sum(weights * lags))
    long_run_variance = float(covariances[0] + np.sum(weights))
    if long_run_variance == 0:
        return float(longest)
    return min(float(longest), math.pow(1.5 * (slope / long_run_variance) ** 2 * rounds, 1 / 3))


def _deviations(series_list: Sequence[Series]) -> list[Series]:
    """Deviations from each series' mean, of series long enough, in units of the largest. Empty: there are none."""
    # The mean of equal values may round away from them; the mean of their differences cannot.
    shifted = [series - series[0] for series in series_list if len(series) >= MIN_SERIES]
    deviations = [series - np.mean(series) for series in shifted]
    largest = max((float(np.max(np.abs(series))) for series in deviations), default=0.0)
    # The unit cancels from all that is computed here; without it the squares of tiny values would vanish.
    return [series / largest for series in deviations] if largest > 0 else []


def _products(deviations: Sequence[Series], lag: int) -> float:
    """Sum of the products of all values *lag* apart; 0 for series too short to have any."""
    return sum(_product(series, lag) for series in deviations)


def _product(series: Series, lag: int) -> float:
    # Not a dot product, whose order of summation is the linear algebra library's own affair.
    return float(np.sum(series[lag:] * series[: max(0, len(series) - lag)]))


def _initial_positive_sums(deviations: Sequence[Series]) -> Iterator[float]:
    """Sums of two neighbouring autocorrelations, from lags 0 and 1 on, as long as they are positive."""
    squares = _products(deviations, 0)
    for lag in range(0, max(len(series) for series in deviations), 2):
        both = (_products(deviations, lag) + _products(deviations, lag + 1)) / squares
        if both <= 0:
            return
        yield both


def _autocovariances(series: Series) -> Series:
    """Biased autocovariances from lag 0 up to the largest that the window may take in."""
    max_lag = math.ceil(math.sqrt(len(series))) + _QUIET_LAGS
    return np.array([_product(series, lag) for lag in range(max_lag + 1)]) / len(series)


def _window(series: Series, max_lag: int) -> int:
    """Twice the first of five lags in a row whose autocorrelations drown in noise; *max_lag* where there are none."""
    rounds = len(series)
    band = 2 * math.sqrt(math.log10(rounds) / rounds)
    quiet = [_is_quiet(series, lag, band) for lag in range(max_lag)]
    for first in range(1, max_lag - _QUIET_LAGS + 1):
        if all(quiet[first : first + _QUIET_LAGS]):
            return min(2 * first, max_lag)
    return max_lag


def _is_quiet(series: Series, lag: int, band: float) -> bool:
    """Say whether the correlation of values *lag* apart lies within ±*band*; not where too few are left to tell."""
    later, earlier = series[lag + 1 :], series[: max(0, len(series) - lag - 1)]
    scale = math.sqrt(float(np.sum(later**2)) * float(np.sum(earlier**2)))
    return abs(_product(series, lag)) < band * scale
