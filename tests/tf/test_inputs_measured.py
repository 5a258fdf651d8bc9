"""Sweeps, given inputs and a timed transfer through the real command."""

import numpy as np
import pytest
from real_command import QUICK, model

pytestmark = [pytest.mark.tf, pytest.mark.mlflow]

TWO = (*QUICK, "--modes", "eager,graph")


@pytest.fixture(scope="module")
def swept(make_lab):
    """Measure two batch sizes that fit and one that no machine has the memory for, as `mlflow run` would ask."""
    from mlflow import MlflowClient

    place = make_lab()
    client = MlflowClient(place.store)
    experiment = client.get_experiment_by_name("tests").experiment_id
    project = client.create_run(experiment, run_name="project").info.run_id
    sizes = ("--batch-size", "10000000,2,5", "--input-shape", "100000")
    outcome = place.run("run", model("any_shape"), *TWO, *sizes, environment={"MLFLOW_RUN_ID": project})
    return place, project, outcome


def test_a_size_beyond_all_memory_is_told_and_the_others_are_measured(swept):
    place, _, outcome = swept
    assert outcome.exit_code == 1, outcome.stderr
    assert "takes 3725.29 GiB" in outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert [one.load().spec.batch_size for one in place.benchmarks()] == [2, 5]
    assert outcome.stdout.count("median by size") == 1
    assert "(5, 100000) float32" in outcome.stdout


def test_each_size_has_a_parent_with_nested_modes_and_the_first_has_the_projects_run(swept):
    place, project, _ = swept
    runs = place.runs()
    parents = {run.info.run_id: run for run in runs if run.data.tags["tfexec.kind"] == "benchmark"}
    children = [run for run in runs if run.data.tags["tfexec.kind"] == "mode"]
    (family,) = {run.data.tags["tfexec.family"] for run in runs}
    assert family
    assert len(parents) == 2
    assert project in parents
    assert {run.data.params["batch_size"] for run in children} == {"2", "5"}
    by_parent = [run.data.tags["mlflow.parentRunId"] for run in children]
    assert {parent: by_parent.count(parent) for parent in by_parent} == dict.fromkeys(parents, 2)
    assert {run.data.tags["tfexec.logged"] for run in parents.values()} == {"1"}


def test_a_sweep_is_reported_again_by_its_family(swept):
    place, _, _ = swept
    (family,) = {one.load().spec.family for one in place.benchmarks()}
    outcome = place.run("report", "--family", family, "--format", "markdown")
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.stdout.startswith("# 2 benchmarks\n")
    assert "median by size" in outcome.stdout


@pytest.fixture(scope="module")
def given(make_lab):
    """Measure two given sets of a model of two inputs, the transfer included."""
    place = make_lab()
    for name, number in (("a", 0), ("b", 1)):
        ids = np.full((3, 6), number)
        np.savez(place.root / f"{name}.npz", ids=ids, scale=np.ones((3, 1)))
    return place, place.run("run", model("tokens"), *TWO, "--inputs", "a.npz,b.npz", "--include-transfer", "--offline")


def test_given_inputs_are_measured_with_their_batch_and_their_transfer(given):
    place, outcome = given
    assert outcome.exit_code == 0, outcome.stderr
    header = place.recording().header
    assert (header.spec.batch_size, header.input_sets) == (3, 2)
    assert {one.values for one in header.inputs} == {"given"}
    assert len(header.inputs_sha256) == 64
    assert {place.recording().final_line(mode).status for mode in header.spec.modes} == {"ok"}
    words = " ".join(outcome.stdout.split())
    assert "including transfer" in words
    assert "given by a.npz,b.npz, 2 sets in turn" in words


def test_given_inputs_that_do_not_fit_the_model_are_refused_in_a_line_or_two(lab):
    np.savez(lab.root / "a.npz", ids=np.zeros((1, 7)), scale=np.ones((1, 1)))
    outcome = lab.run("run", model("tokens"), *TWO, "--inputs", "a.npz", "--offline")
    # Before that: how far it has come, and on a busy machine that it is still at it.
    said = [line for line in outcome.stderr.splitlines() if "launch 1/1" not in line and "still at it" not in line]
    assert outcome.exit_code == 2
    assert said == ["mlflow-tfexec: --inputs: 'ids' has shape (1, 7), and the model takes (None, 6)."]
    assert list(lab.spool.iterdir()) == []
