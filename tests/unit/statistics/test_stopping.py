import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlflow_tfexec.records.judgement import Comparison
from mlflow_tfexec.statistics.comparison import decide
from mlflow_tfexec.statistics.family import Claim
from mlflow_tfexec.statistics.stopping import reason_to_stop, undecided_pairs


def comparison(verdict, low=0.9, high=1.1, a="a", b="b"):
    return Comparison(a=a, b=b, ratio=1.0, ci95_low=low, ci95_high=high, verdict=verdict)


WITHHELD = comparison("undecided", 1.01, 1.04)
"""An interval as narrow as this decides: where it has not, the control has taken the verdict back."""


def stop(*comparisons):
    return reason_to_stop(comparisons, margin=0.05)


def test_enough_is_known_once_no_pair_is_undecided():
    assert stop(comparison("slower", 1.0, 9.0), comparison("equivalent"), comparison("faster")) == "decided"


def test_one_undecided_pair_goes_on():
    assert stop(comparison("slower"), comparison("undecided"), comparison("equivalent")) is None


def test_nothing_to_compare_is_nothing_to_wait_for():
    assert stop() == "nothing_to_compare"


def test_withheld_verdicts_with_narrow_intervals_end_it():
    assert stop(WITHHELD, comparison("equivalent", 0.98, 1.02)) == "narrow"


def test_a_withheld_verdict_goes_on_while_another_interval_is_wide():
    assert stop(WITHHELD, comparison("slower", 1.2, 1.4)) is None


@pytest.mark.parametrize(("low", "high"), [(None, None), (1.0, None)])
def test_a_pair_without_an_interval_goes_on(low, high):
    assert stop(WITHHELD, comparison("undecided", low, high)) is None


@pytest.mark.parametrize(("high", "reason"), [(1.05, "narrow"), (1.0500001, None)])
def test_narrow_is_an_interval_from_end_to_end_as_wide_as_the_margin(high, reason):
    assert stop(comparison("undecided", 1.0, high)) == reason


@given(st.floats(-1, 1), st.floats(0, 0.0243))
def test_a_narrow_interval_always_decides(center, half_width):
    """So that `narrow` can only mean that a verdict was withheld. 0.0243 is a little below half of log 1.05."""
    assert 2 * half_width < math.log(1.05)
    claim = Claim(center, half_width, differs=abs(center) > half_width)

    assert decide(claim, margin=0.05) != "undecided"


def test_open_pairs_are_named_in_their_order():
    comparisons = (comparison("undecided", a="x", b="y"), comparison("slower"), comparison("undecided", a="x", b="z"))

    assert undecided_pairs(comparisons) == (("x", "y"), ("x", "z"))
