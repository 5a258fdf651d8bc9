"""Modes are held to eager's answers: one that differs is never fastest, and a baseline that differs holds none."""

import json

import pytest
from real_command import QUICK, model

from mlflow_tfexec.worker.answers import to_arrays, to_names

pytestmark = [pytest.mark.tf, pytest.mark.mlflow]

OPTIONS = (*QUICK, "--input-shape", "4", "--format", "json")


@pytest.fixture(scope="module")
def wrong(make_lab):
    place = make_lab()
    outcome = place.run("run", model("wrong_in_xla"), *OPTIONS, "--modes", "eager,graph,xla")
    return place, outcome, json.loads(outcome.stdout)["benchmarks"][0]


def test_a_mode_with_other_answers_is_measured_and_flagged(wrong):
    _, outcome, judged = wrong
    assert outcome.exit_code == 0, outcome.stderr
    modes = {mode["mode"]: mode for mode in judged["modes"]}
    assert modes["xla"]["status"] == "outputs_differ"
    assert modes["xla"]["reason"].startswith("outputs differ from eager by up to 0.01")
    # The wrong mode leaves the 30 ms out that every other call sleeps.
    assert modes["xla"]["latency_ms"]["median"] < modes["graph"]["latency_ms"]["median"]


def test_a_mode_with_other_answers_is_never_called_fastest(wrong):
    _, _, judged = wrong
    assert judged["fastest"] != "xla"


def test_mlflow_has_the_difference_and_a_finished_run(wrong):
    place, _, _ = wrong
    runs = {run.info.run_name: run for run in place.runs()}
    assert runs["xla"].info.status == "FINISHED"
    assert runs["xla"].data.tags["tfexec.status"] == "outputs_differ"
    assert runs["xla"].data.metrics["numerics/max_abs_error"] == pytest.approx(0.01, rel=1e-3)
    (parent,) = [run for run in place.runs() if run.data.tags["tfexec.kind"] == "benchmark"]
    assert parent.data.tags.get("tfexec.fastest") != "xla"


def test_a_model_that_never_answers_the_same_is_a_finding_and_no_modes_fault(lab):
    outcome = lab.run("run", model("random_in_inference"), *OPTIONS, "--modes", "eager,graph", "--offline")
    assert outcome.exit_code == 0, outcome.stderr
    (judged,) = json.loads(outcome.stdout)["benchmarks"]
    assert "not_deterministic" in {finding["code"] for finding in judged["findings"]}
    assert [mode["status"] for mode in judged["modes"]] == ["ok", "ok"]


def test_ragged_and_sparse_answers_are_compared_by_their_parts(device_facts):
    import tensorflow as tf

    ragged = tf.RaggedTensor.from_row_lengths(tf.constant([1.0, 2.0, 3.0]), [1, 0, 2])
    sparse = tf.sparse.from_dense(tf.constant([[0.0, 4.0]]))
    answer = {"rows": ragged, "dense": tf.constant([5.0]), "nothing": None, "few": sparse}
    assert [array.tolist() for array in to_arrays(answer)] == [
        [5.0],
        [[0, 1]],
        [4.0],
        [1, 2],
        [1.0, 2.0, 3.0],
        [0, 1, 1, 3],
    ]
    assert to_names(answer) == ["dense", "few/0", "few/1", "few/2", "rows/0", "rows/1"]
    assert to_names(ragged) == ["0", "1"]
