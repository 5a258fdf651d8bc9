"""What holds on a GPU only. The driver is asked for one without importing TensorFlow here."""

import json
import os
import statistics
import subprocess
import sys

import pytest
from real_command import QUICK, model

from mlflow_tfexec.measurement.gpu_visibility import visible_gpus
from mlflow_tfexec.measurement.nvml import read_gpus

NO_GPU = "no GPU that TensorFlow can use"
OPTIONS = (*QUICK, "--modes", "eager,graph,xla", "--device", "gpu")


def _shown_by_the_driver():
    facts = read_gpus()
    return facts.problem is None and bool(visible_gpus(facts, os.environ).devices)


pytestmark = [
    pytest.mark.tf,
    pytest.mark.gpu,
    pytest.mark.mlflow,
    pytest.mark.skipif(not _shown_by_the_driver(), reason=NO_GPU),
]


@pytest.fixture(scope="module")
def taken_by_tensorflow():
    """Skip where the driver shows a GPU and TensorFlow lacks what it needs to use it."""
    program = "import tensorflow as tf; print('GPUs:', len(tf.config.list_physical_devices('GPU')))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    if "GPUs: 0" in done.stdout:
        pytest.skip(NO_GPU)


@pytest.fixture(scope="module")
def chain(taken_by_tensorflow, make_lab):
    """Measure a long chain of multiplications: quick to ask for, slow to do."""
    place = make_lab()
    outcome = place.run("run", model("matmul_chain"), *OPTIONS, "--input-shape", "2048", "--batch-size", "2048")
    assert outcome.exit_code == 0, outcome.stderr
    return place


def median_ns(recording, mode, metric):
    blocks = [b for b in recording.blocks if b.mode == mode and b.metric == metric and not b.warmup]
    return statistics.median(ns for block in blocks for ns in block.calls_ns)


@pytest.mark.parametrize("mode", ["graph", "xla"])
def test_a_call_returns_long_before_its_work_is_done(chain, mode):
    recording = chain.recording()
    assert median_ns(recording, mode, "dispatch") < median_ns(recording, mode, "latency") / 2


def test_every_mode_waits_for_the_work(chain):
    # 200 products of 2048 x 2048 matrices are 3.4e12 operations; no GPU does 2e16 of float32 a second.
    recording = chain.recording()
    for mode in ("eager", "graph", "xla"):
        assert median_ns(recording, mode, "latency") > 200 * 2 * 2048**3 / 2e16 * 1e9


def test_the_fence_has_its_own_cost_in_the_recording(chain):
    recording = chain.recording()
    for mode in ("eager", "graph", "xla"):
        fence_ns = recording.final_line(mode).fence_ns
        assert 0 < fence_ns < median_ns(recording, mode, "latency")


def test_peak_memory_is_tensorflows_own_on_the_gpu(chain):
    recording = chain.recording()
    capacity = recording.header.environment["gpu"]["memory_mb"] * 2**20
    for mode in ("eager", "graph", "xla"):
        # The input alone is 16 MiB.
        assert 16 * 2**20 <= recording.final_line(mode).peak_memory_bytes < capacity


def test_health_between_rounds_is_that_of_the_gpu(chain):
    for health in chain.recording().health:
        assert health.gpu["sm_clock_mhz"] > 0


def test_the_gpu_and_its_software_are_named_in_the_recording(chain):
    environment = chain.recording().header.environment
    facts = environment["tensorflow"]
    assert facts["device"] == "GPU:0"
    assert facts["cuda_version"]
    assert facts["cudnn_version"]
    assert facts["device_details"]["compute_capability"] == environment["gpu"]["compute_capability"]
    assert environment["gpu"]["name"]
    assert environment["gpu_driver"]["version"]


def test_mlflow_has_the_gpus_tags_on_every_run(chain):
    wanted = ("device", "cuda.version", "cudnn.version", "gpu.name", "gpu.uuid", "gpu.driver", "gpu.memory_mb")
    for run in chain.runs():
        assert [name for name in wanted if not run.data.tags.get(f"tfexec.{name}")] == []


def test_there_is_no_finding_that_this_is_a_cpu(taken_by_tensorflow, lab):
    outcome = lab.run(
        "run", model("convolution"), *OPTIONS, "--device", "auto", "--batch-size", "8", "--format", "json", "--offline"
    )
    assert outcome.exit_code == 0, outcome.stderr
    (judged,) = json.loads(outcome.stdout)["benchmarks"]
    assert "cpu_only" not in {finding["code"] for finding in judged["findings"]}
    assert {mode["status"] for mode in judged["modes"]} == {"ok"}


def test_a_gpu_number_beyond_the_last_is_refused(taken_by_tensorflow, lab):
    outcome = lab.run("run", model("tiny"), *OPTIONS, "--device", "gpu:999", "--offline")
    assert outcome.exit_code == 2
    assert "TensorFlow sees " in outcome.stderr
    assert list(lab.spool.iterdir()) == []


def test_a_doctor_finds_the_gpu_in_order(taken_by_tensorflow, lab):
    outcome = lab.run("doctor", "--format", "json")
    found = {result["check"]: result for result in json.loads(outcome.stdout)["results"]}

    assert found["tensorflow"]["found"].endswith("computes on GPU:0")
    for check in ("gpu", "gpu_compiler"):
        assert found[check]["status"] == "ok", found[check]
    assert found["compute_capability"]["status"] in {"ok", "note"}
    assert found["cuda_libraries"]["found"].startswith("Loaded CUDA ")
