"""`--task train` and the modes on request through the real command."""

import json

import pytest
from real_command import QUICK, model

pytestmark = [pytest.mark.tf, pytest.mark.mlflow]

AS_JSON = (*QUICK, "--offline", "--format", "json")


def judged(lab, *arguments):
    outcome = lab.run("run", *arguments)
    assert outcome.exit_code == 0, outcome.stderr
    (benchmark,) = json.loads(outcome.stdout)["benchmarks"]
    return benchmark


def codes(benchmark):
    return {finding["code"] for finding in benchmark["findings"]}


def test_training_a_small_net_agrees_in_all_modes_and_is_put_in_order(lab):
    benchmark = judged(lab, model("trainable_cnn"), *AS_JSON, "--task", "train", "--batch-size", "4")

    assert {mode["mode"]: mode["status"] for mode in benchmark["modes"]} == dict.fromkeys(
        ("eager", "graph", "graph_nojit", "xla", "graph_control"), "ok"
    )
    assert {name for name in ("eager", "graph", "graph_nojit", "xla") if name in benchmark["ordering"]} == {
        "eager", "graph", "graph_nojit", "xla",
    }  # fmt: skip
    assert "not_deterministic" not in codes(benchmark)
    recording = lab.recording()
    for mode in ("eager", "graph", "graph_nojit", "xla"):
        output = recording.final_line(mode).output
        assert output.within_tolerance is True
        assert {"first_loss", "loss"} < {one.name for one in output.outputs}
    training = recording.header.training
    assert (training.loss, training.optimizer, training.compared_steps) == ("categorical_crossentropy", "adam", 5)
    assert "training_defaults" in codes(benchmark)
    assert recording.header.environment["tensorflow"]["op_determinism"] is False
    assert isinstance(recording.header.environment["tensorflow"]["onednn"], bool)


def test_dropout_draws_other_numbers_in_xla_and_that_is_told(lab):
    benchmark = judged(
        lab, model("trainable_with_dropout"), *AS_JSON, "--task", "train", "--modes", "eager,graph,xla",
        "--optimizer", "sgd", "--loss", "huber",
    )  # fmt: skip

    assert [mode["status"] for mode in benchmark["modes"]] == ["ok", "ok", "ok"]
    assert [finding["mode"] for finding in benchmark["findings"] if finding["code"] == "random_training"] == ["xla"]
    assert "training_defaults" not in codes(benchmark)


@pytest.mark.parametrize(
    ("arguments", "refused"),
    [
        ((model("any_shape"), "--input-shape", "4", "--task", "train"), "the model has no trainable variables"),
        ((model("tiny"), "--task", "train", "--loss", "no_such"), "no loss 'no_such'; give a Keras name such as"),
    ],
)
def test_what_cannot_be_trained_is_refused_in_one_line(lab, arguments, refused):
    outcome = lab.run("run", *arguments, *QUICK, "--modes", "eager,graph", "--offline")

    assert outcome.exit_code == 2
    assert len([line for line in outcome.stderr.splitlines() if refused in line]) == 1
    assert "Traceback" not in outcome.stderr
    assert list(lab.spool.iterdir()) == []


def test_a_mode_that_a_callable_lacks_is_skipped_and_the_others_finish(lab):
    benchmark = judged(
        lab, model("any_shape"), *AS_JSON, "--input-shape", "4", "--modes", "eager,graph,keras_predict,graph_nograppler"
    )

    assert [mode["status"] for mode in benchmark["modes"]] == ["ok", "ok", "skipped", "ok"]
    assert benchmark["modes"][2]["reason"] == "only a Keras model has predict, and this is another callable"


def test_the_output_that_is_wrong_is_named_and_the_reference_in_float64_sides_with_eager(lab):
    benchmark = judged(
        lab, model("second_output_wrong_in_xla"), *AS_JSON, "--input-shape", "4", "--modes", "eager,graph,xla",
        "--float64-reference",
    )  # fmt: skip

    (finding,) = [finding for finding in benchmark["findings"] if finding["code"] == "outputs_differ"]
    assert "most in 'size' (1 of 2 differ)" in finding["what"]
    # The step is a callable, which cannot be built once more.
    assert "float64_not_possible" in codes(benchmark)


def test_predict_and_auto_clustering_say_what_became_of_xla_and_float64_how_far_all_are(lab):
    benchmark = judged(
        lab, model("trainable_cnn"), *AS_JSON, "--modes", "eager,graph,keras_predict,xla_autocluster",
        "--float64-reference",
    )  # fmt: skip

    assert {mode["status"] for mode in benchmark["modes"]} == {"ok"}
    (predict,) = [finding for finding in benchmark["findings"] if finding["code"] == "predict_jit"]
    assert "to False: predict ran without XLA" in predict["what"]
    assert lab.recording().final_line("xla_autocluster").xla_compiles > 0
    (reference,) = [finding for finding in benchmark["findings"] if finding["code"] == "float64_reference"]
    assert "eager" in reference["what"]
    assert "xla_autocluster" in reference["what"]
