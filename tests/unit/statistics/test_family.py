"""Claims that hold together, against statsmodels, scipy and their definitions."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from mlflow_tfexec.statistics.family import Claim, claim_together, holm, p_value
from mlflow_tfexec.statistics.intervals import Spread

p_values = st.lists(st.one_of(st.floats(0, 0.06), st.floats(0, 1)), min_size=1, max_size=28)


@settings(max_examples=50)  # statsmodels takes its time
@given(p_values, st.sampled_from([0.01, 0.04, 0.05]))
def test_holm_rejects_what_statsmodels_rejects(values, error):
    expected, *_ = multipletests(values, alpha=error, method="holm")

    assert holm(dict(enumerate(values)), error=error) == set(np.flatnonzero(expected))


def test_holm_step_by_step():
    """0.01 ≤ 0.05 / 4, 0.016 ≤ 0.05 / 3, but 0.03 > 0.05 / 2, and there it ends: 0.04 is not looked at."""
    assert holm({"a": 0.03, "b": 0.01, "c": 0.04, "d": 0.016}, error=0.05) == {"b", "d"}


def test_holm_rejects_at_exactly_its_share():
    assert holm({"a": 0.025, "b": 0.05}, error=0.05) == {"a", "b"}


def test_no_hypothesis_is_none_rejected():
    assert holm({}, error=0.05) == set()


@given(p_values)
def test_holm_rejects_all_that_bonferroni_does(values):
    bonferroni = {key for key, p in enumerate(values) if p <= 0.05 / len(values)}

    assert bonferroni <= holm(dict(enumerate(values)), error=0.05)


@pytest.mark.parametrize(("center", "degrees"), [(0.1, 2), (-0.1, 2), (0.03, 2.5), (0.0, 19)])
def test_p_value_is_students_on_both_sides(center, degrees):
    expected = 2 * scipy.stats.t.sf(abs(center) / 0.02, degrees)

    assert p_value(center, Spread(0.02, degrees)) == pytest.approx(expected, rel=1e-9)


def test_what_does_not_scatter_differs_if_it_is_not_the_same():
    assert p_value(0.0, Spread(0.0, 2)) == 1
    assert p_value(1e-9, Spread(0.0, 2)) == 0


def test_nothing_known_is_no_evidence():
    assert p_value(5.0, None) == 1


def at(center, p, degrees=4):
    """Place a figure so that its p-value is *p*."""
    return Spread(abs(center) / float(scipy.stats.t.isf(p / 2, degrees)), degrees)


def test_intervals_have_bonferronis_confidence():
    centers = {"ab": 0.01, "ac": -0.02, "bc": 0.03}
    spreads = {pair: Spread(0.01, 3) for pair in centers}

    claims = claim_together(centers, spreads, error=0.05)

    half = (scipy.stats.t.ppf(1 - 0.05 / 3 / 2, 3)) * 0.01
    assert {pair: claim.half_width for pair, claim in claims.items()} == pytest.approx(dict.fromkeys(centers, half))
    assert not any(claim.differs for claim in claims.values())


def test_a_pair_without_a_spread_counts_and_claims_nothing():
    claims = claim_together({"ab": 0.2, "ac": 9.0}, {"ab": Spread(0.01, 3), "ac": None}, error=0.05)

    assert claims["ac"] == Claim(9.0, None, differs=False)
    assert claims["ac"].interval is None
    assert claims["ab"].half_width == pytest.approx(scipy.stats.t.ppf(1 - 0.05 / 4, 3) * 0.01)


@pytest.mark.parametrize("sign", [1, -1])
def test_an_interval_ends_at_1_where_only_the_steps_exclude_it(sign):
    """p = 0.001 and 0.04: the second is above 0.05 / 2, but once the first is found it has the whole 5 %."""
    centers = {"ab": 0.5, "ac": sign * 0.2}
    spreads = {"ab": at(0.5, 0.001), "ac": at(0.2, 0.04)}

    claims = claim_together(centers, spreads, error=0.05)

    assert claims["ac"].differs
    assert claims["ac"].half_width > 0.2
    far_end = math.exp(sign * (0.2 + claims["ac"].half_width))
    assert claims["ac"].interval == pytest.approx((1.0, far_end) if sign > 0 else (far_end, 1.0))
    assert claims["ab"].interval[0] > 1


def test_without_the_first_the_second_is_not_found():
    spreads = {"ab": at(0.5, 0.06), "ac": at(0.2, 0.04)}

    claims = claim_together({"ab": 0.5, "ac": 0.2}, spreads, error=0.05)

    assert not claims["ac"].differs
    assert claims["ac"].interval[0] < 1 < claims["ac"].interval[1]


@given(st.lists(st.tuples(st.floats(-0.3, 0.3), st.floats(1e-3, 0.2), st.floats(1, 20)), min_size=1, max_size=15))
def test_what_differs_has_1_outside_or_at_the_end_of_its_interval_and_nothing_else_has(figures):
    centers = {key: center for key, (center, _, _) in enumerate(figures)}
    spreads = {key: Spread(error, degrees) for key, (_, error, degrees) in enumerate(figures)}

    for claim in claim_together(centers, spreads, error=0.05).values():
        low, high = claim.interval
        assert low <= math.exp(claim.center) * (1 + 1e-12)
        assert math.exp(claim.center) * (1 - 1e-12) <= high
        if claim.differs:
            assert low >= 1 if claim.center > 0 else high <= 1
        else:
            assert low < 1 + 1e-9
            assert high > 1 - 1e-9
