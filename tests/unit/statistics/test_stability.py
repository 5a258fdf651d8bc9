"""What the detectors find, what they leave, and how often they are wrong in noise of known kind."""

import functools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from mlflow_tfexec.statistics import stability
from mlflow_tfexec.statistics.stability import Step, TwoLevels, chance_of_trend, find_step, find_trend, find_two_levels

DETECTORS = (find_step, find_trend, find_two_levels)
TEN_PERCENT = math.log(1.10)
SERIES = 2000


def log(*times):
    return np.log(np.array(times, dtype=float))


def rate(detector, many):
    return sum(detector(series) is not None for series in many) / len(many)


def three_errors_above(share, count=SERIES):
    """A share of alarms that the true *share* exceeds once in some hundred seeds."""
    return share + 3 * math.sqrt(share * (1 - share) / count)


@functools.cache
def noise(rounds, std, count=SERIES):
    return np.random.default_rng(rounds).normal(scale=std, size=(count, rounds))


@functools.cache
def noise_with_memory(rounds, std, count=SERIES):
    """Autoregressive, coefficient 0.5; *std* is that of the values."""
    fresh = np.random.default_rng(rounds + 1).normal(scale=std, size=(count, rounds))
    values = fresh.copy()
    for place in range(1, rounds):
        values[:, place] = 0.5 * values[:, place - 1] + math.sqrt(0.75) * fresh[:, place]
    return values


def coin_levels(rounds, count):
    return TEN_PERCENT * (np.random.default_rng(3).random((count, rounds)) < 0.5)


def test_a_step_has_its_place_and_ratio():
    assert find_step(log(100, 101, 99, 100, 101, 110, 111, 110, 109, 110)) == Step(5, pytest.approx(1.10))


def test_a_step_down_has_a_ratio_below_one():
    assert find_step(log(200, 201, 199, 100, 101, 99, 100, 100)) == Step(3, pytest.approx(0.5))


def test_a_missing_value_counts_for_the_place_of_a_step():
    series = log(math.nan, 100, 101, 99, math.nan, 100, math.nan, 110, 111, 110, 109)

    assert find_step(series) == Step(7, pytest.approx(1.10))


def test_a_step_of_two_percent_is_not_told():
    assert find_step(log(100, 100, 100, 100, 100, 102, 102, 102, 102, 102)) is None


def test_a_step_of_three_percent_without_noise_is_told():
    assert find_step(log(100, 100, 100, 100, 100, 103, 103, 103, 103, 103)) == Step(5, pytest.approx(1.03))


@pytest.mark.parametrize("last", [(100, 150, 151), (150, 100, 151), (150, 151, 100)])
def test_two_values_are_no_level(last):
    assert find_step(log(100, 101, 99, 100, 101, 100, 99, *last)) is None
    assert find_step(log(*last[::-1], 100, 101, 99, 100, 101, 100, 99)) is None


def test_one_odd_value_does_not_hide_a_great_step():
    assert find_step(log(100, 101, 99, 125, 101, 150, 151, 150, 149, 150)) == Step(5, pytest.approx(1.5, rel=0.02))


@pytest.mark.parametrize("detector", DETECTORS)
def test_one_odd_value_is_nothing(detector):
    assert detector(log(100, 101, 99, 100, 180, 101, 100, 99, 100, 101)) is None


@pytest.mark.parametrize("detector", DETECTORS)
def test_a_disturbance_that_passes_is_nothing(detector):
    assert detector(log(100, 101, 99, 100, 120, 121, 120, 100, 101, 99, 100)) is None


@pytest.mark.parametrize("detector", DETECTORS)
@pytest.mark.parametrize("series", [[], [5.0], [5.0] * 10, [math.nan] * 10])
def test_a_series_without_change_is_nothing(detector, series):
    assert detector(series) is None


@pytest.mark.parametrize(
    ("detector", "times"),
    [
        (find_step, (100, 100, 101, 100, 150, 151, 150, 151)),
        (find_trend, (100, 110, 120, 130, 140, 150, 160, 170)),
        (find_two_levels, (100, 150, 101, 150.5, 100, 150, 101, 151)),
    ],
)
def test_seven_values_are_too_few_and_eight_are_enough(detector, times):
    assert detector(log(*times)) is not None
    assert detector(log(*times[:4], math.nan, *times[5:])) is None


def test_a_ramp_is_a_trend_with_its_ratio_and_no_step():
    series = np.linspace(0, TEN_PERCENT, 10)

    assert find_trend(series) == pytest.approx(1.10)
    assert find_step(series) is None


def test_a_falling_series_has_a_ratio_below_one():
    assert find_trend(np.linspace(0, math.log(0.93), 10)) == pytest.approx(0.93)


def test_a_ramp_of_two_percent_is_not_told():
    assert find_trend(np.linspace(0, math.log(1.02), 10)) is None


def test_a_missing_value_takes_its_time_in_a_trend():
    series = np.linspace(0, TEN_PERCENT, 12)
    series[[3, 6]] = math.nan

    assert find_trend(series) == pytest.approx(1.10)


def test_a_step_is_not_also_a_trend():
    series = log(100, 100.1, 100.2, 100.3, 100.4, 110, 110.1, 110.2, 110.3, 110.4)

    assert scipy.stats.kendalltau(range(10), series).pvalue < 1e-4
    assert find_step(series) is not None
    assert find_trend(series) is None


def test_two_levels_have_their_ratio_and_share():
    series = log(100, 110, 101, 100, 111, 109, 100, 99, 110, 100)

    assert find_two_levels(series) == TwoLevels(pytest.approx(1.10), 0.4)


def test_missing_values_are_left_out_of_the_share():
    series = log(100, 110, math.nan, 100, 111, 109, 100, 99, 110, 100, 99, math.nan, 101)

    assert find_two_levels(series) == TwoLevels(pytest.approx(1.10), pytest.approx(4 / 11))


def test_two_levels_are_neither_a_step_nor_a_trend():
    series = log(100, 110, 101, 100, 111, 109, 100, 99, 110, 100)

    assert find_step(series) is None
    assert find_trend(series) is None


def test_two_levels_two_percent_apart_are_not_told():
    assert find_two_levels(log(*[100, 102] * 5)) is None
    assert find_two_levels(log(*[100, 103] * 5)) == TwoLevels(pytest.approx(1.03), 0.5)


def test_less_than_three_switches_are_no_jumping():
    assert find_two_levels(log(100, 101, 99, 110, 111, 110, 110, 100, 101, 99)) is None
    assert find_two_levels(log(100, 101, 99, 110, 111, 110, 109, 100, 101, 110)) is not None


def test_three_of_twenty_are_odd_values_and_four_are_a_level():
    three, four = [100.0, 101.0] * 10, [100.0, 101.0] * 10
    for place in (2, 9, 15):
        three[place] = four[place] = 120
    four[12] = 120

    assert find_two_levels(log(*three)) is None
    assert find_two_levels(log(*four)) == TwoLevels(pytest.approx(120 / 100.5, rel=0.01), 0.2)


def test_values_spread_evenly_are_not_two_levels():
    assert find_two_levels(log(100, 118, 104, 114, 102, 116, 106, 110, 108, 112)) is None


@pytest.mark.parametrize(("gap", "told"), [(0.025, False), (0.035, True)])
def test_many_values_make_no_level_of_a_narrow_gap(gap, told):
    """The values of either level spread evenly over 5 %: 1.5 % of standard deviation."""
    lower = np.linspace(0, 0.05, 20)
    series = np.stack([lower, lower + 0.05 + gap]).T.ravel()

    assert (find_two_levels(series) is not None) == told


@given(st.lists(st.floats(-0.2, 0.2), min_size=8, max_size=14))
def test_turned_upside_down_a_series_has_the_inverse_ratios(values):
    turned = [-value for value in values]
    step, trend = find_step(values), find_trend(values)

    assert find_step(turned) == (step and Step(step.position, pytest.approx(1 / step.ratio)))
    assert find_trend(turned) == (trend and pytest.approx(1 / trend))


@given(st.integers(0, 10_000))
def test_a_trend_has_the_slope_that_scipy_finds(seed):
    generator = np.random.default_rng(seed)
    series = np.linspace(0, 1, 12) + generator.normal(scale=0.02, size=12)
    series[generator.integers(12)] = math.nan
    places = np.flatnonzero(np.isfinite(series))
    slope = scipy.stats.theilslopes(series[places], places).slope

    assert find_trend(series) == pytest.approx(math.exp(slope * (places[-1] - places[0])))


@pytest.mark.parametrize("detector", DETECTORS)
@pytest.mark.parametrize("rounds", [10, 20])
@pytest.mark.parametrize("std", [0.01, 0.03])
def test_noise_is_taken_for_something_in_one_series_of_five_hundred(detector, rounds, std):
    assert rate(detector, noise(rounds, std)) <= three_errors_above(0.002)


@pytest.mark.parametrize("detector", DETECTORS)
@pytest.mark.parametrize("rounds", [10, 20])
def test_rounds_that_resemble_their_neighbours_raise_few_alarms(detector, rounds):
    """Trends are seen in 1.3 % of 20 rounds, all else is rarer."""
    assert rate(detector, noise_with_memory(rounds, 0.01)) <= three_errors_above(0.013)


@pytest.mark.parametrize(
    ("detector", "limit", "lenient"),
    [(find_step, "_STEP_LIMIT", 3.5), (find_trend, "_TREND_LEVEL", 0.1), (find_two_levels, "_GAP_LIMIT", 30.0)],
)
def test_lenient_limits_would_raise_the_alarm(monkeypatch, detector, limit, lenient):
    """The checks above can fail: the same noise, with limits that look reasonable."""
    monkeypatch.setattr(stability, limit, lenient)

    assert rate(detector, noise(10, 0.03, count=1000)) > three_errors_above(0.002)


def test_a_step_of_a_tenth_is_found_at_its_place():
    """Noise of 1 %, ten rounds: found in 99.8 %, and one round aside at most."""
    many = noise(10, 0.01, count=1000) + TEN_PERCENT * (np.arange(10) >= 5)
    steps = [step for step in map(find_step, many) if step is not None]

    assert len(steps) >= 990
    assert sum(step.position == 5 for step in steps) >= 980
    assert np.mean([step.ratio for step in steps]) == pytest.approx(1.10, abs=0.002)


def test_a_ramp_of_a_tenth_is_found_as_a_trend():
    """Found in 95.7 %."""
    many = noise(10, 0.01, count=2000) + np.linspace(0, TEN_PERCENT, 10)

    assert rate(find_trend, many) >= 0.95
    assert rate(find_step, many) <= 0.02


@pytest.mark.parametrize(("rounds", "share"), [(10, 0.72), (20, 0.98)])
def test_two_levels_a_tenth_apart_are_found_in_most_series(rounds, share):
    """Found in 76 % of 10 rounds and in 99.7 % of 20."""
    many = noise(rounds, 0.01, count=1000) + coin_levels(rounds, 1000)

    assert rate(find_two_levels, many) >= share


@pytest.mark.parametrize("count", [8, 9, 10, 20, 50])
def test_chance_of_a_trend_is_that_of_kendalls_tau(count):
    generator = np.random.default_rng(count)
    for slope in (0.0, 0.02, -0.05, 0.3):
        values = generator.normal(size=count) + slope * np.arange(count)

        exact = scipy.stats.kendalltau(np.arange(count), values, method="exact").pvalue
        assert chance_of_trend(values) == pytest.approx(exact, rel=1e-9)


def test_chance_of_a_trend_in_many_values_is_near_that_of_kendalls_tau():
    values = np.random.default_rng(3).normal(size=200) + 0.003 * np.arange(200)

    assert chance_of_trend(values) == pytest.approx(scipy.stats.kendalltau(np.arange(200), values).pvalue, rel=0.03)


def test_equal_values_show_no_trend():
    assert chance_of_trend([1.0] * 10) == pytest.approx(1)
