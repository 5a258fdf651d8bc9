"""Somebody stops a benchmark: it stops in order, and what was complete is kept."""

import signal
import sys

import pytest
from real_command import QUICK, eventually, model

pytestmark = [
    pytest.mark.tf,
    pytest.mark.mlflow,
    pytest.mark.skipif(sys.platform == "win32", reason="a signal cannot be sent to one process on Windows"),
]

OPTIONS = (*QUICK, "--modes", "eager,graph", "--rounds", "100000")
HEALTH_OF_SIXTH_ROUND = '"kind":"health","launch":0,"round":5'


@pytest.fixture(scope="module", params=[signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def interrupted(make_lab, request):
    """Send the signal among the rounds; also give the workers that were there and still are."""
    place = make_lab()
    with place.start("run", model("tiny"), *OPTIONS) as command:
        command.wait_for("round 1/100000")
        command.worker("eager")
        eventually(
            lambda: HEALTH_OF_SIXTH_ROUND in place.benchmarks()[0].recording_path.read_text(), what="a few rounds"
        )
        command.process.send_signal(request.param)
        return place, command.wait(), command.survivors(), request.param.name


def test_the_exit_code_says_interrupted(interrupted):
    _, outcome, _, signal_name = interrupted
    assert outcome.exit_code == 130, outcome.stderr
    assert f"Interrupted by {signal_name}. What was measured is being logged." in outcome.stderr
    assert "Traceback" not in outcome.stderr


def test_all_workers_are_gone(interrupted):
    _, _, survivors, _ = interrupted
    assert survivors == []


def test_what_the_workers_exchanged_is_removed(interrupted):
    place, *_ = interrupted
    assert not place.benchmarks()[0].scratch.exists()
    assert [path.name for path in (place.root / "scratch").glob("mlflow-tfexec-*")] == []


def test_the_recording_says_interrupted_and_holds_the_rounds_before(interrupted):
    place, *_ = interrupted
    recording = place.recording()
    assert recording.end.status == "interrupted"
    assert {block.round for block in recording.blocks if not block.warmup} >= set(range(5))


def test_mlflow_has_a_killed_parent_and_the_modes_as_far_as_they_were_measured(interrupted):
    place, *_ = interrupted
    runs = {run.data.tags.get("tfexec.mode", "benchmark"): run for run in place.runs()}
    assert {name: run.info.status for name, run in runs.items()} == {
        "benchmark": "KILLED",
        "eager": "FINISHED",
        "graph": "FINISHED",
    }
    assert runs["benchmark"].data.tags["tfexec.status"] == "interrupted"
    assert runs["graph"].data.metrics["latency_ms/median"] > 0


def test_stopped_while_importing_it_leaves_nothing_behind(lab):
    with lab.start("run", model("tiny"), *OPTIONS) as command:
        command.worker("graph")
        command.process.send_signal(signal.SIGINT)
        outcome = command.wait()
        assert command.survivors() == []
    assert outcome.exit_code == 130
    assert "Nothing was measured yet." in outcome.stderr
    assert list(lab.spool.iterdir()) == []
    assert lab.runs() == []
