"""Every process of a benchmark holds the same model and the same inputs, and so does the next benchmark."""

import re

import pytest
from real_command import QUICK, model

pytestmark = pytest.mark.tf

OPTIONS = (*QUICK, "--modes", "eager,graph", "--offline")
MODES = ("eager", "graph")


def _benchmark(make_lab):
    place = make_lab()
    outcome = place.run("run", model("shows_its_input"), *OPTIONS, "--input-shape", "4", "--seed", "7")
    assert outcome.exit_code == 0, outcome.stderr
    shown = {mode: list(dict.fromkeys(re.findall(r"input ([0-9a-f]+)", place.worker_log(mode)))) for mode in MODES}
    return place.recording(), shown


def _first_and_timed(recording, shown):
    """Take the inputs of the first calls and of the timed rounds; between them lies warm-up, of any length."""
    return shown[:1] + shown[-recording.spec.rounds :]


@pytest.fixture(scope="module")
def seeded(make_lab):
    """Give the recordings of two benchmarks with one seed, and the inputs that each mode saw."""
    return [_benchmark(make_lab) for _ in range(2)]


def test_all_modes_see_the_same_inputs_in_a_round_and_each_round_has_its_own(seeded):
    for recording, shown in seeded:
        eager, graph = (_first_and_timed(recording, shown[mode]) for mode in MODES)
        assert eager == graph
        assert len(set(eager)) == 1 + recording.spec.rounds


def test_the_same_seed_gives_the_same_weights_and_inputs_in_another_run(seeded):
    (first, first_shown), (second, second_shown) = seeded
    assert re.fullmatch(r"[0-9a-f]{64}", first.header.weights_sha256)
    assert first.header.weights_sha256 == second.header.weights_sha256
    assert _first_and_timed(first, first_shown["eager"]) == _first_and_timed(second, second_shown["eager"])


def test_the_cpu_asked_for_is_no_finding(seeded):
    for recording, _ in seeded:
        assert recording.header.environment["tensorflow"]["device"] == "CPU"
        assert "cpu_only" not in {finding.code for finding in recording.findings}


def test_modes_whose_weights_are_not_the_first_ones_are_lost(lab):
    outcome = lab.run("run", model("own_weights_in_each_process"), *OPTIONS)
    assert outcome.exit_code == 1, outcome.stderr
    line = lab.recording().final_line("graph")
    assert (line.status, line.reason) == ("run_failed", "its weights are not those of the other modes")
    assert lab.recording().final_line("eager").status == "ok"


@pytest.mark.parametrize("dtype", ["mixed_float16", "bfloat16"])
def test_short_floats_work_on_a_cpu(lab, dtype):
    outcome = lab.run("run", model("tiny"), *OPTIONS, "--dtype", dtype)
    assert outcome.exit_code == 0, outcome.stderr
    recording = lab.recording()
    assert {recording.final_line(mode).status for mode in MODES} == {"ok"}
    tolerance = {"mixed_float16": 1e-2, "bfloat16": 5e-2}[dtype]
    assert recording.final_line("graph").output.rtol == tolerance
