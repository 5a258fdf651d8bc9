"""A model that prints in every way, and takes long for a call."""

import json

import pytest
from real_command import QUICK, model

pytestmark = pytest.mark.tf

OPTIONS = (*QUICK, "--rounds", "2", "--modes", "eager,graph", "--input-shape", "4", "--format", "json", "--offline")

SAID_BY_BOTH = (
    "a child of the factory",
    "looks like a message",
    "printed in a call",
    "printed by the step",
    "written to stderr in a call",
    "written to descriptor 1 in a call",
    "printed by TensorFlow",
)


@pytest.fixture(
    scope="module",
    params=["slow_and_talkative", pytest.param("very_slow_and_talkative", marks=pytest.mark.slow)],
)
def benchmark(make_lab, request):
    place = make_lab()
    return place, place.run("run", model(request.param), *OPTIONS)


def test_standard_output_is_one_json_document(benchmark):
    _, outcome = benchmark
    assert outcome.exit_code == 0, outcome.stderr
    (judged,) = json.loads(outcome.stdout)["benchmarks"]
    assert [mode["status"] for mode in judged["modes"]] == ["ok", "ok"]


@pytest.mark.parametrize("mode", ["eager", "graph"])
@pytest.mark.parametrize("text", SAID_BY_BOTH)
def test_what_the_model_prints_is_in_the_workers_log(benchmark, mode, text):
    place, _ = benchmark
    assert text in place.worker_log(mode)


@pytest.mark.parametrize("text", SAID_BY_BOTH)
def test_what_the_model_prints_does_not_reach_the_user(benchmark, text):
    _, outcome = benchmark
    assert text not in outcome.stdout
    assert text not in outcome.stderr


def test_standard_error_holds_our_own_lines_only(benchmark):
    _, outcome = benchmark
    assert [line for line in outcome.stderr.splitlines() if not line.startswith("mlflow-tfexec: ")] == []


def test_a_slow_call_is_measured_once_in_a_block(benchmark):
    place, _ = benchmark
    latency = [block for block in place.recording().blocks if block.metric == "latency"]
    assert {len(block.calls_ns) for block in latency} == {1}
    assert min(call_ns for block in latency for call_ns in block.calls_ns) >= 1_000_000_000
