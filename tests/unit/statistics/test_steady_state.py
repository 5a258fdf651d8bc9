import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from mlflow_tfexec.statistics.steady_state import is_steady, theil_sen_slope


def test_a_flat_series_is_steady():
    assert is_steady([100, 101, 100, 99, 100, 100])


@pytest.mark.parametrize("known", [0, 1, 2])
def test_fewer_than_three_blocks_are_never_steady(known):
    assert not is_steady([100.0] * known)


def test_three_equal_blocks_are_steady():
    assert is_steady([100, 100, 100])


def test_a_falling_series_is_not_steady():
    assert not is_steady([150, 140, 130, 120, 110, 100])


def test_a_slow_drift_of_half_a_percent_a_block_is_not_steady():
    """Six blocks of it make 3 %."""
    assert not is_steady([100, 100.5, 101, 101.5, 102, 102.5])


def test_a_drift_of_a_tenth_of_a_percent_a_block_is_steady():
    assert is_steady([100, 100.1, 100.2, 100.3, 100.4, 100.5])


def test_a_step_in_the_middle_is_not_steady():
    assert not is_steady([100, 100, 100, 104, 104, 104])


def test_a_series_that_jumps_between_two_levels_is_not_steady():
    """It has no slope, but its halves differ by 3 %."""
    assert theil_sen_slope([100, 103, 100, 103, 100, 103]) == 0
    assert not is_steady([100, 103, 100, 103, 100, 103])


def test_one_odd_block_does_not_spoil_a_flat_series():
    assert is_steady([100, 100, 100, 180, 100, 100])


def test_only_the_last_six_blocks_matter():
    assert is_steady([900, 500, 300, 100, 100, 100, 100, 100, 100])


def test_a_series_of_nothing_is_not_steady():
    assert not is_steady([0, 0, 0, 0])


@given(st.lists(st.floats(1, 1e9), min_size=3, max_size=6))
def test_slope_agrees_with_scipy(values):
    assert theil_sen_slope(values) == pytest.approx(scipy.stats.theilslopes(np.array(values)).slope, rel=1e-9, abs=1e-6)


def test_a_missing_value_keeps_its_place_in_the_slope():
    assert theil_sen_slope([100, math.nan, 104, 106]) == 2


@given(st.lists(st.integers(50, 150), min_size=1, max_size=10), st.sampled_from([2, 1024, 2**20]))
def test_the_unit_of_time_does_not_matter(medians, factor):
    assert is_steady(medians) == is_steady([value * factor for value in medians])
