"""What cannot be had is refused in a line or two, and leaves nothing behind; what can be had otherwise is a finding."""

import json

import pytest
from real_command import QUICK, model

pytestmark = [pytest.mark.tf, pytest.mark.mlflow]

OPTIONS = (*QUICK, "--modes", "eager,graph", "--input-shape", "4")

# A machine with a GPU passes for one without.
NO_GPU = {"CUDA_VISIBLE_DEVICES": ""}


def refusal(place, *arguments, environment=None):
    """Run what shall be refused, and give the text that says so."""
    outcome = place.run("run", *arguments, environment=environment)
    assert outcome.exit_code == 2, outcome.stderr
    assert outcome.stdout == ""
    assert list(place.spool.iterdir()) == []
    assert place.runs() == []
    progress = "mlflow-tfexec: launch 1/1, "
    lines = [line for line in outcome.stderr.splitlines() if not line.startswith(progress)]
    assert 1 <= len(lines) <= 2
    assert "Traceback" not in outcome.stderr
    return " ".join(lines)


@pytest.mark.parametrize(("device", "more"), [("gpu", ()), ("gpu:3", ("--offline",))])
def test_a_gpu_that_is_not_there_is_refused_with_what_is_missing(lab, device, more):
    text = refusal(lab, model("tiny"), *OPTIONS, "--device", device, *more, environment=NO_GPU)
    assert f"No device '{device}'. No GPU" in text or f"No device '{device}'. CUDA_VISIBLE_DEVICES='' hides" in text
    assert "use --device cpu" in text


def test_a_shape_that_the_model_refuses_is_refused_with_the_models_reason(lab):
    text = refusal(lab, "MobileNetV2", *QUICK, "--modes", "eager,graph", "--input-shape", "8,8,3", "--offline")
    assert "32x32" in text
    assert "(8, 8, 3)" in text


def test_a_batch_beyond_all_memory_is_refused_with_how_much_it_takes(lab):
    shape = ("--batch-size", "10000000", "--input-shape", "1000000", "--offline")
    text = refusal(lab, model("any_shape"), *OPTIONS, *shape)
    assert "takes 37252.90 GiB" in text
    assert "--batch-size" in text


def test_a_factory_that_raises_is_refused_with_its_error(lab):
    assert "no weights at nowhere.h5" in refusal(lab, model("refuses_to_load"), *OPTIONS, "--offline")


@pytest.fixture(scope="module")
def overridden(make_lab):
    """Run on any device, with Keras told to use something else than TensorFlow."""
    place = make_lab()
    environment = {**NO_GPU, "KERAS_BACKEND": "jax"}
    return place, place.run(
        "run", model("tiny"), *OPTIONS, "--device", "auto", "--format", "json", environment=environment
    )


def _findings(outcome):
    return {finding["code"]: finding for finding in json.loads(outcome.stdout)["benchmarks"][0]["findings"]}


def test_another_keras_backend_is_overridden_and_said(overridden):
    place, outcome = overridden
    assert outcome.exit_code == 0, outcome.stderr
    assert "KERAS_BACKEND=jax was overridden" in _findings(outcome)["keras_backend_overridden"]["what"]
    facts = place.recording().header.environment["tensorflow"]
    assert facts["version"]
    assert {place.recording().final_line(mode).status for mode in ("eager", "graph")} == {"ok"}


def test_any_device_without_a_gpu_is_the_cpu_and_a_finding(overridden):
    place, outcome = overridden
    assert "cpu_only" in _findings(outcome)
    assert place.recording().header.environment["tensorflow"]["device"] == "CPU"
    assert "gpu" not in place.recording().header.environment


def test_no_gpu_has_no_gpu_tags_in_mlflow(overridden):
    place, _ = overridden
    assert place.runs()
    for run in place.runs():
        assert [tag for tag in run.data.tags if tag.startswith("tfexec.gpu.")] == []
        assert run.data.tags["tfexec.device"] == "CPU"
