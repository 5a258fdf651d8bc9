import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlflow_tfexec.records.judgement import Comparison
from mlflow_tfexec.statistics.noise_floor import noise_floor, smallest_claim, withhold


def comparison(verdict, ratio, launches_needed=None):
    return Comparison(
        a="a",
        b="b",
        ratio=ratio,
        ci95_low=ratio * 0.99,
        ci95_high=ratio * 1.01,
        verdict=verdict,
        launches_needed=launches_needed,
    )


TWICE = comparison("slower", 2.0)
"""A control at twice its own time: below a ratio of exactly 4 nothing holds (2 log 2 = log 4)."""


@pytest.mark.parametrize("control", [TWICE, comparison("faster", 0.5)])
@pytest.mark.parametrize(
    ("claimed", "margin", "granted"),
    [
        (comparison("slower", 4.0), 0.05, "slower"),
        (comparison("slower", 3.999), 0.05, "undecided"),
        (comparison("faster", 0.25), 0.05, "faster"),
        (comparison("faster", 0.2501), 0.05, "undecided"),
        (comparison("equivalent", 1.0), 3.0, "equivalent"),
        (comparison("equivalent", 1.0), 2.999, "undecided"),
        (comparison("equivalent", 3.9), 3.0, "equivalent"),
    ],
)
def test_verdicts_are_withheld_up_to_exactly_twice_the_controls_difference(control, claimed, margin, granted):
    (given_back,) = withhold([claimed], control, margin=margin)

    assert given_back == dataclasses.replace(claimed, verdict=granted)


@pytest.mark.parametrize(
    "control", [None, comparison("equivalent", 1.04), comparison("undecided", 1.5), comparison("undecided", 0.2)]
)
def test_a_control_that_was_not_found_to_differ_withholds_nothing(control):
    claimed = (comparison("slower", 1.01), comparison("equivalent", 1.0), comparison("undecided", 1.2, 7))

    assert withhold(claimed, control, margin=0.05) == claimed
    assert noise_floor(control) is None
    assert smallest_claim(control) is None


@pytest.mark.parametrize("control", [comparison("slower", 1.1), comparison("faster", 1 / 1.1)])
def test_the_smallest_claim_is_the_controls_difference_twice_over(control):
    """1.1 times 1.1: 21 %."""
    assert smallest_claim(control) == pytest.approx(0.21)


def test_more_launches_are_not_foreseen_to_mend_what_is_withheld():
    (open_pair,) = withhold([comparison("undecided", 1.2, 7)], TWICE, margin=0.05)

    assert open_pair.launches_needed is None


def test_an_open_pair_beyond_the_limit_is_foreseen_as_ever():
    open_pair = comparison("undecided", 5.0, 7)

    assert withhold([open_pair], TWICE, margin=0.05) == (open_pair,)


ratios = st.floats(0.01, 100)
comparisons = st.lists(
    st.tuples(st.sampled_from(["slower", "faster", "equivalent", "undecided"]), ratios).map(
        lambda one: comparison(*one)
    )
)


@given(comparisons, st.sampled_from(["slower", "faster"]), ratios, st.floats(0, 1))
def test_withholding_leaves_figures_alone_and_only_ever_opens_pairs(claimed, verdict, ratio, margin):
    granted = withhold(claimed, comparison(verdict, ratio), margin=margin)

    assert len(granted) == len(claimed)
    for before, after in zip(claimed, granted, strict=True):
        assert after.verdict in {before.verdict, "undecided"}
        assert (after.ratio, after.ci95_low, after.ci95_high) == (before.ratio, before.ci95_low, before.ci95_high)
        if after.verdict in {"slower", "faster"}:
            assert max(after.ratio, 1 / after.ratio) >= (1 + smallest_claim(comparison(verdict, ratio))) * (1 - 1e-9)
