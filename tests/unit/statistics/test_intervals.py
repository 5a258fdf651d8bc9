import math
import statistics

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.weightstats import DescrStatsW

from mlflow_tfexec.statistics import intervals
from mlflow_tfexec.statistics.dependence import autocorrelation, optimal_block_length
from mlflow_tfexec.statistics.intervals import (
    Spread,
    block_length,
    factors,
    half_width,
    launch_half_width,
    launch_spread,
    round_half_width,
    round_spread,
)

LAUNCHES = [0.31, 0.35, 0.29, 0.40, 0.33]


def autoregression(generator, rounds, rho):
    """Draw a stationary series whose autocorrelation at lag k is rho^k."""
    noise = generator.normal(size=rounds)
    values = [noise[0] / math.sqrt(1 - rho**2)]
    for shock in noise[1:]:
        values.append(rho * values[-1] + shock)
    return np.array(values)


@pytest.mark.parametrize(("freedom", "confidence"), [(4, 0.95), (2.5, 0.99), (29, 1 - 0.05 / 6)])
def test_half_width_is_students_quantile_of_the_standard_error(freedom, confidence):
    expected = 0.03 * scipy.stats.t.ppf(0.5 + confidence / 2, freedom)

    assert half_width(Spread(0.03, freedom), confidence=confidence) == pytest.approx(expected, rel=1e-9)


def test_spread_over_launches_is_the_standard_error_of_their_mean():
    spread = launch_spread(LAUNCHES)

    assert spread.standard_error == pytest.approx(scipy.stats.sem(LAUNCHES), rel=1e-12)
    assert spread.degrees_of_freedom == 4


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
    assert launch_spread(values) is None
    assert launch_half_width(values, confidence=0.95) is None


def test_equal_launches_give_an_interval_of_no_width():
    assert launch_spread([0.1] * 3) == Spread(0.0, 2)
    assert launch_half_width([0.1] * 3, confidence=0.95) == 0


def test_factors_are_the_exponentials_of_both_ends():
    assert factors(math.log(6), math.log(2)) == pytest.approx((3, 12))


def test_factors_of_no_interval_are_none():
    assert factors(0.5, None) is None


@pytest.mark.parametrize("half_width", [701, 1e9, math.inf])
def test_factors_too_large_for_a_number_are_none(half_width):
    assert factors(0.0, half_width) is None


@pytest.mark.parametrize(("estimate", "length"), [(0.3, 2), (2.4, 2), (4.6, 5), (10.2, 10), (17.0, 10)])
def test_blocks_have_the_estimated_length_from_two_rounds_up_to_a_third_of_thirty(monkeypatch, estimate, length):
    monkeypatch.setattr(intervals, "optimal_block_length", lambda series: estimate)

    assert block_length(np.arange(30.0)) == length


@pytest.mark.parametrize(("rounds", "length"), [(6, 2), (8, 2), (9, 3), (10, 3), (29, 9)])
def test_a_slow_wave_still_leaves_three_blocks(monkeypatch, rounds, length):
    monkeypatch.setattr(intervals, "optimal_block_length", lambda series: 1000.0)

    assert block_length(np.arange(float(rounds))) == length


def test_block_length_is_estimated_from_the_series_itself():
    wave = autoregression(np.random.default_rng(9), 200, 0.9)

    assert block_length(wave) == round(optimal_block_length(wave)) > 8
    assert block_length(np.random.default_rng(5).permutation(wave)) < 5


@pytest.mark.parametrize("rounds", [0, 1, 5])
def test_fewer_than_six_rounds_have_no_interval(rounds):
    assert round_spread(np.arange(float(rounds))) is None
    assert round_half_width(np.arange(float(rounds)), confidence=0.95) is None


def test_interval_over_rounds_is_the_half_width_of_their_spread():
    series = np.random.default_rng(2).normal(size=12)

    assert round_half_width(series, confidence=0.99) == half_width(round_spread(series), confidence=0.99)


def test_the_same_series_always_gives_the_same_interval():
    series = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0])

    assert round_half_width(series, confidence=0.95) == round_half_width(series.copy(), confidence=0.95)


def test_equal_rounds_give_an_interval_of_no_width():
    assert round_spread(np.full(10, 0.1)) == Spread(0.0, 4.0)
    assert round_half_width(np.full(10, 0.1), confidence=0.95) == 0


def test_the_bootstrap_draws_whole_stretches_of_rounds():
    rounds, length = 29, 3

    drawn = intervals._drawn_rounds(intervals._block_starts(rounds, length)[:500], rounds, length)

    assert drawn.shape == (500, rounds)
    assert drawn.min() >= 0
    assert drawn.max() == rounds - 1
    steps = np.diff(drawn, axis=1)
    inside = [step for step in range(rounds - 1) if step % length != length - 1]
    assert (steps[:, inside] == 1).all()
    assert (steps[:, length - 1 :: length] != 1).any()


@pytest.mark.parametrize(("seed", "rho"), [(1, 0), (2, 0.9)])
def test_spread_over_rounds_agrees_with_a_slow_plain_one(seed, rho):
    """The same draws with the standard library; the share that blocks catch as the sums of its definition."""
    series = autoregression(np.random.default_rng(seed), 25, rho)
    length = block_length(series)
    medians = [
        statistics.median([float(series[start + step]) for start in starts for step in range(length)][:25])
        for starts in intervals._block_starts(25, length).tolist()
    ]
    rho = min(0.9, max(0.0, (25 * autocorrelation([series]) + 1) / 21))
    caught = 1 + 2 * sum((1 - lag / length) * rho**lag for lag in range(1, length))
    share = caught / (1 + 2 * sum(rho**lag for lag in range(1, 500)))
    blocks = 25 / length

    spread = round_spread(series)

    assert spread.degrees_of_freedom == pytest.approx(blocks - 1)
    expected = statistics.stdev(medians) * math.sqrt(blocks / (blocks - 1) / share)
    assert spread.standard_error == pytest.approx(expected, rel=1e-9)


def test_alternating_rounds_do_not_narrow_the_interval():
    series = np.array([1.0, -1.0] * 5) + np.random.default_rng(3).normal(scale=0.1, size=10)

    assert autocorrelation([series]) < -0.5
    assert intervals._caught_share(series, 2) == 1


def test_a_trend_counts_as_an_autocorrelation_of_nine_tenths():
    """Blocks of two catch (1 + 0.9) / (1 + 2 · 9) of it."""
    assert intervals._caught_share(np.arange(30.0), 2) == pytest.approx(1.9 / 19)


def test_blocks_of_equal_rounds_miss_nothing():
    assert intervals._caught_share(np.full(10, 0.1), 2) == 1


@pytest.mark.parametrize("rounds", [10, 200])
def test_other_draws_change_the_standard_error_by_two_percent(monkeypatch, rounds):
    errors = []
    series = np.random.default_rng(7).normal(size=rounds)
    for seed in range(30):
        monkeypatch.setattr(intervals, "_SEED", seed)
        errors.append(round_spread(series).standard_error)

    assert statistics.stdev(errors) / statistics.fmean(errors) < 0.025


def test_interval_over_rounds_is_near_the_textbooks_where_rounds_are_independent():
    """The median of many normal values has a standard error of sqrt(pi / 2) / sqrt(n)."""
    errors = [round_spread(np.random.default_rng(seed).normal(size=200)).standard_error for seed in range(12)]

    assert statistics.fmean(errors) == pytest.approx(math.sqrt(math.pi / 2 / 200), rel=0.15)


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


@pytest.mark.parametrize(("rho", "rounds"), [(0, 10), (0, 20), (0.5, 10), (0.5, 20)])
def test_ten_and_twenty_rounds_cover_the_truth_as_often_as_promised(monkeypatch, rho, rounds):
    """The presets' cases. Percentiles of the resamples cover it in some 84 % of ten independent rounds only."""
    monkeypatch.setattr(intervals, "RESAMPLES", 400)
    generator = np.random.default_rng(8)
    launches = 400
    covered = 0
    for _ in range(launches):
        series = autoregression(generator, rounds, rho)
        covered += abs(float(np.median(series))) <= round_half_width(series, confidence=0.95)

    assert covered / launches >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / launches)


@given(st.lists(st.floats(-1, 1), min_size=6, max_size=12))
def test_the_spread_of_the_inverse_is_the_same_to_the_last_bit(values):
    assert round_spread(-np.array(values)) == round_spread(np.array(values))


@given(st.lists(st.floats(-1, 1), min_size=6, max_size=12))
def test_more_confidence_never_narrows_an_interval(values):
    for width_of in (launch_half_width, round_half_width):
        assert width_of(np.array(values), confidence=0.995) >= width_of(np.array(values), confidence=0.95)
