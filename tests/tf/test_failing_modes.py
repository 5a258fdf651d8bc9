"""Each way in which a mode can fail has its status and a readable reason, and costs no other mode."""

import pytest
from real_command import QUICK, model

pytestmark = pytest.mark.tf

OPTIONS = (*QUICK, "--input-shape", "4", "--offline")


@pytest.fixture(scope="module")
def refused(make_lab):
    place = make_lab()
    return place, place.run("run", model("refused_in_three_modes"), *OPTIONS)


@pytest.fixture(scope="module")
def dead(make_lab):
    place = make_lab()
    return place, place.run("run", model("dies_in_three_modes"), *OPTIONS)


@pytest.fixture(scope="module")
def hung(make_lab):
    """Wait a while for a mode that never answers: long enough for two processes to import TensorFlow."""
    place = make_lab()
    return place, place.run(
        "run", model("hangs_in_first_call"), *OPTIONS, "--modes", "eager,graph_nojit", "--timeout", "30"
    )


@pytest.mark.parametrize(
    ("mode", "status", "reason"),
    [
        ("graph_nojit", "trace_failed", "ValueError: this model does not like graphs"),
        ("graph_control", "trace_failed", "the model called sys.exit(3)"),
    ],
)
def test_a_model_that_cannot_be_traced(refused, mode, status, reason):
    place, _ = refused
    line = place.recording().final_line(mode)
    assert (line.status, line.reason) == (status, reason)


def test_an_operation_that_xla_does_not_know_is_named(refused):
    place, _ = refused
    line = place.recording().final_line("xla")
    assert line.status == "compile_failed"
    assert "unsupported operations" in line.reason
    assert "PyFunc" in line.reason


def test_a_process_that_kills_itself_in_a_late_call_is_crashed(dead):
    place, _ = dead
    line = place.recording().final_line("graph_nojit")
    assert (line.status, line.reason) == ("crashed", "ended by signal 9 (SIGKILL)")
    assert line.first_call_ns > 0


def test_a_process_that_ends_itself_is_crashed(dead):
    place, _ = dead
    line = place.recording().final_line("xla")
    assert (line.status, line.reason) == ("crashed", "ended with exit code 7")


def test_more_memory_than_there_is_for_tensorflow_is_oom(dead):
    place, _ = dead
    line = place.recording().final_line("graph_control")
    assert line.status == "oom"
    assert line.reason.startswith("ResourceExhaustedError: ")
    assert "OOM when allocating tensor with shape[1048576,1048576]" in line.reason


def test_more_memory_than_there_is_for_python_is_oom(lab):
    lab.run("run", model("out_of_memory_in_python"), *OPTIONS, "--modes", "eager,graph_nojit")
    line = lab.recording().final_line("graph_nojit")
    assert line.status == "oom"
    assert "MemoryError" in line.reason


def test_a_mode_that_does_not_answer_is_a_timeout(hung):
    place, outcome = hung
    line = place.recording().final_line("graph_nojit")
    assert line.status == "timeout"
    assert line.reason == "no answer within 30 s while tracing, compiling and calling for the first time"
    assert place.recording().final_line("eager").status == "ok"
    assert place.recording().end.status == "complete"
    # One mode beside the baseline was ranked, and it is lost.
    assert outcome.exit_code == 1


@pytest.mark.parametrize("fixture", ["refused", "dead"])
def test_the_other_modes_complete(request, fixture):
    place, outcome = request.getfixturevalue(fixture)
    assert outcome.exit_code == 0, outcome.stderr
    for mode in ("eager", "graph"):
        assert place.recording().final_line(mode).status == "ok"
        assert place.recording().final_line(mode).peak_memory_bytes > 0


@pytest.mark.parametrize("fixture", ["refused", "dead", "hung"])
def test_every_reason_is_one_short_printable_line_that_the_report_shows(request, fixture):
    place, outcome = request.getfixturevalue(fixture)
    reasons = {mode: place.recording().final_line(mode).reason for mode in place.recording().spec.modes}
    failed = {mode: reason for mode, reason in reasons.items() if reason is not None}
    assert failed
    shown = "".join(outcome.stdout.split())
    for mode, reason in failed.items():
        assert reason.isprintable()
        assert len(reason) <= 500
        assert "Traceback" not in reason
        assert 'File "' not in reason
        assert f"{mode}:" in outcome.stderr
        assert "".join(reason.split())[:60] in shown


def test_the_baseline_lost_in_a_late_call_leaves_the_others_measured_and_the_benchmark_incomplete(lab):
    outcome = lab.run("run", model("fails_in_a_late_call"), *OPTIONS, "--modes", "eager,graph,graph_nojit")
    assert outcome.exit_code == 1
    recording = lab.recording()
    assert recording.final_line("eager").status == "run_failed"
    assert recording.final_line("eager").reason == "the model called sys.exit(3)"
    assert recording.final_line("graph_nojit").status == "run_failed"
    assert "this model does not like" in recording.final_line("graph_nojit").reason
    assert recording.final_line("graph").status == "ok"


def test_a_model_that_dies_while_loading_crashes_every_mode(lab):
    outcome = lab.run("run", model("dies_while_loading"), *OPTIONS, "--modes", "eager,graph")
    assert outcome.exit_code == 1
    assert "Traceback" not in outcome.stderr
    recording = lab.recording()
    assert {recording.final_line(mode).status for mode in ("eager", "graph")} == {"crashed"}
    assert recording.end.status == "failed"
