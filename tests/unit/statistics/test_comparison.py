import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st
from statsmodels.stats.weightstats import DescrStatsW

from mlflow_tfexec.statistics.comparison import compare, decide, launches_needed, simultaneous_confidence

INVERSE = {"slower": "faster", "faster": "slower", "equivalent": "equivalent", "undecided": "undecided"}

times_ns = st.floats(1e6, 1e9)
launch_series = st.lists(times_ns, min_size=6, max_size=6)
two_modes = st.integers(1, 4).flatmap(
    lambda launches: st.tuples(*[st.lists(launch_series, min_size=launches, max_size=launches)] * 2)
)


def at_95(rounds, a="a", b="b", margin=0.05):
    return compare(rounds, a, b, confidence=0.95, margin=margin)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.01, 0.30, "slower"),
        (-0.30, -0.01, "faster"),
        (-0.04, 0.04, "equivalent"),
        (0.01, 0.04, "equivalent"),
        (-0.06, 0.04, "undecided"),
        (-0.30, 0.30, "undecided"),
        (0.0, 0.30, "undecided"),
        (0.0, 0.0, "equivalent"),
        (math.log(1.05), math.log(1.05), "equivalent"),
        (-math.log(1.05), math.log(1.05), "equivalent"),
        (math.log(1.0501), math.log(1.0501), "slower"),
    ],
)
def test_the_verdict_follows_the_interval(low, high, verdict):
    assert decide((low + high) / 2, (high - low) / 2, margin=0.05) == verdict


def test_without_an_interval_nothing_is_decided():
    assert decide(0.7, None, margin=0.05) == "undecided"


@given(st.floats(-1, 1), st.floats(0, 1), st.floats(0, 0.5))
def test_the_verdict_agrees_with_its_definition_end_by_end(center, half_width, margin):
    low, high, tolerance = center - half_width, center + half_width, math.log1p(margin)
    assume(all(abs(abs(end) - border) > 1e-9 for end in (low, high) for border in (0, tolerance)))

    verdict = decide(center, half_width, margin=margin)

    assert (verdict == "equivalent") == (-tolerance < low and high < tolerance)
    if verdict != "equivalent":
        assert (verdict == "slower") == (low > 0)
        assert (verdict == "faster") == (high < 0)


def test_ratio_is_the_time_of_a_over_the_time_of_b(rounds_of):
    comparison = at_95(rounds_of({"a": [[200, 200], [200, 200]], "b": [[100, 100], [100, 100]]}))

    assert comparison.ratio == pytest.approx(2)
    assert (comparison.ci95_low, comparison.ci95_high) == pytest.approx((2, 2))
    assert comparison.verdict == "slower"


def test_interval_agrees_with_scipy_and_statsmodels(rounds_of):
    """One round per launch, so that the launch figures are the paired log ratios themselves."""
    a, b = [120.0, 130.0, 125.0, 118.0], [100.0, 104.0, 101.0, 99.0]
    rounds = rounds_of({"a": [[value] for value in a], "b": [[value] for value in b]})
    confidence = simultaneous_confidence(6)

    comparison = compare(rounds, "a", "b", confidence=confidence, margin=0.05)

    paired = scipy.stats.ttest_rel(np.log(a), np.log(b)).confidence_interval(confidence)
    ours = math.log(comparison.ci95_low), math.log(comparison.ci95_high)
    assert ours == pytest.approx((paired.low, paired.high), rel=1e-9)
    assert ours == pytest.approx(DescrStatsW(np.log(a) - np.log(b)).tconfint_mean(alpha=0.05 / 6), rel=1e-9)


def test_launch_figure_is_the_median_over_paired_rounds(rounds_of):
    """Differences per round are log 2, log 3, log 7: the median is log 3, though the median times give 2.5."""
    comparison = at_95(rounds_of({"a": [[20, 30, 70]] * 2, "b": [[10, 10, 10]] * 2}))
    crossed = at_95(rounds_of({"a": [[20, 45, 50]] * 2, "b": [[10, 15, 50]] * 2}))

    assert comparison.ratio == pytest.approx(3)
    assert crossed.ratio == pytest.approx(2)


def test_a_round_missing_in_one_mode_is_missing_in_the_pair(rounds_of):
    comparison = at_95(rounds_of({"a": [[20, math.nan, 20]] * 2, "b": [[10, 900, 10]] * 2}))

    assert comparison.ratio == pytest.approx(2)


def test_a_launch_missing_in_one_mode_is_missing_in_the_pair(rounds_of):
    rounds = rounds_of({"a": [[20.0], [20.0], [900.0]], "b": [[10.0], [10.0]]})

    assert at_95(rounds).ratio == pytest.approx(2)


def test_a_pair_never_measured_in_the_same_round_is_undecided(rounds_of):
    rounds = rounds_of({"a": [[20, math.nan], [20, math.nan]], "b": [[math.nan, 10], [math.nan, 10]]})

    comparison = at_95(rounds)

    assert comparison.ratio == pytest.approx(2)
    assert (comparison.ci95_low, comparison.ci95_high) == (None, None)
    assert (comparison.verdict, comparison.launches_needed) == ("undecided", None)


def test_a_pair_in_one_launch_of_several_has_no_interval(rounds_of):
    rounds = rounds_of({"a": [[20.0] * 8, [20.0] * 8], "b": [[10.0] * 8]})

    assert at_95(rounds).verdict == "undecided"


def test_one_launch_is_compared_over_its_rounds(rounds_of):
    comparison = at_95(rounds_of({"a": [[200, 202, 198, 201, 199, 200]], "b": [[100] * 6]}))

    assert comparison.ratio == pytest.approx(2)
    assert comparison.ci95_low < 2 < comparison.ci95_high
    assert comparison.verdict == "slower"


def test_few_rounds_of_one_launch_decide_little(rounds_of):
    """Six rounds are three blocks: a difference of 5 % is not beyond such scatter."""
    comparison = at_95(rounds_of({"a": [[101, 102, 103, 107, 108, 109]], "b": [[100] * 6]}))

    assert comparison.verdict == "undecided"


def test_one_launch_of_three_rounds_decides_nothing(rounds_of):
    comparison = at_95(rounds_of({"a": [[200, 200, 200]], "b": [[100, 100, 100]]}))

    assert (comparison.verdict, comparison.launches_needed) == ("undecided", None)


def test_drift_that_both_modes_share_cancels(rounds_of):
    """In each round the machine runs at another speed, for both alike."""
    speed = np.array([1.0, 1.3, 0.7, 2.0])
    steady = rounds_of({"a": [[12.0] * 4, [13.0] * 4], "b": [[10.0] * 4, [10.0] * 4]})
    drifting = rounds_of({"a": [12.0 * speed, 13.0 * speed], "b": [10.0 * speed, 10.0 * speed]})

    assert at_95(drifting).ratio == pytest.approx(at_95(steady).ratio)
    assert at_95(drifting).ci95_low == pytest.approx(at_95(steady).ci95_low)


def test_many_rounds_in_one_launch_do_not_stand_in_for_launches(rounds_of):
    """Two launches that disagree leave the pair open, however exact each of them is."""
    rounds = rounds_of({"a": [[100.0] * 500, [120.0] * 500], "b": [[100.0] * 500, [100.0] * 500]})

    assert at_95(rounds).verdict == "undecided"


def test_an_interval_too_wide_for_numbers_is_none(rounds_of):
    rounds = rounds_of({"a": [[1e-150], [1e150]], "b": [[1.0], [1.0]]})

    comparison = at_95(rounds)

    assert (comparison.ci95_low, comparison.ci95_high, comparison.verdict) == (None, None, "undecided")


@pytest.mark.parametrize(("pairs", "confidence"), [(0, 0.95), (1, 0.95), (6, 0.9916666666666667), (10, 0.995)])
def test_confidence_is_shared_among_the_pairs(pairs, confidence):
    assert simultaneous_confidence(pairs) == pytest.approx(confidence, rel=1e-12)


def test_launches_needed_is_the_first_number_that_decides():
    """Mean 0, sd 0.02: the half width must fall to log 1.05. t(0.975; n - 1) * 0.02 / sqrt(n) does so at n = 4."""
    ratios = np.array([-0.02, 0.0, 0.02])

    assert launches_needed(ratios, confidence=0.95, margin=0.05) == 4
    at_three, at_four = (scipy.stats.t.ppf(0.975, n - 1) * 0.02 / math.sqrt(n) for n in (3, 4))
    assert at_four < math.log(1.05) < at_three


def test_launches_needed_may_end_in_a_difference():
    """Mean 0.1, sd 0.1: no longer undecided once the interval excludes 0."""
    ratios = np.array([0.0, 0.1, 0.2])
    expected = next(n for n in range(4, 101) if scipy.stats.t.ppf(0.975, n - 1) * 0.1 / math.sqrt(n) < 0.1)

    assert launches_needed(ratios, confidence=0.95, margin=0.05) == expected == 7


def test_launches_needed_is_always_more_than_there_are(rounds_of):
    comparison = at_95(rounds_of({"a": [[100.0], [120.0], [101.0]], "b": [[100.0]] * 3}))

    assert comparison.verdict == "undecided"
    assert comparison.launches_needed > 3


def test_launches_needed_beyond_a_hundred_are_not_foreseen():
    assert launches_needed(np.array([-1.0, 1.0]), confidence=0.95, margin=0.05) is None


@pytest.mark.parametrize("ratios", [[], [0.3]])
def test_launches_needed_is_unknown_with_one_launch(ratios):
    assert launches_needed(np.array(ratios), confidence=0.95, margin=0.05) is None


def test_a_decided_pair_needs_no_launches(rounds_of):
    assert at_95(rounds_of({"a": [[200.0], [200.0]], "b": [[100.0], [100.0]]})).launches_needed is None


def away_from_every_edge(comparison):
    """Say whether no end of the interval is so near a border that rounding could carry it over."""
    if comparison.ci95_low is None:
        return True
    ends = math.log(comparison.ci95_low), math.log(comparison.ci95_high)
    borders = 0, math.log(1.05), -math.log(1.05)
    return all(abs(end - border) > 1e-6 for end in ends for border in borders)


@given(two_modes)
def test_swapping_the_modes_inverts_the_comparison(rounds_of, series):
    rounds = rounds_of({"a": series[0], "b": series[1]})
    forth, back = at_95(rounds, "a", "b"), at_95(rounds, "b", "a")
    assume(away_from_every_edge(forth))

    assert forth.ratio * back.ratio == pytest.approx(1)
    assert back.ci95_high == pytest.approx(1 / forth.ci95_low)
    assert back.verdict == INVERSE[forth.verdict]
    assert back.launches_needed == forth.launches_needed


@given(two_modes, st.floats(1e-3, 1e3))
def test_scaling_all_times_changes_no_ratio(rounds_of, series, factor):
    a, b = np.array(series[0]), np.array(series[1])
    comparison = at_95(rounds_of({"a": a, "b": b}))
    scaled = at_95(rounds_of({"a": a * factor, "b": b * factor}))
    assume(away_from_every_edge(comparison))

    assert scaled.ratio == pytest.approx(comparison.ratio)
    assert scaled.ci95_low == pytest.approx(comparison.ci95_low)
    assert scaled.verdict == comparison.verdict


@given(two_modes)
def test_a_mode_is_never_called_different_from_its_own_copy(rounds_of, series):
    comparison = at_95(rounds_of({"a": series[0], "b": series[0]}))

    assert comparison.ratio == 1
    assert comparison.verdict == "equivalent"
