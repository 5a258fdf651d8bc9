"""`mlflow.models.evaluate` with this package's evaluator, by its real entry point, and with nobody asking for it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from entry_points import plugin_environment

pytestmark = [pytest.mark.tf, pytest.mark.mlflow]

PROGRAM = Path(__file__).with_name("evaluations.py")
MEASURED = {"tfexec/latency_ms/eager", "tfexec/latency_ms/graph", "tfexec/speedup/graph_vs_eager"}


@pytest.fixture(scope="module")
def evaluated(make_lab):
    """Run the program once; give its outcomes and the lab."""
    lab = make_lab()
    outcomes = lab.root / "outcomes.json"
    plugged = plugin_environment(lab.root / "plugged")
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(outcomes)],
        capture_output=True, text=True, check=False, cwd=lab.root,
        env=lab.environment({**plugged, "CUDA_VISIBLE_DEVICES": "-1"}),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(outcomes.read_text()), lab


def test_the_run_has_the_metrics_that_evaluate_returns(evaluated):
    one = evaluated[0]["measured"]
    assert one["error"] is None
    assert one["metrics"].keys() == MEASURED
    assert one["run"] == one["metrics"]


def test_the_logged_model_has_each_of_the_metrics_once(evaluated):
    outcomes, lab = evaluated
    run_ids = {run.info.run_id for run in lab.runs() if run.data.metrics == outcomes["measured"]["run"]}
    linked = [(key, value) for key, value, run_id in outcomes["linked"] if run_id in run_ids]
    assert sorted(linked) == sorted(outcomes["measured"]["metrics"].items())


def test_the_benchmark_is_a_child_of_the_evaluations_run_and_both_name_the_same_machine(evaluated):
    one = evaluated[0]["measured"]
    assert one["beneath"] == ["benchmark"]
    shared = ("tfexec.host.fingerprint", "tfexec.tf.version", "tfexec.keras.version", "tfexec.cpu.name")
    assert [one["tags"].get(tag) for tag in shared] == [one["benchmark"][0].get(tag, "") for tag in shared]
    assert "tfexec.kind" not in one["tags"]


def test_the_features_are_the_inputs_of_one_call(evaluated):
    _, lab = evaluated
    recordings = [benchmark.load() for benchmark in lab.benchmarks()]
    assert [recording.header.inputs[0].shape for recording in recordings] == [(3, 4), (2, 4)]


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("wrong features", "inputs: 'input_layer' has shape (3, 3), and the model takes (None, 4)."),
        ("a function", "takes the URI of a model that MLflow has logged"),
        ("unknown keys", "evaluator_config has 'roundz', 'col_mapping', which mlflow_tfexec.benchmark does not take."),
        ("extra metrics", "extra_metrics is for evaluators that predict"),
    ],
)
def test_what_cannot_be_is_told_in_two_lines_and_nothing_is_measured(case, said, evaluated):
    one = evaluated[0][case]
    assert one["type"] == "RequestError"
    assert said in one["error"]
    assert len(one["error"].splitlines()) == 2
    assert one["beneath"] == []


def test_images_as_data_are_refused_by_mlflow_itself(evaluated):
    one = evaluated[0]["images as data"]
    assert "2-dimensional array" in one["error"]
    assert one["beneath"] == []


def test_a_classifiers_evaluation_is_nothing_to_this_package(evaluated):
    one = evaluated[0]["classifier"]
    assert one["error"] is None
    assert one["metrics"]["accuracy_score"] == 1
    assert not [name for name in (*one["metrics"], *one["run"]) if "tfexec" in name]
    assert one["beneath"] == []


def test_no_other_model_type_is_evaluated_even_if_this_evaluator_is_named(evaluated):
    one = evaluated[0]["classifier by tfexec"]
    assert "could not be evaluated by any of the registered evaluators" in one["error"]
    assert one["beneath"] == []
