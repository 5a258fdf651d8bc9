"""Every model of `keras.applications` is built at its own size, gets inputs, and runs eagerly and as a graph."""

import gc

import pytest

from mlflow_tfexec.models import load_model
from mlflow_tfexec.models._rounding import rounded_inputs
from mlflow_tfexec.models.applications import application_names
from mlflow_tfexec.modes import all_modes
from mlflow_tfexec.records.answers import UNDETERMINED
from mlflow_tfexec.records.spec import Spec
from mlflow_tfexec.worker.answers import relative_errors, to_arrays
from mlflow_tfexec.worker.outputs import difference

pytestmark = [pytest.mark.tf, pytest.mark.slow]

# These are built for one size, whatever is asked for.
FIXED = {"NASNetLarge": (331, 331, 3), "NASNetMobile": (224, 224, 3)}


@pytest.fixture
def cleared(device_facts):
    """Forget a model before the next: the largest take gigabytes."""
    import keras

    yield
    keras.backend.clear_session()
    gc.collect()


def test_there_are_as_many_as_keras_has():
    assert len(application_names()) >= 38
    assert set(FIXED) < set(application_names())


@pytest.mark.parametrize("name", application_names())
def test_it_runs_eagerly_and_as_a_graph(name, cleared):
    loaded = load_model(Spec(model=name, modes=("eager", "graph")))
    (facts,) = loaded.input_facts
    assert facts.shape[0] == 1
    assert facts.shape[3] == 3
    assert facts.shape[1:] == FIXED.get(name, facts.shape[1:])
    eager, graph = (
        to_arrays(all_modes()[mode].prepare(loaded.step).on(loaded.inputs(0)).run()) for mode in ("eager", "graph")
    )
    assert [array.shape for array in eager] == [(1, 1000)]
    # Some are so deep that, with random weights, a few roundings of the image make another class of it.
    assert difference(eager, graph, dtype="float32").within_tolerance is True or is_undetermined(loaded, eager)


def is_undetermined(loaded, eager):
    call = all_modes()["eager"].prepare(loaded.step)
    answers = (to_arrays(call.on(rounded_inputs(loaded.inputs(0), "float32", trial)).run()) for trial in range(8))
    return any(max(relative_errors(eager, rounded)) > UNDETERMINED for rounded in answers)
