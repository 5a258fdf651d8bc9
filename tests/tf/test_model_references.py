"""Models from files and from MLflow, through the whole command."""

import json

import pytest
from real_command import QUICK, Lab

pytestmark = [pytest.mark.tf, pytest.mark.mlflow]

OPTIONS = (*QUICK, "--modes", "eager,graph")


@pytest.fixture(scope="module")
def place(make_lab, device_facts):
    """Give a lab with a model in a registry, and the same model exported."""
    import keras
    import mlflow

    place = make_lab()
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.layers.Input((4,), name="x"), keras.layers.Dense(3), keras.layers.Dense(2)])
    model.export(place.root / "exported", verbose=False)
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(place.store)
    try:
        mlflow.set_experiment("tests")
        with mlflow.start_run() as run:
            logged = mlflow.tensorflow.log_model(model, name="net", registered_model_name="net", pip_requirements=[])
            mlflow.MlflowClient().set_registered_model_alias("net", "best", "1")
    finally:
        mlflow.set_tracking_uri(before)
    place.references = {"id": f"models:/{logged.model_id}", "run": f"runs:/{run.info.run_id}/net"}
    return place


def run(place: Lab, reference: str, *options: str):
    outcome = place.run("run", reference, *OPTIONS, "--format", "json", *options)
    assert outcome.exit_code == 0, outcome.stderr
    return outcome


def test_a_registered_model_is_measured_and_its_runs_say_which_version_it_was(place):
    run(place, "models:/net@best")
    recording = place.benchmarks()[-1].load()
    runs = [run for run in place.runs() if run.data.tags.get("tfexec.model") == "models:/net@best"]

    assert recording.spec.model == "models:/net@best"
    assert recording.header.model_origin.uri == "models:/net/1"
    assert recording.header.model_origin.flavor == "tensorflow"
    assert recording.header.model_origin.model_id == place.references["id"].removeprefix("models:/")
    assert recording.header.inputs[0].shape == (1, 4)
    assert {recording.final_line(mode).status for mode in recording.spec.modes} == {"ok"}
    assert {one.data.tags["tfexec.model_uri"] for one in runs} == {"models:/net/1"}
    assert len(runs) == 3
    assert str(place.root) not in recording.header.model_dump_json()
    assert list(place.spool.glob("fetched-*")) == []


@pytest.mark.slow
@pytest.mark.parametrize("reference", ["id", "run", "models:/net/1", "models:/net/latest"])
def test_every_reference_into_mlflow_is_measured(place, reference):
    run(place, place.references.get(reference, reference), "--offline")


def test_a_saved_model_is_measured_and_its_eager_row_is_a_restored_graph(place):
    (benchmark,) = json.loads(run(place, "exported", "--offline").stdout)["benchmarks"]
    (finding,) = [one for one in benchmark["findings"] if one["code"] == "restored_graph"]

    assert finding["mode"] == "eager"
    assert {mode["status"] for mode in benchmark["modes"]} == {"ok"}


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("models:/net@worst", "No model 'models:/net@worst' in the MLflow store at sqlite://"),
        ("models:/net/2", "No model 'models:/net/2' in the MLflow store at sqlite://"),
        ("exported/nothing", "No file or directory 'exported/nothing'."),
    ],
)
def test_a_model_that_is_not_there_is_refused_at_once_and_leaves_nothing(place, reference, reason):
    before = list(place.spool.iterdir()) if place.spool.exists() else []
    outcome = place.run("run", reference, *OPTIONS)
    lines = outcome.stderr.splitlines()

    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert lines[0].removeprefix("mlflow-tfexec: ").startswith(reason)
    assert len(lines) <= 2
    assert (list(place.spool.iterdir()) if place.spool.exists() else []) == before


def test_an_endpoint_that_is_not_there_is_refused_with_those_that_are(place):
    outcome = place.run("run", "exported", *OPTIONS, "--endpoint", "train", "--offline")
    lines = [line for line in outcome.stderr.splitlines() if "launch 1/1, " not in line]

    assert outcome.exit_code == 2
    assert lines[-1].endswith("no endpoint 'train'; the SavedModel has serve, serving_default")
    assert len(lines) == 1
