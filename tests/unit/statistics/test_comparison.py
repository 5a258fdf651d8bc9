import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st

from mlflow_tfexec.statistics.comparison import compare_all, compare_pair, decide, launches_needed
from mlflow_tfexec.statistics.family import Claim
from mlflow_tfexec.statistics.moderation import Variance


def at_95(rounds, a="a", b="b", margin=0.05):
    return compare_pair(rounds, a, b, error=0.05, margin=margin)


def claim(low, high):
    """Claim an interval of a log ratio, and a difference where 0 lies outside."""
    return Claim((low + high) / 2, (high - low) / 2, differs=low > 0 or high < 0)


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
    assert decide(claim(low, high), margin=0.05) == verdict


@pytest.mark.parametrize(("center", "verdict"), [(0.2, "slower"), (-0.2, "faster")])
def test_a_difference_found_step_by_step_needs_no_interval_that_excludes_0(center, verdict):
    assert decide(Claim(center, 0.3, differs=True), margin=0.05) == verdict
    assert decide(Claim(center, 0.3, differs=False), margin=0.05) == "undecided"


def test_without_an_interval_nothing_is_decided():
    assert decide(Claim(0.7, None, differs=True), margin=0.05) == "undecided"


@given(st.floats(-1, 1), st.floats(0, 1), st.floats(0, 0.5))
def test_the_verdict_agrees_with_its_definition_end_by_end(center, half_width, margin):
    low, high, tolerance = center - half_width, center + half_width, math.log1p(margin)
    assume(all(abs(abs(end) - border) > 1e-9 for end in (low, high) for border in (0, tolerance)))

    verdict = decide(claim(low, high), margin=margin)

    assert (verdict == "equivalent") == (-tolerance < low and high < tolerance)
    if verdict != "equivalent":
        assert (verdict == "slower") == (low > 0)
        assert (verdict == "faster") == (high < 0)


def test_ratio_is_the_time_of_a_over_the_time_of_b(rounds_of):
    comparison = at_95(rounds_of({"a": [[200, 200], [200, 200]], "b": [[100, 100], [100, 100]]}))

    assert comparison.ratio == pytest.approx(2)
    assert (comparison.ci95_low, comparison.ci95_high) == pytest.approx((2, 2))
    assert comparison.verdict == "slower"


def test_every_two_modes_are_compared_once_in_the_order_given(rounds_of):
    rounds = rounds_of({mode: [[10.0], [10.0]] for mode in "abcd"})

    comparisons = compare_all(rounds, ["c", "a", "d"], error=0.05, margin=0.05)

    assert [(c.a, c.b) for c in comparisons] == [("c", "a"), ("c", "d"), ("a", "d")]


@pytest.mark.parametrize("ranked", [[], ["a"]])
def test_fewer_than_two_modes_have_no_comparison(rounds_of, ranked):
    assert compare_all(rounds_of({"a": [[10.0], [10.0]]}), ranked, error=0.05, margin=0.05) == ()


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


def test_a_pair_without_an_interval_competes_for_the_error_all_the_same(rounds_of):
    """Three pairs, of which two are in one launch of three: the third still has a third of the error, and no loan."""
    rounds = rounds_of({"a": [[20.0], [21.0], [22.0]], "b": [[10.0], [10.0], [10.0]], "late": [[15.0]]})

    shown, *others = compare_all(rounds, ["a", "b", "late"], error=0.05, margin=0.05)

    logs = np.log([2.0, 2.1, 2.2])
    low, high = scipy.stats.t.interval(1 - 0.05 / 3, 2, logs.mean(), scipy.stats.sem(logs))
    assert (shown.ci95_low, shown.ci95_high) == pytest.approx((math.exp(low), math.exp(high)))
    assert [(c.ci95_low, c.ci95_high, c.verdict) for c in others] == [(None, None, "undecided")] * 2


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


FOUR = {
    "a": [101.0, 106.0, 107.0],
    "b": [100.0, 104.0, 101.0],
    "c": [98.0, 101.0, 102.0],
    "d": [97.0, 100.0, 104.0],
}


def test_intervals_of_four_modes_are_bonferronis_after_moderation(rounds_of):
    """One round per launch, six pairs; two modes beyond each pair lend one degree of freedom to the pair's own two."""
    rounds = rounds_of({mode: [[time] for time in times] for mode, times in FOUR.items()})

    comparisons = compare_all(rounds, list("abcd"), error=0.05, margin=0.05)

    logs = {pair: np.log(FOUR[pair[0]]) - np.log(FOUR[pair[1]]) for pair in itertools.combinations("abcd", 2)}
    pooled = float(np.mean([np.var(differences, ddof=1) for differences in logs.values()]))
    for comparison in comparisons:
        own = logs[comparison.a, comparison.b]
        error = math.sqrt((1 * pooled + 2 * np.var(own, ddof=1)) / 3 / 3)
        low, high = scipy.stats.t.interval(1 - 0.05 / 6, 3, own.mean(), error)
        assert comparison.ratio == pytest.approx(math.exp(own.mean()))
        assert (math.log(comparison.ci95_low), math.log(comparison.ci95_high)) == pytest.approx((low, high))


def test_a_pair_apart_neither_borrows_nor_shares_the_error(rounds_of):
    """The control and modes with other outputs: what the ranked modes scatter is none of their business."""
    noisy = {mode: [[time] for time in times] for mode, times in FOUR.items()}

    alone = compare_pair(rounds_of({mode: noisy[mode] for mode in "ab"}), "a", "b", error=0.05, margin=0.05)

    assert compare_pair(rounds_of(noisy), "a", "b", error=0.05, margin=0.05) == alone


def foreseen(center, std, launches, *, borrowed=0.0, confidence=0.95, margin=0.05):
    variance = Variance(std**2, launches - 1 + borrowed)
    return launches_needed(center, variance, launches, confidence=confidence, margin=margin)


def test_launches_needed_is_the_first_number_that_decides():
    """Mean 0, sd 0.02: the half width must fall to log 1.05. t(0.975; n - 1) * 0.02 / sqrt(n) does so at n = 4."""
    assert foreseen(0.0, 0.02, 3) == 4
    at_three, at_four = (scipy.stats.t.ppf(0.975, n - 1) * 0.02 / math.sqrt(n) for n in (3, 4))
    assert at_four < math.log(1.05) < at_three


def test_launches_needed_may_end_in_a_difference():
    """Mean 0.1, sd 0.1: no longer undecided once the interval excludes 0."""
    expected = next(n for n in range(4, 101) if scipy.stats.t.ppf(0.975, n - 1) * 0.1 / math.sqrt(n) < 0.1)

    assert foreseen(0.1, 0.1, 3) == expected == 7


def test_borrowed_degrees_of_freedom_are_borrowed_in_the_future_too():
    """At 99.5 %, two launches more with two degrees beside their own; with the own alone, four more."""
    expected = {
        borrowed: next(
            n
            for n in range(4, 101)
            if scipy.stats.t.ppf(0.9975, n - 1 + borrowed) * 0.02 / math.sqrt(n) < math.log(1.05)
        )
        for borrowed in (0, 2)
    }

    assert {borrowed: foreseen(0.0, 0.02, 3, borrowed=borrowed, confidence=0.995) for borrowed in (0, 2)} == expected
    assert expected[2] < expected[0]


@given(st.floats(-0.3, 0.3), st.floats(0.001, 0.3), st.integers(2, 20), st.floats(0, 3))
def test_launches_needed_decide_and_one_launch_less_does_not(center, std, launches, borrowed):
    needed = foreseen(center, std, launches, borrowed=borrowed)

    def verdict(n):
        width = float(scipy.stats.t.ppf(0.975, n - 1 + borrowed)) * std / math.sqrt(n)
        return decide(Claim(center, width, differs=abs(center) > width), margin=0.05)

    if needed is None:
        assert verdict(100) == "undecided"
    else:
        assert launches < needed <= 100
        assert verdict(needed) != "undecided"
        assert needed == launches + 1 or verdict(needed - 1) == "undecided"


def test_launches_needed_beyond_a_hundred_are_not_foreseen():
    assert foreseen(0.0, 1.4, 2) is None


def test_launches_foreseen_have_the_whole_error_of_a_benchmark_without_looks(rounds_of):
    """A first look at 1 % leaves open what four launches, planned in advance, decide at 5 %."""
    rounds = rounds_of({"a": [[math.exp(v)] for v in (-0.02, 0.0, 0.02)], "b": [[1.0]] * 3})

    comparison = compare_pair(rounds, "a", "b", error=0.01, margin=0.05)

    assert (comparison.verdict, comparison.launches_needed) == ("undecided", 4)


def test_launches_foreseen_share_the_error_and_borrow_as_the_pairs_do(rounds_of):
    rounds = rounds_of({mode: [[time] for time in times] for mode, times in FOUR.items()})
    figures = {pair: np.log(FOUR[pair[0]]) - np.log(FOUR[pair[1]]) for pair in itertools.combinations("abcd", 2)}
    pooled = float(np.mean([np.var(own, ddof=1) for own in figures.values()]))

    for comparison in compare_all(rounds, list("abcd"), error=0.05, margin=0.05):
        own = figures[comparison.a, comparison.b]
        center, variance = abs(own.mean()), (pooled + 2 * np.var(own, ddof=1)) / 3
        widths = {n: scipy.stats.t.ppf(1 - 0.05 / 12, n) * math.sqrt(variance / n) for n in range(4, 101)}
        needed = [n for n, width in widths.items() if width < center or center + width <= math.log(1.05)]
        assert comparison.launches_needed == needed[0]


def test_a_decided_pair_needs_no_launches(rounds_of):
    assert at_95(rounds_of({"a": [[200.0], [200.0]], "b": [[100.0], [100.0]]})).launches_needed is None


def test_a_single_launch_foresees_no_launches(rounds_of):
    comparison = at_95(rounds_of({"a": [[101, 102, 103, 107, 108, 109]], "b": [[100] * 6]}))

    assert (comparison.verdict, comparison.launches_needed) == ("undecided", None)
