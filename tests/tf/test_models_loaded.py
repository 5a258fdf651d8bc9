"""Models and their inputs as a worker loads them."""

import numpy as np
import pytest
from real_command import QUICK, model

from mlflow_tfexec.models import load_model
from mlflow_tfexec.records.spec import Spec

pytestmark = pytest.mark.tf


def load(name, **fields):
    return load_model(Spec(model=model(name), modes=("eager", "graph"), **fields))


def test_the_inputs_of_a_model_keep_names_types_and_structure(device_facts):
    loaded = load("tokens", batch_size=3)
    facts = {one.name: (one.shape, one.dtype) for one in loaded.input_facts}
    assert facts == {"ids": ((3, 6), "int32"), "scale": ((3, 1), "float32")}
    (feed,) = loaded.inputs(0)
    assert set(feed) == {"ids", "scale"}
    assert set(feed["ids"].numpy().ravel()) <= set(range(10))
    assert loaded.step.call(*loaded.inputs(0)).shape == (3, 2)


def test_images_are_as_files_hold_them_and_other_floats_between_0_and_1(device_facts):
    (picture,) = load("image", input_shape=(8, 9, 3)).inputs(0)
    (numbers,) = load("tiny", batch_size=500).inputs(0)
    assert picture.shape == (1, 8, 9, 3)
    assert 200 < picture.numpy().max() < 255
    assert 0 <= numbers.numpy().min() < numbers.numpy().max() < 1


def test_the_same_seed_gives_the_same_weights_and_inputs(device_facts):
    first, again, other = load("tiny", seed=1), load("tiny", seed=1), load("tiny", seed=2)
    assert first.weights_sha256 == again.weights_sha256 != other.weights_sha256
    np.testing.assert_array_equal(first.inputs(0)[0], again.inputs(0)[0])
    assert not np.array_equal(first.inputs(0)[0], other.inputs(0)[0])


@pytest.mark.parametrize(
    ("name", "fields", "reason"),
    [
        ("tiny", {"input_shape": (5,)}, "does not fit the model's input, which takes"),
        ("any_shape", {}, "give --input-shape"),
        ("nothing", {}, "has no function 'nothing'"),
    ],
)
def test_what_does_not_fit_the_model_is_refused(device_facts, name, fields, reason):
    with pytest.raises(ValueError, match=reason):
        load(name, **fields)


def test_a_model_of_two_named_inputs_goes_through_a_whole_benchmark(lab):
    outcome = lab.run("run", model("tokens"), *QUICK, "--modes", "eager,graph,xla", "--offline")
    assert outcome.exit_code == 0, outcome.stderr
    recording = lab.recording()
    assert {one.name for one in recording.header.inputs} == {"ids", "scale"}
    assert {recording.final_line(mode).status for mode in recording.spec.modes} == {"ok"}
