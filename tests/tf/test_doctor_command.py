"""`doctor` on this machine, with TensorFlow itself: the real command, and the line that it prints."""

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest
from nvml_simulation import simulated_gpu, simulated_nvml
from real_command import DEADLINE_S, model

from mlflow_tfexec.diagnosis._document import schema

pytestmark = [pytest.mark.tf, pytest.mark.mlflow]

ROOT = Path(__file__).parents[2]


def diagnose(lab, *arguments, **environment):
    """Run the command; give its exit code and its document by check."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    outcome = lab.run(
        "doctor",
        "--format",
        "json",
        *arguments,
        environment={"PYTHONPATH": path, "CUDA_VISIBLE_DEVICES": "-1"} | environment,
    )
    document = json.loads(outcome.stdout)
    found = {}
    for result in document["results"]:
        found.setdefault(result["check"], []).append(result)
    return outcome.exit_code, document, found


def statuses(found, check):
    return [result["status"] for result in found[check]]


@pytest.fixture(scope="module")
def plain(make_lab):
    """Give the lab and the diagnosis of this machine as it is, its GPUs hidden."""
    lab = make_lab()
    return (lab, *diagnose(lab))


def test_this_machine_can_run_a_benchmark(plain):
    _, code, document, found = plain

    assert (code, document["ready"]) == (0, True)
    for check in ("tensorflow", "xla", "spool_directory", "tracking_store"):
        assert statuses(found, check) == ["ok"], found[check]
    assert found["tensorflow"][0]["found"].endswith("computes on CPU")


def test_the_diagnosis_is_valid(plain):
    from jsonschema import Draft202012Validator

    assert [error.message for error in Draft202012Validator(schema()).iter_errors(plain[2])] == []


def test_the_size_of_a_process_is_seen(plain):
    assert statuses(plain[3], "memory")[0] in {"ok", "note", "problem"}
    assert "a TensorFlow process without a model took" in plain[3]["memory"][0]["found"]


def test_the_line_that_is_printed_runs(plain):
    lab, _, document, _ = plain
    if " --env-manager local " not in document["start"]:
        pytest.skip("this environment is not one that `mlflow run` can use as it is")
    quick = "-P preset=quick -P rounds=3 -P warmup=0.2 -P block_ms=5 -P device=cpu -P modes=eager,graph"
    line = document["start"].replace("-P model=EfficientNetV2S", f"-P model={shlex.quote(model('tiny'))} {quick}")

    done = subprocess.run(
        ["bash", "-c", line],
        cwd=lab.root,
        env=lab.environment({}),
        capture_output=True,
        text=True,
        timeout=2 * DEADLINE_S,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "eager" in done.stdout


def test_unknown_flags_a_hidden_driver_library_and_another_backend_are_all_told_at_once(make_lab, tmp_path):
    environment = simulated_nvml(tmp_path, [simulated_gpu(0)])
    _, _, found = diagnose(
        make_lab(), XLA_FLAGS="--xla_nonsense=1", KERAS_BACKEND="jax", CUDA_VISIBLE_DEVICES="0", **environment
    )

    assert found["xla"][0]["found"] == "XLA ended the process: Unknown flag in XLA_FLAGS: --xla_nonsense=1"
    assert found["xla"][0]["do"] == "Correct XLA_FLAGS, or unset it"
    assert statuses(found, "tensorflow") == ["ok"]
    assert "KERAS_BACKEND=jax" in [result["found"] for result in found["flags"]]
    (gpu,) = found["gpu"]
    assert gpu["status"] == "problem"
    assert gpu["found"].startswith("The driver shows NVIDIA H100 80GB HBM3, but TensorFlow sees no GPU: ")


def test_an_unknown_tensorflow_flag_keeps_every_benchmark_from_running(make_lab):
    code, document, found = diagnose(make_lab(), TF_XLA_FLAGS="--tf_xla_nonsense=1")

    assert (code, document["ready"]) == (1, False)
    assert found["tensorflow"][0]["found"].endswith("Unknown flag in TF_XLA_FLAGS: --tf_xla_nonsense=1")
    assert found["tensorflow"][0]["do"] == "Correct TF_XLA_FLAGS, or unset it"


def test_the_reason_that_oneDNN_is_off_is_the_variable(make_lab):  # noqa: N802 - the library's own spelling
    _, _, found = diagnose(make_lab(), TF_ENABLE_ONEDNN_OPTS="0", TF_CPP_MIN_LOG_LEVEL="3")

    assert found["onednn"][0]["found"] == "oneDNN's operations are off: TF_ENABLE_ONEDNN_OPTS=0"
