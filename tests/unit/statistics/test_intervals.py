import math
import statistics

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.weightstats import DescrStatsW

from mlflow_tfexec.statistics import intervals
from mlflow_tfexec.statistics.intervals import block_length, factors, launch_half_width, round_half_width

LAUNCHES = [0.31, 0.35, 0.29, 0.40, 0.33]


@pytest.mark.parametrize("confidence", [0.95, 1 - 0.05 / 6])
def test_interval_over_launches_agrees_with_scipy(confidence):
    low, high = scipy.stats.t.interval(confidence, 4, np.mean(LAUNCHES), scipy.stats.sem(LAUNCHES))

    assert launch_half_width(LAUNCHES, confidence=confidence) == pytest.approx((high - low) / 2, rel=1e-12)


def test_interval_over_launches_agrees_with_statsmodels():
    low, high = DescrStatsW(LAUNCHES).tconfint_mean(alpha=0.05)

    assert launch_half_width(LAUNCHES, confidence=0.95) == pytest.approx((high - low) / 2, rel=1e-12)


def test_two_launches_use_the_table_value_12_706():
    """Standard error 0.1, one degree of freedom."""
    assert launch_half_width([0.9, 1.1], confidence=0.95) == pytest.approx(1.2706, abs=1e-4)


@pytest.mark.parametrize("values", [[], [0.3]])
def test_one_launch_has_no_interval_over_launches(values):
    assert launch_half_width(values, confidence=0.95) is None


def test_equal_launches_give_an_interval_of_no_width():
    assert launch_half_width([0.25, 0.25, 0.25], confidence=0.95) == 0


def test_factors_are_the_exponentials_of_both_ends():
    assert factors(math.log(6), math.log(2)) == pytest.approx((3, 12))


def test_factors_of_no_interval_are_none():
    assert factors(0.5, None) is None


@pytest.mark.parametrize("half_width", [701, 1e9, math.inf])
def test_factors_too_large_for_a_number_are_none(half_width):
    assert factors(0.0, half_width) is None


@pytest.mark.parametrize(("rounds", "length"), [(4, 2), (10, 2), (27, 3), (64, 4), (200, 6)])
def test_block_length_grows_with_the_cube_root_of_the_rounds(rounds, length):
    assert block_length(rounds) == length


@pytest.mark.parametrize("rounds", [0, 1, 5])
def test_fewer_than_six_rounds_have_no_interval(rounds):
    assert round_half_width(np.arange(float(rounds)), confidence=0.95) is None


def test_the_same_series_always_gives_the_same_interval():
    series = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0])

    assert round_half_width(series, confidence=0.95) == round_half_width(series.copy(), confidence=0.95)


def test_equal_rounds_give_an_interval_of_no_width():
    assert round_half_width(np.full(10, 0.25), confidence=0.95) == 0


def test_the_bootstrap_draws_whole_stretches_of_rounds():
    rounds, length = 29, 3

    drawn = intervals._drawn_rounds(intervals._block_starts(rounds)[:500], rounds)

    assert drawn.shape == (500, rounds)
    assert drawn.min() >= 0
    assert drawn.max() == rounds - 1
    steps = np.diff(drawn, axis=1)
    inside = [step for step in range(rounds - 1) if step % length != length - 1]
    assert (steps[:, inside] == 1).all()
    assert (steps[:, length - 1 :: length] != 1).any()


def test_interval_over_rounds_agrees_with_a_slow_plain_one():
    """The same draws, with the standard library and SciPy's quantile: eleven rounds are six blocks of two."""
    series = [float(value) for value in np.random.default_rng(1).normal(size=11)]
    medians = [
        statistics.median([series[start + step] for start in starts for step in range(2)][:11])
        for starts in intervals._block_starts(11).tolist()
    ]
    expected = scipy.stats.t.ppf(0.975, 5) * statistics.stdev(medians) * math.sqrt(6 / 5)

    assert round_half_width(np.array(series), confidence=0.95) == pytest.approx(expected, rel=1e-9)


def test_interval_over_rounds_is_near_the_textbooks_where_rounds_are_independent():
    """The median of many normal values has a standard error of sqrt(pi / 2) / sqrt(n)."""
    widths = [round_half_width(np.random.default_rng(seed).normal(size=200), confidence=0.95) for seed in range(8)]

    assert statistics.fmean(widths) == pytest.approx(1.96 * math.sqrt(math.pi / 2 / 200), rel=0.2)


def test_rounds_that_resemble_their_neighbours_widen_the_interval():
    """The same numbers, once in a slow wave and once shuffled: the wave holds less information."""
    wave = np.sin(np.linspace(0, 4 * math.pi, 125)) + np.random.default_rng(4).normal(scale=0.05, size=125)
    shuffled = np.random.default_rng(5).permutation(wave)

    assert round_half_width(wave, confidence=0.95) > 1.3 * round_half_width(shuffled, confidence=0.95)


def test_a_long_series_is_resampled_in_pieces_with_the_same_result(monkeypatch):
    series = np.random.default_rng(6).normal(size=50)
    whole = round_half_width(series, confidence=0.95)

    monkeypatch.setattr(intervals, "_CHUNK", 7 * 50)

    assert round_half_width(series, confidence=0.95) == whole


def test_ten_independent_rounds_cover_the_truth_as_often_as_promised(monkeypatch):
    """The quick preset's case; percentiles of the resamples cover it in some 84 % only."""
    monkeypatch.setattr(intervals, "RESAMPLES", 500)
    generator = np.random.default_rng(8)
    sessions = 400
    covered = 0
    for _ in range(sessions):
        series = generator.normal(size=10)
        covered += abs(float(np.median(series))) <= round_half_width(series, confidence=0.95)

    assert covered / sessions >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / sessions)


@given(st.lists(st.floats(-1, 1), min_size=6, max_size=12))
def test_the_interval_of_the_inverse_is_as_wide(values):
    series = np.array(values)

    assert round_half_width(-series, confidence=0.99) == pytest.approx(
        round_half_width(series, confidence=0.99), rel=1e-9, abs=1e-12
    )


@given(st.lists(st.floats(-1, 1), min_size=6, max_size=12))
def test_more_confidence_never_narrows_an_interval(values):
    for half_width in (launch_half_width, round_half_width):
        assert half_width(np.array(values), confidence=0.995) >= half_width(np.array(values), confidence=0.95)
