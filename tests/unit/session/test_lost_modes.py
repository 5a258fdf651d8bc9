"""A worker that dies, hangs or fails costs its own mode, whatever it does and whenever it does it."""

import re

import psutil
import pytest
from sessions import Bench, Witness, make_spec

from mlflow_tfexec.errors import RequestError

KILLED = {
    "at_start": {"signals": {"start": 9}},
    "at_build": {"signals": {"build": 9}},
    "at_first_call": {"signals": {"first_call": 11}},
    "at_pilot": {"signals": {"pilot": 6}},
    "at_warmup": {"exits": {"block:1": 77}},
    "at_round": {"signals": {"block:6": 9}},
    "at_finish": {"signals": {"finish": 9}},
}


@pytest.fixture(scope="module")
def casualties(tmp_path_factory):
    """Two launches in which a mode dies at each stage of the first, beside two that live."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        bench = Bench(tmp_path_factory.mktemp("casualties"), monkeypatch)
        bench.behave(**KILLED)
        witness = Witness()
        recording = bench.measure(make_spec("eager", *KILLED, "graph", launches=2), witness)
        yield bench, witness, recording


@pytest.mark.parametrize(
    ("mode", "how"),
    [
        ("at_start", "ended by signal 9 (SIGKILL)"),
        ("at_build", "ended by signal 9 (SIGKILL)"),
        ("at_first_call", "ended by signal 11 (SIGSEGV)"),
        ("at_pilot", "ended by signal 6 (SIGABRT)"),
        ("at_warmup", "ended with exit code 77"),
        ("at_round", "ended by signal 9 (SIGKILL)"),
        ("at_finish", "ended by signal 9 (SIGKILL)"),
    ],
)
def test_a_dead_worker_is_a_crash_whose_reason_says_how_it_died(casualties, mode, how):
    _, witness, recording = casualties

    line = recording.final_line(mode)
    assert (line.status, line.reason) == ("crashed", how)
    assert (mode, "crashed", how) in witness.failures


@pytest.mark.parametrize(
    ("mode", "last_words"),
    [
        ("at_start", "in start"),
        ("at_build", "in build"),
        ("at_first_call", "in first_call"),
        ("at_pilot", "in pilot"),
        ("at_warmup", "in block:1"),
        ("at_round", "in block:6"),
        ("at_finish", "in finish"),
    ],
)
def test_the_last_words_of_a_dead_worker_are_kept(casualties, mode, last_words):
    tail = casualties[2].final_line(mode).log_tail

    # The fault handler may have added where in Python it was.
    assert f"descriptor 2 {last_words}" in tail


def test_modes_that_live_are_measured_to_the_end_in_every_launch(casualties):
    _, _, recording = casualties

    for mode in ("eager", "graph"):
        assert {launch: line.status for launch, line in recording.mode_lines[mode].items()} == {0: "ok", 1: "ok"}
        measured = [
            (block.launch, block.round)
            for block in recording.blocks
            if (block.mode, block.metric, block.warmup) == (mode, "latency", False)
        ]
        assert measured == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert recording.end.status == "complete"


def test_a_mode_that_was_lost_is_not_started_again(casualties):
    bench, _, _ = casualties

    assert bench.started() == sorted([f"{mode}.0" for mode in ("eager", "graph", *KILLED)] + ["eager.1", "graph.1"])


def test_what_a_mode_measured_before_it_died_is_kept(casualties):
    blocks = [block for block in casualties[2].blocks if (block.mode, block.metric) == ("at_finish", "latency")]

    assert [block.round for block in blocks if not block.warmup] == [0, 1]


def test_no_worker_outlives_its_session(casualties):
    bench, _, _ = casualties

    assert len(bench.pids()) == 11
    assert not [pid for pid in bench.pids() if psutil.pid_exists(pid)]


def test_the_header_comes_first_though_a_worker_dies_before_it(casualties):
    bench, _, recording = casualties

    assert bench.spool.recording_path.read_text(encoding="utf-8").startswith('{"kind":"header"')
    first = next(line for line in recording.lines if line.kind == "mode")
    assert (first.mode, first.status) == ("at_start", "crashed")


def test_a_session_in_which_every_worker_dies_is_recorded_as_failed(bench):
    bench.behave(eager={"signals": {"start": 9}}, graph={"exits": {"start": 1}})

    recording = bench.measure(make_spec(launches=3))

    assert recording.end.status == "failed"
    assert {mode: recording.final_line(mode).status for mode in ("eager", "graph")} == {
        "eager": "crashed",
        "graph": "crashed",
    }
    assert bench.started() == ["eager.0", "graph.0"]


def test_a_mode_lost_in_a_later_launch_keeps_what_the_earlier_launch_measured(bench):
    bench.behave(graph={"raises": {"build": ["ValueError", "no such layer"]}, "only_launch": 1})

    recording = bench.measure(make_spec(launches=2))

    lines = recording.mode_lines["graph"]
    assert (lines[0].status, lines[1].status, lines[1].reason) == ("ok", "run_failed", "ValueError: no such layer")
    assert recording.end.status == "complete"


@pytest.mark.parametrize(("stage", "is_told"), [("first_call", True), ("block:0", False)])
def test_of_a_long_step_the_observer_is_told_and_of_a_long_block_it_is_not(bench, monkeypatch, stage, is_told):
    """Whatever an observer does would run beside what is timed."""
    monkeypatch.setattr(
        "mlflow_tfexec.session.crew.block_deadline_s", lambda call_ns, *_: 2.5 if call_ns == 5_000_000 else 50.0
    )
    bench.behave(graph={"call_ns": 5_000_000, "hangs": stage})
    witness = Witness()

    recording = bench.measure(make_spec(timeout_s=20.0 if stage == "block:0" else 4.0), witness)

    assert recording.final_line("graph").status == "timeout"
    hanging = [seconds for seconds, limit_s in witness.waits if limit_s == 4.0 and seconds > 1.5]
    assert bool(hanging) == is_told


def test_a_worker_that_hangs_in_a_block_is_ended_when_its_time_is_up(bench, monkeypatch):
    # Told apart by their call time, so that no slow machine makes the other mode late.
    monkeypatch.setattr(
        "mlflow_tfexec.session.crew.block_deadline_s", lambda call_ns, *_: 0.6 if call_ns == 5_000_000 else 50.0
    )
    bench.behave(graph={"call_ns": 5_000_000, "hangs": "block:0", "ignores_sigterm": True})

    recording = bench.measure(make_spec())

    line = recording.final_line("graph")
    assert (line.status, line.reason) == ("timeout", "no answer within 0.6 s while calling the model")
    assert line.log_tail.endswith("descriptor 2 in block:0")
    assert recording.end.status == "complete"


def test_exceptions_in_a_worker_become_the_status_of_its_mode(bench):
    bench.behave(
        graph={"raises": {"first_call": ["ResourceExhaustedError", "OOM when allocating tensor"]}},
        xla={"raises": {"first_call": ["UnimplementedError", "x[_XlaMustCompile=true] on XLA_CPU_JIT: EagerPyFunc"]}},
        other={"raises": {"block:0": ["SystemExit", "5"]}},
    )

    recording = bench.measure(make_spec("eager", "graph", "xla", "other"))

    ends = {
        mode: (line := recording.final_line(mode)).status + ": " + str(line.reason) for mode in recording.mode_lines
    }
    assert ends == {
        "eager": "ok: None",
        "graph": "oom: ResourceExhaustedError: OOM when allocating tensor",
        "xla": "compile_failed: UnimplementedError: x on XLA_CPU_JIT: EagerPyFunc",
        "other": "run_failed: the model called sys.exit('5')",
    }
    assert "Traceback" in recording.final_line("graph").log_tail


def test_a_model_that_cannot_be_had_as_asked_is_a_wrong_request_and_leaves_nothing_behind(bench):
    bench.behave(eager={"raises": {"build": ["ValueError", "input shape (3,) does not fit"]}})

    with pytest.raises(RequestError) as caught:
        bench.measure(make_spec())

    said, where = str(caught.value).splitlines()
    assert said == "Cannot load model 'Fake': input shape (3,) does not fit"
    assert re.fullmatch(r"Where: line fake_worker\.py:\d+ in \w+\.", where)
    assert not bench.spool.directory.exists()


@pytest.mark.parametrize(
    ("device", "gpus_seen", "advice"),
    [
        ("gpu", 0, r"^No device 'gpu'\. No GPU"),
        ("gpu:4", 2, r"^No device 'gpu:4'\. TensorFlow sees 2 GPU\(s\), numbered from 0: give a smaller N in --device"),
    ],
)
def test_a_device_that_is_not_there_is_a_wrong_request_with_advice(bench, device, gpus_seen, advice):
    bench.behave(eager={"device": None, "gpus_seen": gpus_seen}, graph={"device": None, "gpus_seen": gpus_seen})

    with pytest.raises(RequestError, match=advice):
        bench.measure(make_spec(device=device))

    assert not bench.spool.directory.exists()


def test_a_mode_with_other_weights_is_lost(bench):
    bench.behave(graph={"weights": "cd" * 32})

    recording = bench.measure(make_spec())

    line = recording.final_line("graph")
    assert (line.status, line.reason) == ("run_failed", "its weights are not those of the other modes")
    assert recording.header.weights_sha256 == "ab" * 32


def test_a_mode_with_other_inputs_is_lost(bench):
    bench.behave(eager={"inputs_sha256": "aa"}, graph={"inputs_sha256": "bb"}, xla={"inputs_sha256": "aa"})

    recording = bench.measure(make_spec("eager", "graph", "xla"))

    line = recording.final_line("graph")
    assert (line.status, line.reason) == ("run_failed", "its inputs are not those of the other modes")
    assert recording.final_line("xla").status == "ok"
    assert recording.header.inputs_sha256 == "aa"
