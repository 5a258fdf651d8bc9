"""A worker that is killed from outside costs its own mode and nothing else, whenever it happens."""

import pytest
from real_command import QUICK, model

pytestmark = [pytest.mark.tf, pytest.mark.mlflow]

KILLED = ("graph_nojit", "xla", "graph_control")


@pytest.fixture(scope="module")
def benchmark(make_lab):
    """Kill one worker while it imports TensorFlow, one inside its first call, and one among the measured blocks."""
    place = make_lab()
    options = (*QUICK, "--rounds", "40", "--block-ms", "20", "--input-shape", "4")
    with place.start("run", model("ready_to_be_killed"), *options) as command:
        command.worker("graph_nojit").kill()
        command.wait_for("first call: xla")
        command.worker("xla").kill()
        command.wait_for("round 1/40")
        command.worker("graph_control").kill()
        return place, command.wait()


def test_the_benchmark_is_done_without_the_killed_modes(benchmark):
    _, outcome = benchmark
    assert outcome.exit_code == 0, outcome.stderr


def test_the_other_modes_are_measured_to_the_last_round(benchmark):
    place, _ = benchmark
    recording = place.recording()
    assert recording.end.status == "complete"
    for mode in ("eager", "graph"):
        assert recording.final_line(mode).status == "ok"
        measured = [b.round for b in recording.blocks if b.mode == mode and b.metric == "latency" and not b.warmup]
        assert measured == list(range(40))


@pytest.mark.parametrize("mode", KILLED)
def test_a_killed_mode_is_crashed_and_says_by_which_signal(benchmark, mode):
    place, outcome = benchmark
    line = place.recording().final_line(mode)
    assert line.status == "crashed"
    assert line.reason == "ended by signal 9 (SIGKILL)"
    assert f"{mode}: crashed: ended by signal 9 (SIGKILL)" in outcome.stderr


@pytest.mark.parametrize("mode", ["xla", "graph_control"])
def test_the_end_of_its_log_is_in_the_recording(benchmark, mode):
    place, _ = benchmark
    tail = place.recording().final_line(mode).log_tail
    assert tail
    assert place.worker_log(mode).rstrip().endswith(tail)


def test_a_mode_killed_among_its_blocks_keeps_the_blocks_before(benchmark):
    place, _ = benchmark
    blocks = [block for block in place.recording().blocks if block.mode == "graph_control"]
    assert blocks
    assert all(block.round < 40 for block in blocks)


def test_mlflow_has_the_killed_modes_as_failed_and_the_others_as_finished(benchmark):
    place, _ = benchmark
    children = {run.info.run_name: run for run in place.runs() if run.data.tags["tfexec.kind"] == "mode"}
    assert {name: run.info.status for name, run in children.items()} == {
        "eager": "FINISHED",
        "graph": "FINISHED",
        **dict.fromkeys(KILLED, "FAILED"),
    }
    assert {children[mode].data.tags["tfexec.status"] for mode in KILLED} == {"crashed"}
    (parent,) = [run for run in place.runs() if run.data.tags["tfexec.kind"] == "benchmark"]
    assert parent.info.status == "FINISHED"


def test_strict_makes_a_killed_worker_a_failure(lab):
    options = (*QUICK, "--modes", "eager,graph,graph_nojit", "--offline", "--strict")
    with lab.start("run", model("tiny"), *options) as command:
        command.worker("graph_nojit").kill()
        outcome = command.wait()
    assert outcome.exit_code == 1, outcome.stderr
    assert lab.recording().final_line("graph").status == "ok"
