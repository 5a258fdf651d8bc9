"""Answers that a few roundings of the inputs decide are not held against those of other modes; all others are."""

import numpy as np
import pytest

from mlflow_tfexec.measurement.call import ModelStep, PreparedCall
from mlflow_tfexec.models._reference import LoadedModel
from mlflow_tfexec.models._rounding import rounded_inputs
from mlflow_tfexec.records.spec import Spec
from mlflow_tfexec.worker.agreement import allow_for_rounding, compare_answers

pytestmark = pytest.mark.tf

SPEC = Spec(model="made up", modes=("eager", "graph"))


@pytest.fixture
def tf(device_facts):
    import tensorflow as tf

    return tf


def loaded(function, *inputs, dtype="float32"):
    return LoadedModel(ModelStep(function), lambda number: inputs, (), None, compute_dtype=dtype)


def compared(directory, eager, other, *inputs, dtype="float32"):
    """Hold what *other* answers against what *eager* does."""
    model = loaded(eager, *inputs, dtype=dtype)
    own, _ = compare_answers(model, PreparedCall(eager, inputs), SPEC, mode="eager", directory=directory)
    call = PreparedCall(other, inputs)
    answer, _ = compare_answers(model, call, SPEC, mode="graph", directory=directory)
    assert answer.within_tolerance is False
    return own, allow_for_rounding(model, call, answer, SPEC, directory=directory)


def test_another_answer_of_a_model_that_roundings_decide_is_not_judged(tf, tmp_path):
    values = tf.constant([[0.3, 0.7]])

    own, other = compared(tmp_path, lambda x: tf.sin(1e9 * x), lambda x: tf.sin(1e9 * x + 1e3), values)

    assert own.within_tolerance is True
    assert other.within_tolerance is None
    assert other.outputs[0].rounding > 0.01


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_another_answer_of_any_other_model_is(tf, tmp_path, dtype):
    values = tf.constant([[0.3, 0.7]], dtype=dtype)

    _, other = compared(tmp_path, lambda x: x * 2, lambda x: x * 2.02, values, dtype=dtype)

    assert other.within_tolerance is False
    assert other.outputs[0].rounding is None


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_the_coarseness_of_16_bits_alone_excuses_nothing(tf, tmp_path, dtype):
    values = tf.random.stateless_uniform((1, 64), (1, 2))

    def step(x, factor=1.0):
        return tf.cast(tf.cast(x, dtype) * factor, tf.float32)

    _, other = compared(tmp_path, step, lambda x: step(x, 1.2), values, dtype=dtype)

    assert other.within_tolerance is False


def test_a_model_that_differs_from_itself_is_not_laid_on_roundings(tf, tmp_path):
    generator = tf.random.Generator.from_seed(1)

    own, other = compared(tmp_path, *[lambda x: x + generator.normal(x.shape)] * 2, tf.constant([[0.3, 0.7]]))

    assert own.within_tolerance is False
    assert other.within_tolerance is False
    assert other.outputs[0].rounding is None


def test_a_class_that_seldom_changes_is_seen_to_change(tf, tmp_path):
    """One trial in three finds another class."""

    def step(x, more=0.0):
        return tf.one_hot(tf.cast(tf.reduce_sum(1e7 * x + more, axis=1), tf.int32) % 5 // 4, 2)

    values = tf.constant([[0.3, 0.7]])
    right = int(tf.argmax(step(values)[0]))
    _, other = compared(tmp_path, step, lambda x: 1 - step(x), values)

    assert right in {0, 1}
    assert other.within_tolerance is None


def test_ids_are_not_rounded_even_as_floats(tf):
    assert rounded_inputs((tf.constant([1, 2]),), "float32", 0) is None
    assert rounded_inputs((tf.constant([1.0, 2.0]),), "float32", 0) is None
    assert rounded_inputs((tf.constant(["a"]),), "float32", 0) is None


def test_only_what_can_be_rounded_is(tf):
    values, ids = tf.constant([0.3, 0.7]), tf.constant([5.0, 7.0])
    [rounded] = rounded_inputs(({"values": values, "ids": ids},), "float32", 0)

    assert np.array_equal(rounded["ids"], ids)
    assert not np.array_equal(rounded["values"], values)
    np.testing.assert_allclose(rounded["values"], values, rtol=2e-6)


def test_another_trial_draws_other_signs(tf):
    inputs = (tf.random.stateless_uniform((1, 64), (1, 2)),)
    first, second, again = (rounded_inputs(inputs, "float32", trial)[0] for trial in (0, 1, 1))

    assert not np.array_equal(first, second)
    assert np.array_equal(second, again)
