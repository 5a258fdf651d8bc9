"""Outputs are compared one by one, and held to what is known of the baseline's."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from mlflow_tfexec.records.codec import encode
from mlflow_tfexec.worker.answers import Reference, load_reference, relative_errors, save_reference
from mlflow_tfexec.worker.outputs import difference

F32 = np.float32


def array(*values, dtype=F32):
    return np.array(values, dtype=dtype)


def test_each_output_has_figures_of_its_own_and_the_worst_comes_first():
    reference = Reference((array(1, 2), array(10, 20)), names=("a", "b"))

    result = difference(reference, [array(1, 2), array(10, 21)], dtype="float32")

    first, second = result.outputs
    assert (first.name, first.place, first.within_tolerance, first.max_abs_error, first.max_rel_error) == (
        ("b", 1, False, 1.0, 0.05)
    )
    assert (second.name, second.within_tolerance, second.max_abs_error, second.cosine) == (
        "a",
        True,
        0.0,
        pytest.approx(1.0),
    )


def test_the_cosine_is_that_of_the_angle():
    (one,) = difference([array(1, 0)], [array(1, 1)], dtype="float32").outputs

    assert one.cosine == pytest.approx(math.cos(math.pi / 4))


def test_the_cosine_of_huge_numbers_is_still_one():
    huge = array(1e300, 2e300, dtype=np.float64)

    assert difference([huge], [huge], dtype="float64").outputs[0].cosine == pytest.approx(1.0)


def test_nan_and_infinities_are_counted_on_both_sides():
    (one,) = difference([array(1, math.nan, math.inf)], [array(math.nan, math.nan, 2)], dtype="float32").outputs

    assert (one.nan_count, one.baseline_nan_count, one.inf_count, one.baseline_inf_count) == (2, 1, 0, 1)
    assert one.within_tolerance is False


def test_items_that_choose_another_class_are_told():
    reference = array([0.5, 0.4], [0.1, 0.9], [0.3, 0.7], [0.8, 0.2])
    output = array([0.4, 0.5], [0.1, 0.9], [0.3, 0.7], [0.8, 0.2])

    (one,) = difference([reference], [output], dtype="float32").outputs

    assert one.argmax_agreement == 0.75


@pytest.mark.parametrize("values", [array(1.0, 2.0), array([1.0], [2.0]), array([1, 2], [3, 4], dtype=np.int64)])
def test_what_has_no_scores_has_no_largest_place(values):
    assert difference([values], [values], dtype="float32").outputs[0].argmax_agreement is None


def test_beyond_fifty_outputs_the_rest_is_counted():
    outputs = [array(float(place)) for place in range(60)]
    changed = [*outputs[:-1], array(70.0)]

    result = difference(outputs, changed, dtype="float32")

    # The first two are the losses of `train`, and always there.
    assert (len(result.outputs), result.outputs_left_out) == (50, 10)
    assert result.outputs[0].place == 59
    assert {0, 1} < {one.place for one in result.outputs}


def test_losses_are_listed_even_where_they_are_not_judged():
    reference = Reference(tuple(array(float(place + 1)) for place in range(60)), rounding=(0.5, 0.5, *[0.0] * 58))

    result = difference(reference, reference.arrays, dtype="float32")

    assert [one.place for one in result.outputs[-2:]] == [0, 1]
    assert (len(result.outputs), result.outputs_left_out) == (52, 8)


def test_an_output_may_differ_by_ten_times_what_a_few_roundings_make_of_it():
    reference = Reference((array(1.0),), rounding=(2e-3,))

    assert difference(reference, [array(1.02)], dtype="float32").within_tolerance is True
    assert difference(reference, [array(1.03)], dtype="float32").within_tolerance is False


def test_what_a_few_roundings_change_by_more_than_one_percent_is_not_judged():
    reference = Reference((array(1.0), array(5.0)), rounding=(0.02, 0.0))

    result = difference(reference, [array(-3.0), array(5.0)], dtype="float32")

    # And does not count as this mode's error.
    assert (result.within_tolerance, result.max_abs_error) == (True, 0.0)
    assert [one.place for one in result.outputs] == [1, 0]


def test_where_nothing_can_be_judged_nothing_is_said():
    assert difference(Reference((array(1.0),), rounding=(0.5,)), [array(9.0)], dtype="float32").within_tolerance is None


def test_no_more_than_another_seed_makes_is_told_apart():
    reference = Reference((array(1.0), array(1.0)), seeds=(0.1, 0.1))

    assert difference(reference, [array(1.3), array(0.7)], dtype="float32").by_seed is True
    assert difference(reference, [array(1.39), array(0.61)], dtype="float32").by_seed is True
    wrong = difference(reference, [array(1.41), array(0.59)], dtype="float32")
    assert (wrong.by_seed, wrong.within_tolerance) == (None, False)


def test_no_seed_explains_a_nan():
    result = difference(Reference((array(1.0),), seeds=(9.0,)), [array(math.nan)], dtype="float32")

    assert (result.by_seed, result.within_tolerance) == (None, False)


def test_distances_from_float64_are_those_of_mode_and_baseline():
    exact = np.array([1.0, 2.0])
    reference = Reference((array(1.0, 2.2),), float64=(exact,))

    result = difference(reference, [array(1.0, 2.02)], dtype="float32")

    assert result.float64_error == pytest.approx(0.01, rel=1e-3)
    assert result.baseline_float64_error == pytest.approx(0.1, rel=1e-3)


@given(
    arrays.arrays(np.float32, (2, 3), elements=st.floats(width=32)),
    arrays.arrays(np.float32, (2, 3), elements=st.floats(width=32)),
)
def test_whatever_the_numbers_the_figures_can_be_written(reference, output):
    result = difference(Reference((reference,), float64=(reference.astype(float),)), [output], dtype="float32")

    assert "outputs" in encode(result)
    (one,) = result.outputs
    assert one.cosine is None or -1 <= one.cosine <= 1


def test_all_that_is_known_of_the_baseline_reaches_the_other_workers(tmp_path):
    reference = Reference(
        (array(1.0, 2.0), np.array([b"text"])),
        names=("a", None),
        rounding=(1e-7, None),
        seeds=(0.5, None),
        float64=(np.array([1.0, 2.0]), np.array([b"text"])),
    )

    save_reference(reference, tmp_path / "answers")
    loaded = load_reference(tmp_path / "answers")

    assert (loaded.names, loaded.rounding, loaded.seeds) == (reference.names, reference.rounding, reference.seeds)
    for mine, theirs in zip((*reference.arrays, *reference.float64), (*loaded.arrays, *loaded.float64), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_an_error_that_has_no_measure_is_none():
    assert relative_errors([array(0.0), array(1, dtype=np.int64)], [array(1.0), array(2, dtype=np.int64)]) == (
        (None, None)
    )
