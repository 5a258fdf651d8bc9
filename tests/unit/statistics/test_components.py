import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st
from statsmodels.regression.mixed_linear_model import MixedLM

from mlflow_tfexec.statistics.components import Components, optimal_rounds, variance_components

BALANCED = [
    np.array([1.2, 0.7, 1.9, 1.1]),
    np.array([3.1, 2.2, 2.9, 3.4]),
    np.array([0.1, -0.6, 0.4, 0.9]),
    np.array([2.0, 1.1, 1.4, 2.3]),
    np.array([4.2, 3.0, 3.9, 3.1]),
]

log_ratios = st.floats(-1, 1).map(lambda value: round(value, 6))
designs = st.lists(st.lists(log_ratios, min_size=1, max_size=6).map(np.array), min_size=2, max_size=5).filter(
    lambda series: any(len(launch) > 1 for launch in series)
)
variances = st.floats(1e-8, 1.0)
costs_s = st.floats(1e-3, 1e4)


def test_components_of_two_launches_by_hand():
    """Means 1 and 11: S1² = 2, S2² = 50, T2² = 50 - 2/2."""
    components = variance_components([np.array([0.0, 2.0]), np.array([10.0, 12.0])])

    assert (components.within, components.between) == pytest.approx((2.0, 49.0), rel=1e-12)


def test_components_of_unequal_launches_by_hand():
    """Squares 2 and 2 over 3 degrees of freedom; means 1 and 9; the harmonic mean of 2 and 3 rounds is 2.4."""
    components = variance_components([np.array([0.0, 2.0]), np.array([8.0, 9.0, 10.0])])

    assert components.within == pytest.approx(4 / 3, rel=1e-12)
    assert components.between == pytest.approx(32 - (4 / 3) / 2.4, rel=1e-12)


def test_components_agree_with_a_mixed_model_fitted_by_reml():
    values, groups = np.concatenate(BALANCED), np.repeat(np.arange(5), 4)
    fit = MixedLM(values, np.ones(len(values)), groups).fit(reml=True)

    components = variance_components(BALANCED)

    assert components.within == pytest.approx(fit.scale, rel=1e-4)
    assert components.between == pytest.approx(float(fit.cov_re[0, 0]), rel=1e-4)


def test_components_give_the_f_of_one_way_analysis_of_variance():
    """The expected mean squares are within + rounds * between, and within."""
    components = variance_components(BALANCED)

    ratio = (components.within + 4 * components.between) / components.within
    assert ratio == pytest.approx(scipy.stats.f_oneway(*BALANCED).statistic, rel=1e-12)


@pytest.mark.parametrize("sizes", [(4, 4, 4), (2, 5, 9), (1, 3, 2)])
def test_both_estimates_are_unbiased_whatever_the_numbers_of_rounds(sizes):
    """The expectation of a quadratic form of independent parts is the sum of its values at each part's direction.

    Launches that lie far apart keep the estimate off its floor, where it would not be a quadratic form.
    """
    launch_of = np.repeat(np.arange(len(sizes)), sizes)
    far_apart = 100.0 * launch_of

    def estimates(values):
        components = variance_components([values[launch_of == launch] for launch in range(len(sizes))])
        return np.array([components.within, components.between])

    def form(direction):
        return (estimates(far_apart + direction) + estimates(far_apart - direction)) / 2 - estimates(far_apart)

    of_rounds = sum(form(direction) for direction in np.eye(len(launch_of)))
    of_launches = sum(form((launch_of == launch).astype(float)) for launch in range(len(sizes)))

    assert of_rounds == pytest.approx([1, 0], abs=1e-9)
    assert of_launches == pytest.approx([0, 1], abs=1e-9)


def test_launches_that_differ_less_than_their_rounds_explain_have_no_variance_between():
    assert variance_components([np.array([-1.0, 1.0]), np.array([1.0, -1.0])]) == Components(within=2.0, between=0.0)


def test_equal_values_have_exactly_no_variance():
    assert variance_components([np.full(3, 0.1), np.full(7, 0.1)]) == Components(within=0.0, between=0.0)


@pytest.mark.parametrize("series", [[], [[0.1, 0.2]], [[0.1, 0.2], []], [[0.1], [0.2], [0.3]]])
def test_one_launch_or_single_rounds_have_no_components(series):
    assert variance_components([np.array(launch) for launch in series]) is None


@given(designs, st.randoms(use_true_random=False))
def test_the_order_of_launches_and_rounds_means_nothing(series, random):
    shuffled = [np.array(random.sample(list(launch), len(launch))) for launch in series]
    random.shuffle(shuffled)

    _assert_close(variance_components(shuffled), variance_components(series))


@given(designs, st.floats(-1, 1))
def test_a_common_factor_of_all_times_and_the_inverse_ratio_change_nothing(series, shift):
    _assert_close(variance_components([shift - launch for launch in series]), variance_components(series))


@given(designs)
def test_twice_the_differences_have_four_times_the_variances(series):
    components = variance_components(series)

    _assert_close(
        variance_components([2 * launch for launch in series]),
        Components(within=4 * components.within, between=4 * components.between),
    )


@given(designs)
def test_variances_are_never_negative(series):
    components = variance_components(series)

    assert components.within >= 0
    assert components.between >= 0


def test_optimal_rounds_by_hand():
    """A launch costs 9 rounds, and the variance within is 4 times that between: sqrt(36)."""
    components = Components(within=4.0, between=1.0)

    assert optimal_rounds(components, launch_cost_s=90, round_cost_s=10) == 6
    assert optimal_rounds(components, launch_cost_s=91, round_cost_s=10) == 7


def test_no_number_of_rounds_is_too_many_where_launches_do_not_differ():
    assert optimal_rounds(Components(within=1.0, between=0.0), launch_cost_s=90, round_cost_s=10) is None
    assert optimal_rounds(Components(within=1.0, between=5e-324), launch_cost_s=90, round_cost_s=10) is None


def test_one_round_will_do_where_rounds_do_not_differ_or_launches_cost_nothing():
    assert optimal_rounds(Components(within=0.0, between=1.0), launch_cost_s=90, round_cost_s=10) == 1
    assert optimal_rounds(Components(within=1.0, between=1.0), launch_cost_s=0, round_cost_s=10) == 1


@pytest.mark.parametrize(
    ("within", "between", "launch_cost_s", "round_cost_s"),
    [(4e-4, 1e-4, 90.0, 10.0), (1e-4, 25e-6, 40.0, 1.5), (9e-4, 1e-5, 25.0, 4.0), (1e-4, 1e-4, 10.0, 6.0)],
)
def test_optimal_rounds_give_the_smallest_variance_that_the_time_allows(within, between, launch_cost_s, round_cost_s):
    """All numbers of rounds tried, for 24 hours: the best one is this or, by rounding up, the one below.

    Rounding up costs most where rounds are few: 3 % with two for one.
    """
    components = Components(within=within, between=between)

    def variance(rounds):
        launches = math.floor(86_400 / (launch_cost_s + rounds * round_cost_s))
        return (between + within / rounds) / launches

    best = min(range(1, 500), key=variance)
    rounds = optimal_rounds(components, launch_cost_s=launch_cost_s, round_cost_s=round_cost_s)

    assert rounds - 1 <= best <= rounds
    assert variance(rounds) <= 1.04 * variance(best)


def test_an_hour_of_launches_with_the_optimal_rounds_leaves_less_error_in_simulated_benchmarks():
    """At 90 s a launch and 10 s a round, an hour is 24 launches of 6 rounds, 36 of 1, or 5 of 60."""
    generator = np.random.default_rng(3)

    def spread(launches, rounds):
        launch = generator.normal(scale=1.0, size=(4000, launches))
        noise = generator.normal(scale=2.0 / math.sqrt(rounds), size=(4000, launches))
        return float(np.var((launch + noise).mean(axis=1)))

    assert optimal_rounds(Components(within=4.0, between=1.0), launch_cost_s=90, round_cost_s=10) == 6
    assert spread(24, 6) < 0.8 * min(spread(36, 1), spread(5, 60))


@given(variances, variances, costs_s, costs_s, st.integers(-20, 20))
def test_only_the_ratio_of_the_costs_and_of_the_variances_counts(within, between, launch_cost_s, round_cost_s, power):
    """Powers of two, as they round nothing."""
    scale = 2.0**power

    rounds = optimal_rounds(Components(within, between), launch_cost_s=launch_cost_s, round_cost_s=round_cost_s)

    assert rounds == optimal_rounds(
        Components(within, between), launch_cost_s=scale * launch_cost_s, round_cost_s=scale * round_cost_s
    )
    assert rounds == optimal_rounds(
        Components(scale * within, scale * between), launch_cost_s=launch_cost_s, round_cost_s=round_cost_s
    )


@given(variances, variances, costs_s, costs_s, costs_s)
def test_dearer_launches_never_mean_fewer_rounds_nor_dearer_rounds_more(within, between, launch_s, round_s, more_s):
    components = Components(within, between)

    rounds = optimal_rounds(components, launch_cost_s=launch_s, round_cost_s=round_s)

    assert rounds >= 1
    assert optimal_rounds(components, launch_cost_s=launch_s + more_s, round_cost_s=round_s) >= rounds
    assert optimal_rounds(components, launch_cost_s=launch_s, round_cost_s=round_s + more_s) <= rounds


@given(variances, variances, variances, costs_s, costs_s)
def test_noisier_launches_never_mean_more_rounds(within, between, more, launch_cost_s, round_cost_s):
    costs = {"launch_cost_s": launch_cost_s, "round_cost_s": round_cost_s}

    calm, noisy = (
        optimal_rounds(Components(within, between), **costs),
        optimal_rounds(Components(within, between + more), **costs),
    )

    assert noisy <= calm


@given(variances, variances, st.integers(1, 20), st.integers(1, 50))
def test_the_variance_of_the_mean_falls_with_launches_and_with_rounds(within, between, launches, rounds):
    components = Components(within, between)
    present = components.variance_of_mean(launches, rounds)
    assume(present > 0)

    assert components.variance_of_mean(2 * launches, rounds) == pytest.approx(present / 2)
    assert between / launches <= components.variance_of_mean(launches, rounds + 1) < present


def _assert_close(components, expected):
    assert components.within == pytest.approx(expected.within, rel=1e-6, abs=1e-12)
    assert components.between == pytest.approx(expected.between, rel=1e-6, abs=1e-12)
