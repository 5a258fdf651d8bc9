import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlflow_tfexec.statistics.pairing import launch_log_ratios, paired_log_ratios
from mlflow_tfexec.statistics.rounds import Rounds


def test_rounds_are_paired_one_by_one(rounds_of):
    (launch,) = paired_log_ratios(rounds_of({"a": [[20, 60]], "b": [[10, 20]]}), "a", "b")

    assert launch == pytest.approx([math.log(2), math.log(3)])


def test_rounds_and_launches_that_one_mode_lacks_are_left_out(rounds_of):
    rounds = rounds_of({"a": [[20, math.nan], [math.nan, 5], [7, 7]], "b": [[10, 10], [5, math.nan]]})

    assert [list(launch) for launch in paired_log_ratios(rounds, "a", "b")] == [[pytest.approx(math.log(2))]]
    assert launch_log_ratios(rounds, [("a", "b")])["a", "b"].medians == pytest.approx([math.log(2)])


def test_a_mode_without_any_round_has_no_figure(rounds_of):
    assert paired_log_ratios(rounds_of({"a": [[20.0]]}), "a", "missing") == []
    assert list(launch_log_ratios(rounds_of({"a": [[20.0]]}), [("a", "missing")])["a", "missing"].medians) == []


def test_no_pairs_have_no_figures(rounds_of):
    assert launch_log_ratios(rounds_of({"a": [[20.0]]}), []) == {}


@st.composite
def ragged(draw):
    """Up to four modes and four launches; blocks missing here and there, launches missing in some modes."""
    generator = np.random.default_rng(draw(st.integers(0, 10_000)))
    modes, launches = draw(st.integers(2, 4)), draw(st.integers(1, 4))
    missing = draw(st.sampled_from([0.0, 0.2, 0.7]))
    medians = {}
    for mode in "abcd"[:modes]:
        medians[mode] = {}
        for launch in range(launches):
            series = np.exp(generator.normal(size=5 + launch))
            series[generator.random(len(series)) < missing] = np.nan
            if np.isfinite(series).any() and generator.random() > missing / 3:
                medians[mode][launch] = series
    return Rounds(medians_ns=medians, calls_ns={})


@given(ragged())
def test_all_pairs_at_once_have_the_medians_of_each_by_itself(rounds):
    pairs = [(a, b) for a in rounds.medians_ns for b in rounds.medians_ns if a != b]

    figures = launch_log_ratios(rounds, pairs)

    for pair in pairs:
        assert list(figures[pair].medians) == [float(np.median(launch)) for launch in paired_log_ratios(rounds, *pair)]


@given(ragged())
def test_the_other_way_round_is_the_negative_to_the_last_bit(rounds):
    figures = launch_log_ratios(rounds, [("a", "b"), ("b", "a")])

    assert list(figures["b", "a"].medians) == list(-figures["a", "b"].medians)
    assert list(figures["b", "a"].round_variances) == pytest.approx(list(figures["a", "b"].round_variances))


def test_the_variance_of_a_median_is_read_off_its_middle_rounds(rounds_of):
    """Of nine rounds the middle is the fifth; one and a half places to either side lie 3.5 and 6.5: three apart."""
    ratios = rounds_of({"a": [list(np.exp(range(9)))], "b": [[1.0] * 9]})

    assert launch_log_ratios(ratios, [("a", "b")])["a", "b"].round_variances == pytest.approx([1.5**2])


def test_the_variance_of_a_median_is_that_of_medians_drawn_anew():
    """Second source: the scatter of the medians of many draws, in normal noise and in noise of two levels. Ten rounds
    put it on the careful side, by up to two thirds."""
    generator = np.random.default_rng(11)
    for levels in (0.0, 1.0):
        drawn = generator.normal(size=(4000, 10), scale=0.2) + levels * generator.integers(0, 2, (4000, 10))
        rounds = Rounds(
            medians_ns={"a": dict(enumerate(np.exp(drawn))), "b": dict(enumerate(np.ones((4000, 10))))}, calls_ns={}
        )
        ratios = launch_log_ratios(rounds, [("a", "b")])["a", "b"]

        assert 1 <= np.mean(ratios.round_variances) / np.var(ratios.medians) <= 5 / 3


def test_a_spike_leaves_the_variance_of_a_median_as_it_was(rounds_of):
    calm, struck = [10.0, 11, 12, 13, 14, 15, 16, 17, 18, 19], [10.0, 11, 12, 13, 14, 15, 16, 17, 18, 900]

    variances = [
        launch_log_ratios(rounds_of({"a": [series], "b": [[1.0] * 10]}), [("a", "b")])["a", "b"].round_variances
        for series in (calm, struck)
    ]

    assert list(variances[0]) == list(variances[1])


def test_a_single_round_says_nothing_of_its_variance(rounds_of):
    assert launch_log_ratios(rounds_of({"a": [[5.0]], "b": [[1.0]]}), [("a", "b")])["a", "b"].round_variances == [0]
