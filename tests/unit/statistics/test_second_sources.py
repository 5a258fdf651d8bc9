"""Whole comparisons against other programs: scipy's and statsmodels' t, statsmodels' TOST, and moderation by hand."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st
from statsmodels.stats.weightstats import DescrStatsW, ttost_paired

from mlflow_tfexec.statistics.comparison import compare_all, compare_pair
from mlflow_tfexec.statistics.rounds import Rounds

A = [120.0, 130.0, 125.0, 118.0]
B = [100.0, 104.0, 101.0, 99.0]


def one_round_per_launch(**times):
    """So that the launch figures are the paired log ratios themselves."""
    series = {
        mode: {launch: np.array([time]) for launch, time in enumerate(of_mode)} for mode, of_mode in times.items()
    }
    return Rounds(medians_ns=series, calls_ns={})


def in_a_ranking(rounds, *, error, margin=0.05):
    (comparison,) = compare_all(rounds, ["a", "b"], error=error, margin=margin)
    return comparison


def by_itself(rounds, *, error, margin=0.05):
    return compare_pair(rounds, "a", "b", error=error, margin=margin)


@pytest.mark.parametrize("compared", [in_a_ranking, by_itself])
@pytest.mark.parametrize("error", [0.05, 0.04, 0.01, 0.05 / 6])
def test_intervals_of_two_modes_are_the_paired_t_of_scipy_and_statsmodels(compared, error):
    comparison = compared(one_round_per_launch(a=A, b=B), error=error)

    paired = scipy.stats.ttest_rel(np.log(A), np.log(B)).confidence_interval(1 - error)
    ours = math.log(comparison.ci95_low), math.log(comparison.ci95_high)
    assert ours == pytest.approx((paired.low, paired.high), rel=1e-9)
    assert ours == pytest.approx(DescrStatsW(np.log(A) - np.log(B)).tconfint_mean(alpha=error), rel=1e-9)
    assert comparison.ratio == pytest.approx(scipy.stats.gmean(A) / scipy.stats.gmean(B))


def drawn_pairs(number):
    """Two to eight launches of two modes up to a tenth apart, from quiet to noisy."""
    generator = np.random.default_rng(1987)
    for _ in range(number):
        launches = int(generator.integers(2, 9))
        scatter = math.exp(generator.uniform(math.log(0.002), math.log(0.1)))
        a, b = np.exp(generator.normal(scale=scatter, size=(2, launches)))
        yield a * math.exp(generator.uniform(-0.1, 0.1)), b


@pytest.mark.parametrize(("error", "margin"), [(0.05, 0.05), (0.01, 0.05), (0.04, 0.1)])
def test_equivalent_is_schuirmanns_two_one_sided_tests_at_half_the_error_each(error, margin):
    """Westlake's interval of confidence 1 - error, symmetric around the estimate, lies inside the margin exactly where
    both one-sided tests reject at error / 2."""
    seen = set()
    for a, b in drawn_pairs(300):
        comparison = in_a_ranking(one_round_per_launch(a=a, b=b), error=error, margin=margin)

        p, *_ = ttost_paired(a, b, 1 / (1 + margin), 1 + margin, transform=np.log)

        assert (comparison.verdict == "equivalent") == (p <= error / 2)
        seen.add(comparison.verdict)
    assert seen == {"slower", "faster", "equivalent", "undecided"}


def test_slower_and_faster_are_scipys_paired_t_test():
    for a, b in drawn_pairs(300):
        comparison = in_a_ranking(one_round_per_launch(a=a, b=b), error=0.05)

        test = scipy.stats.ttest_rel(np.log(a), np.log(b))

        if comparison.verdict != "equivalent":
            expected = "undecided" if test.pvalue > 0.05 else "slower" if test.statistic > 0 else "faster"
            assert comparison.verdict == expected


@given(st.integers(0, 10_000), st.integers(3, 6), st.integers(2, 6))
def test_moderated_intervals_and_holm_agree_with_a_plain_recalculation(seed, modes, launches):
    """Modes of like noise: Smyth's variances, scipy's t, Bonferroni's intervals and Holm's steps, each written out."""
    names = "abcdef"[:modes]
    times = np.exp(np.random.default_rng(seed).normal(scale=0.03, size=(modes, launches)))
    logs = {pair: np.log(times[names.index(pair[0])] / times[names.index(pair[1])]) for pair in pairs_of(names)}
    own = {pair: float(np.var(figures, ddof=1)) for pair, figures in logs.items()}
    assume(all_alike(own, names, launches))
    prior_degrees, degrees = 0.5 * (modes - 2), launches - 1
    prior = sum(own.values()) / len(own)

    comparisons = compare_all(
        one_round_per_launch(**dict(zip(names, times, strict=True))), list(names), error=0.05, margin=0.0
    )

    total = prior_degrees + degrees
    errors = {
        pair: math.sqrt((prior_degrees * prior + degrees * variance) / total / launches)
        for pair, variance in own.items()
    }
    p_values = {pair: 2 * scipy.stats.t.sf(abs(logs[pair].mean()) / errors[pair], total) for pair in own}
    clearest_first = sorted(own, key=p_values.get)
    differs = list(
        itertools.takewhile(
            lambda pair: p_values[pair] <= 0.05 / (len(own) - clearest_first.index(pair)), clearest_first
        )
    )
    for comparison in comparisons:
        pair = comparison.a, comparison.b
        low, high = scipy.stats.t.interval(1 - 0.05 / len(own), total, logs[pair].mean(), errors[pair])
        assert (comparison.verdict != "undecided") == (pair in differs)
        if pair in differs:
            low, high = (max(low, 0), high) if logs[pair].mean() > 0 else (low, min(high, 0))
        assert (comparison.ci95_low, comparison.ci95_high) == pytest.approx((math.exp(low), math.exp(high)), rel=1e-9)


def pairs_of(names):
    return list(itertools.combinations(names, 2))


def all_alike(variances, names, launches):
    """Say whether the noise of no mode lies beyond the 95 % quantile of F above the middle one."""
    noise = [float(np.median([v for pair, v in variances.items() if mode in pair])) for mode in names]
    degrees = launches - 1
    limit = scipy.stats.f.ppf(0.95, degrees, degrees * (len(names) - 1))
    return max(noise) <= limit * np.median(noise)
