"""What pairs borrow from one another, on worked examples."""

import itertools
import math
from statistics import fmean

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from mlflow_tfexec.statistics.family import p_value
from mlflow_tfexec.statistics.intervals import Spread
from mlflow_tfexec.statistics.moderation import Variance, borrowed_degrees, moderate


def pairs(modes):
    return list(itertools.combinations(modes, 2))


def with_noise(noise, degrees=2):
    """Make the variance of each pair the sum of its modes' own."""
    return {(a, b): Variance(noise[a] + noise[b], degrees) for a, b in pairs(noise)}


# d = 2 (three launches), four modes: d0 = 0.5 * (4 - 2) = 1. s0² = (1 + 2 + 3 + 4 + 5 + 9) / 6 = 4.
WORKED = dict(zip(pairs("abcd"), (1.0, 2.0, 3.0, 4.0, 5.0, 9.0), strict=True))


def test_smyths_formula_by_hand():
    """s~² = (d0 s0² + d s²) / (d0 + d) = (1 · 4 + 2 s²) / 3, with d0 + d = 3 degrees of freedom."""
    moderated = moderate({pair: Variance(value, 2) for pair, value in WORKED.items()})

    assert [variance.value for variance in moderated.values()] == pytest.approx(
        [6 / 3, 8 / 3, 10 / 3, 12 / 3, 14 / 3, 22 / 3], rel=1e-12
    )
    assert {variance.degrees_of_freedom for variance in moderated.values()} == {3}


def test_the_moderated_t_has_students_distribution_with_d0_more_degrees_of_freedom():
    """Three launches of mean 5: t~ = 5 / sqrt(2 / 3) = 6.1237 with 3 degrees of freedom, where the table gives 5.841
    for 1 % and 7.453 for 0.5 %."""
    variance = moderate({pair: Variance(value, 2) for pair, value in WORKED.items()})["a", "b"]

    p = p_value(5.0, Spread(math.sqrt(variance.value / 3), variance.degrees_of_freedom))

    assert p == pytest.approx(2 * scipy.stats.t.sf(5 / math.sqrt(2 / 3), 3), rel=1e-9)
    assert 0.005 < p < 0.01


def test_pairs_of_more_launches_weigh_more_in_the_pool():
    """s0² = (4 · 2 + 1 · 7 + 1 · 1) / 6 = 16 / 6, d0 = 0.5."""
    moderated = moderate({("a", "b"): Variance(2.0, 4), ("a", "c"): Variance(7.0, 1), ("b", "c"): Variance(1.0, 1)})

    assert moderated["a", "b"].value == pytest.approx((0.5 * 16 / 6 + 4 * 2) / 4.5)
    assert moderated["a", "c"].value == pytest.approx((0.5 * 16 / 6 + 1 * 7) / 1.5)
    assert [variance.degrees_of_freedom for variance in moderated.values()] == [4.5, 1.5, 1.5]


@pytest.mark.parametrize(("modes", "degrees"), [(0, 0), (1, 0), (2, 0), (3, 0.5), (4, 1), (5, 1.5), (8, 3)])
def test_each_mode_beyond_the_pair_lends_half_a_degree_of_freedom(modes, degrees):
    assert borrowed_degrees(modes) == degrees


def test_two_modes_borrow_nothing():
    plain = {("a", "b"): Variance(3.0, 2)}

    assert moderate(plain) == plain


def test_three_modes_borrow_half_a_degree_of_freedom():
    """s0² = 2: (0.5 · 2 + 2 · 1) / 2.5 = 1.2."""
    moderated = moderate(dict(zip(pairs("abc"), (Variance(1.0, 2), Variance(2.0, 2), Variance(3.0, 2)), strict=True)))

    assert moderated["a", "b"] == Variance(pytest.approx(1.2), 2.5)
    assert moderated["a", "c"] == Variance(pytest.approx(2.0), 2.5)
    assert moderated["b", "c"] == Variance(pytest.approx(2.8), 2.5)


def test_no_pair_is_no_variance():
    assert moderate({}) == {}


@given(st.integers(3, 8), st.floats(1e-9, 1e3), st.integers(1, 19))
def test_equal_variances_stay_as_they_are(modes, value, degrees):
    moderated = moderate({pair: Variance(value, degrees) for pair in pairs("abcdefgh"[:modes])})

    for variance in moderated.values():
        assert variance.value == pytest.approx(value, rel=1e-12)
        assert variance.degrees_of_freedom == degrees + 0.5 * (modes - 2)


@pytest.mark.parametrize("noisy", "abcd")
def test_a_mode_10_times_noisier_keeps_its_own_plain_variances(noisy):
    """100 times the variance of the others, of whom three are left: half a degree of freedom."""
    plain = with_noise({mode: 100.0 if mode == noisy else 1.0 for mode in "abcd"})

    moderated = moderate(plain)

    for pair, variance in plain.items():
        assert moderated[pair] == (variance if noisy in pair else Variance(2.0, 2.5))


def test_a_noisy_mode_lends_nothing_to_the_others():
    quiet = {"a": 1.0, "b": 2.0, "c": 3.0}

    with_it, without = moderate(with_noise({**quiet, "d": 500.0})), moderate(with_noise(quiet))

    assert {pair: with_it[pair] for pair in without} == without


def test_four_like_modes_beside_a_noisy_one_borrow_from_one_another_alone():
    plain = with_noise({"a": 1.0, "b": 1.0, "c": 400.0, "d": 1.0, "e": 1.0}, degrees=19)

    moderated = moderate(plain)

    assert moderated["c", "d"] == plain["c", "d"]
    assert moderated["a", "b"] == Variance(2.0, 20)


def test_of_three_modes_none_can_be_told_to_be_the_noisy_one():
    """Two of three pairs hold it, so that the middle of each mode's pairs is a noisy one: all borrow, but little."""
    moderated = moderate(with_noise({"a": 1.0, "b": 1.0, "c": 99.0}))

    pooled = (2 + 100 + 100) / 3
    assert moderated["a", "b"] == Variance(pytest.approx((0.5 * pooled + 2 * 2) / 2.5), 2.5)
    assert moderated["b", "c"] == Variance(pytest.approx((0.5 * pooled + 2 * 100) / 2.5), 2.5)


def test_a_mode_twice_as_noisy_is_one_of_the_others():
    """Three launches cannot tell a variance of 4 from one of 1."""
    moderated = moderate(with_noise({"a": 1.0, "b": 1.0, "c": 1.0, "d": 4.0}))

    assert {variance.degrees_of_freedom for variance in moderated.values()} == {3}


@pytest.mark.parametrize(("variance", "degrees"), [(5.14, 3), (5.15, 2)])
def test_noisy_is_beyond_the_95_percent_quantile_of_f(variance, degrees):
    """The table gives 5.143 for 2 and 6 degrees of freedom: three launches, and three more modes of two each."""
    moderated = moderate({pair: Variance(variance if "d" in pair else 1.0, 2) for pair in pairs("abcd")})

    assert moderated["a", "d"].degrees_of_freedom == degrees


def test_modes_that_do_not_scatter_beside_one_that_does():
    plain = with_noise({"a": 0.0, "b": 0.0, "c": 0.0, "d": 1.0})

    moderated = moderate(plain)

    assert moderated["a", "b"] == Variance(0.0, 2.5)
    assert moderated["a", "d"] == plain["a", "d"]


variances = st.integers(2, 6).flatmap(
    lambda modes: st.lists(
        st.tuples(st.floats(1e-6, 1e3), st.integers(1, 19)),
        min_size=math.comb(modes, 2),
        max_size=math.comb(modes, 2),
    ).map(
        lambda figures: {pair: Variance(*figure) for pair, figure in zip(pairs("abcdef"[:modes]), figures, strict=True)}
    )
)


@given(variances, st.randoms(use_true_random=False))
def test_the_order_and_the_names_of_modes_change_nothing(plain, random):
    names = sorted({mode for pair in plain for mode in pair})
    others = random.sample("pqrstu", len(names))
    rename = dict(zip(names, others, strict=True))
    renamed = list({tuple(rename[mode] for mode in pair): variance for pair, variance in plain.items()}.items())
    random.shuffle(renamed)

    moderated, again = moderate(plain), moderate(dict(renamed))

    for (a, b), variance in moderated.items():
        same = again[rename[a], rename[b]]
        assert same.value == pytest.approx(variance.value, rel=1e-12)
        assert same.degrees_of_freedom == variance.degrees_of_freedom


@given(variances)
def test_which_of_two_modes_stands_first_changes_nothing(plain):
    swapped = moderate({(b, a): variance for (a, b), variance in plain.items()})

    assert {(b, a): variance for (a, b), variance in swapped.items()} == moderate(plain)


@given(variances, st.floats(1e-3, 1e3))
def test_a_unit_twice_as_large_is_a_variance_four_times_as_small(plain, factor):
    scaled = moderate({pair: Variance(v.value * factor, v.degrees_of_freedom) for pair, v in plain.items()})

    for pair, variance in moderate(plain).items():
        assert scaled[pair].value == pytest.approx(variance.value * factor, rel=1e-9)


@given(variances)
def test_a_moderated_variance_lies_between_its_own_and_the_pool(plain):
    for pair, variance in moderate(plain).items():
        own = plain[pair]
        assert variance.degrees_of_freedom >= own.degrees_of_freedom
        if variance != own:
            assert min(v.value for v in plain.values()) * (1 - 1e-9) <= variance.value
            assert variance.value <= max(v.value for v in plain.values()) * (1 + 1e-9)


def test_moderation_keeps_the_mean_variance():
    """Where all pairs have as many launches, what some gain others lose."""
    moderated = moderate({pair: Variance(value, 2) for pair, value in WORKED.items()})

    assert fmean(variance.value for variance in moderated.values()) == pytest.approx(fmean(WORKED.values()))
