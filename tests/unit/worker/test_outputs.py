"""Are the answers still the same?"""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlflow_tfexec.worker.answers import load_reference, save_reference
from mlflow_tfexec.worker.outputs import difference, spread

F32 = np.float32


def array(*values, dtype=F32):
    return np.array(values, dtype=dtype)


def within(reference, output, dtype="float32"):
    return difference([reference], [output], dtype=dtype).within_tolerance


def test_equal_outputs_have_no_error():
    result = difference([array(1, 2), array(3)], [array(1, 2), array(3)], dtype="float32")

    assert (result.max_abs_error, result.max_rel_error, result.within_tolerance) == (0.0, 0.0, True)
    assert (result.rtol, result.atol) == (1e-3, 1e-4)


def test_a_planted_error_of_one_percent_is_caught_in_float32():
    generator = np.random.default_rng(0)
    reference = generator.random(1000, dtype=F32)
    output = reference.copy()
    output[int(reference.argmax())] *= F32(1.01)

    result = difference([reference], [output], dtype="float32")

    assert result.within_tolerance is False
    assert result.max_rel_error == pytest.approx(0.01, rel=1e-3)


# Half and twice what may be: (relative part + part of the largest value) for an element that is the largest itself.
@pytest.mark.parametrize(
    ("dtype", "allowed"),
    [("float64", 1.1e-7), ("float32", 1.1e-3), ("float16", 1.2e-2), ("bfloat16", 6e-2), ("mixed_unknown", 1.1e-3)],
)
def test_the_tolerance_follows_the_dtype_of_the_computation(dtype, allowed):
    reference = array(2.0, 1.0, dtype=np.float64)

    assert within(reference, reference * (1 + allowed / 2), dtype)
    assert not within(reference, reference * (1 + allowed * 2), dtype)


def test_an_element_near_zero_is_held_to_the_largest_beside_it():
    reference = array(0.0, 100.0)

    assert within(reference, array(0.009, 100.0))
    assert not within(reference, array(0.011, 100.0))


def test_errors_are_the_largest_of_all_outputs():
    result = difference([array(1.0, 2.0), array(100.0)], [array(1.0, 2.5), array(101.0)], dtype="float32")

    assert (result.max_abs_error, result.max_rel_error) == (1.0, 0.25)


@pytest.mark.parametrize(
    ("reference", "output", "same"),
    [
        ((1.0, math.nan), (1.0, math.nan), True),
        ((1.0, math.nan), (1.0, 2.0), False),
        ((1.0, 2.0), (1.0, math.nan), False),
        ((1.0, math.inf), (1.0, math.inf), True),
        ((1.0, math.inf), (1.0, -math.inf), False),
        ((1.0, math.inf), (1.0, math.nan), False),
        ((1.0, math.inf), (1.0, 3e38), False),
        ((math.nan, math.nan), (math.nan, math.nan), True),
    ],
)
def test_nan_equals_nan_and_an_infinity_only_itself(reference, output, same):
    result = difference([array(*reference)], [array(*output)], dtype="float32")

    assert result.within_tolerance is same
    # Errors come from finite numbers only.
    assert result.max_abs_error in {0.0, None}


def test_outputs_without_a_finite_number_have_no_error_to_state():
    result = difference([array(math.nan)], [array(math.nan)], dtype="float32")

    assert (result.max_abs_error, result.max_rel_error) == (None, None)


@pytest.mark.parametrize(
    "outputs",
    [
        [],
        [array(1.0, 2.0), array(1.0)],
        [array(1.0, 2.0, 3.0)],
        [array(1.0, 2.0).reshape(1, 2)],
    ],
)
def test_outputs_of_another_number_or_shape_differ(outputs):
    result = difference([array(1.0, 2.0)], outputs, dtype="float32")

    assert (result.within_tolerance, result.max_abs_error) == (False, None)


@pytest.mark.parametrize(
    ("reference", "output", "same"),
    [
        (array(1, 2, dtype=np.int64), array(1, 2, dtype=np.int64), True),
        (array(1_000_000, dtype=np.int64), array(1_000_001, dtype=np.int64), False),
        (array(True, False, dtype=bool), array(True, True, dtype=bool), False),
        (array("a", dtype=object), array("a", dtype=object), True),
        (array(b"a", dtype=object), array(b"b", dtype=object), False),
        (array(1, dtype=np.int32), array(1.5), False),
    ],
)
def test_whatever_is_not_a_float_must_be_equal(reference, output, same):
    result = difference([reference], [output], dtype="float32")

    assert (result.within_tolerance, result.max_abs_error) == (same, None)


def test_the_imaginary_part_counts():
    reference = array(1 + 1j, dtype=np.complex64)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = difference([reference], [array(1 + 2j, dtype=np.complex64)], dtype="float32")

    assert (result.within_tolerance, result.max_abs_error) == (False, 1.0)


def test_all_zero_outputs_have_no_relative_error():
    result = difference([array(0.0)], [array(0.5)], dtype="float32")

    assert (result.max_abs_error, result.max_rel_error, result.within_tolerance) == (0.5, None, False)


def test_empty_outputs_are_equal():
    assert within(array(), array())


floats = st.lists(st.floats(), min_size=1, max_size=5)


@given(values=floats)
def test_every_output_equals_itself(values):
    result = difference([np.array(values)], [np.array(values)], dtype="float64")

    assert result.within_tolerance
    assert result.max_abs_error in {0.0, None}


@given(values=st.lists(st.tuples(st.floats(), st.floats()), min_size=1, max_size=5))
def test_no_difference_is_stated_as_nan_or_infinite(values):
    reference, output = np.array(values).T

    result = difference([reference], [output], dtype="float64")

    for error in (result.max_abs_error, result.max_rel_error):
        assert error is None or math.isfinite(error)


@pytest.mark.parametrize(
    ("arrays", "expected"),
    [
        ([array(1.0, 3.0)], 1 / 3),
        ([array(-4.0, 4.0)], 1.0),
        ([array(5.0, 5.0, 5.0)], 0.0),
        ([array(5.0, 5.0), array(1.0, 3.0)], 1 / 3),
        ([array(1.0, 3.0, math.nan, math.inf)], 1 / 3),
        ([array(5.0)], None),
        ([array(0.0, 0.0)], None),
        ([array(1, 2, dtype=np.int64)], None),
        ([], None),
    ],
)
def test_spread_is_the_deviation_over_the_largest_value(arrays, expected):
    assert spread(arrays) == (None if expected is None else pytest.approx(expected))


def test_the_baseline_s_outputs_come_back_as_they_were_and_in_order(tmp_path):
    arrays = [array(float(n), n + 0.5) for n in range(12)] + [array(7, dtype=np.int64)]

    save_reference(arrays, tmp_path / "outputs")

    loaded = load_reference(tmp_path / "outputs")
    assert [(a.dtype, a.tolist()) for a in loaded.arrays] == [(a.dtype, a.tolist()) for a in arrays]


def test_saving_again_leaves_nothing_of_the_first(tmp_path):
    save_reference([array(1.0), array(2.0)], tmp_path / "outputs")
    save_reference([array(3.0)], tmp_path / "outputs")

    assert [a.tolist() for a in load_reference(tmp_path / "outputs").arrays] == [[3.0]]


def test_a_baseline_that_left_nothing_is_none(tmp_path):
    assert load_reference(tmp_path / "outputs") is None
