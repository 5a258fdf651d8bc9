import math
import warnings

import arch.bootstrap
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.tsa.stattools import acf

from mlflow_tfexec.statistics.dependence import autocorrelation, effective_rounds, optimal_block_length

SERIES = st.lists(st.floats(-1, 1), min_size=3, max_size=12).map(np.array)


def autoregression(generator, rounds, rho):
    """Draw a stationary series whose autocorrelation at lag k is rho^k."""
    noise = generator.normal(size=rounds)
    values = [noise[0] / math.sqrt(1 - rho**2)]
    for shock in noise[1:]:
        values.append(rho * values[-1] + shock)
    return np.array(values)


@pytest.mark.parametrize("lag", [0, 1, 2, 7])
def test_autocorrelation_of_one_launch_agrees_with_statsmodels(lag):
    series = autoregression(np.random.default_rng(1), 30, 0.6)

    assert autocorrelation([series], lag) == pytest.approx(acf(series, nlags=7, fft=False)[lag], rel=1e-12)


def test_autocorrelation_sums_over_launches_before_it_divides():
    """Deviations -1, 0, 1 and -2, 1, 1: products 0 and -2 + 1, squares 2 and 6."""
    assert autocorrelation([np.array([1.0, 2.0, 3.0]), np.array([0.0, 3.0, 3.0])]) == pytest.approx(-1 / 8)


def test_a_launch_slower_than_the_next_is_no_autocorrelation():
    first, second = np.random.default_rng(2).normal(size=(2, 20))

    assert autocorrelation([first, second + 100]) == pytest.approx(autocorrelation([first, second]), rel=1e-9)


def test_launches_too_short_to_tell_leave_the_autocorrelation_as_it_is():
    series = np.array([1.0, 2.0, 4.0, 3.0])

    assert autocorrelation([series, np.array([5.0, 9.0]), np.array([])]) == autocorrelation([series])


@pytest.mark.parametrize(
    "series_list", [[], [[]], [[1.0, 2.0], [3.0, 4.0]], [[0.1, 0.1, 0.1]], [[0.1] * 7, [0.7] * 3, [1.0, 2.0]]]
)
def test_without_three_values_or_variation_nothing_is_known_of_dependence(series_list):
    series_list = [np.array(series) for series in series_list]

    assert autocorrelation(series_list) is None
    assert effective_rounds(series_list) is None


def test_a_lag_as_long_as_the_longest_launch_has_no_autocorrelation():
    series_list = [np.array([1.0, 2.0, 4.0]), np.array([1.0, 3.0, 2.0, 2.0])]

    assert autocorrelation(series_list, 3) is not None
    assert autocorrelation(series_list, 4) is None


def test_variation_too_small_to_square_still_has_an_autocorrelation():
    series = np.array([1.0, 2.0, 4.0, 3.0])

    assert autocorrelation([series * 1e-200]) == pytest.approx(autocorrelation([series]))


@given(st.lists(SERIES, min_size=1, max_size=3), st.integers(0, 5))
def test_autocorrelation_is_between_minus_one_and_one(series_list, lag):
    value = autocorrelation(series_list, lag)

    assert value is None or abs(value) <= 1 + 1e-12


def test_effective_rounds_end_before_the_first_two_neighbours_that_are_not_positive_together():
    """Plain Geyer with autocorrelations by statsmodels."""
    series = autoregression(np.random.default_rng(3), 60, 0.7)
    correlations = acf(series, nlags=59, fft=False)
    total = -1.0
    for lag in range(0, 60, 2):
        both = correlations[lag] + correlations[lag + 1]
        if both <= 0:
            break
        total += 2 * both

    assert 2 < lag < 58
    assert effective_rounds([series]) == pytest.approx(60 / total, rel=1e-9)


def test_effective_rounds_of_a_hand_calculated_wave():
    """Deviations -1 -1 1 1: autocorrelations 1, 1/4, -1/2, -1/4, so 4 / (1 + 2/4)."""
    assert effective_rounds([np.array([0.0, 0.0, 2.0, 2.0])]) == pytest.approx(4 / 1.5)


@pytest.mark.parametrize("rho", [0.3, 0.5, 0.8])
def test_effective_rounds_of_long_autoregressions_are_those_of_the_textbook(rho):
    """N (1 - rho) / (1 + rho)."""
    generator = np.random.default_rng(4)
    series_list = [autoregression(generator, 2000, rho) for _ in range(5)]

    assert effective_rounds(series_list) == pytest.approx(10_000 * (1 - rho) / (1 + rho), rel=0.15)


def test_alternating_rounds_are_worth_no_more_than_their_number():
    assert effective_rounds([np.array([1.0, -1.0] * 5)]) == 10


def test_effective_rounds_count_every_launch():
    wave = np.array([0.0, 0.0, 2.0, 2.0])

    assert effective_rounds([wave, wave + 5]) == pytest.approx(2 * effective_rounds([wave]))


def test_a_drifting_launch_does_not_take_away_the_others():
    """Sixty rounds of drift are worth a few; twenty launches of one round each are twenty."""
    drifting = np.arange(60.0)

    assert effective_rounds([drifting]) < 6
    assert effective_rounds([drifting, *[np.array([1.0])] * 20]) == 21


@given(st.lists(SERIES, min_size=1, max_size=3))
def test_effective_rounds_are_at_least_one_per_launch_and_at_most_all(series_list):
    value = effective_rounds(series_list)

    assert value is None or len(series_list) <= value <= sum(len(series) for series in series_list)


@pytest.mark.filterwarnings("ignore:(invalid value|divide by zero):RuntimeWarning")  # arch's own, in short series
@pytest.mark.parametrize("rounds", [8, 9, 10, 11, 20, 50, 200])
@pytest.mark.parametrize("rho", [-0.5, 0, 0.5, 0.9])
def test_block_length_agrees_with_arch(rounds, rho):
    generator = np.random.default_rng(5)
    drawn = [autoregression(generator, rounds, rho) for _ in range(12)]

    lengths = [optimal_block_length(series) for series in drawn]

    expected = arch.bootstrap.optimal_block_length(np.stack(drawn, axis=1))["circular"]
    assert lengths == pytest.approx(list(expected), rel=1e-9)


@pytest.mark.parametrize("rounds", [0, 1, 2, 3, 7, 10, 200])
def test_equal_rounds_need_blocks_of_one_and_no_warning(rounds):
    """0.1 is no exact number: the mean of many is not 0.1 again."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")

        assert optimal_block_length(np.full(rounds, 0.1)) == 1.0


@given(st.lists(st.floats(-1, 1), max_size=30).map(np.array))
def test_block_length_is_not_negative_and_leaves_about_three_blocks(series):
    with warnings.catch_warnings():
        warnings.simplefilter("error")

        length = optimal_block_length(series)

    assert 0 <= length <= max(1, math.ceil(len(series) / 3))


@given(st.lists(st.floats(-1, 1), max_size=30).map(np.array))
def test_a_negated_series_is_as_dependent_to_the_last_bit(series):
    assert optimal_block_length(-series) == optimal_block_length(series)
    assert autocorrelation([-series]) == autocorrelation([series])
    assert effective_rounds([-series]) == effective_rounds([series])


def test_blocks_grow_with_the_resemblance_of_neighbours():
    generator = np.random.default_rng(6)
    means = [
        np.mean([optimal_block_length(autoregression(generator, 200, rho)) for _ in range(20)]) for rho in (0, 0.5, 0.9)
    ]

    assert means[0] < 4 < means[1] < 12 < means[2]
