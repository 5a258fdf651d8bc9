"""What a session that goes well leaves in its recording."""

import json
import subprocess
import sys
from collections import Counter

import pytest
from sessions import REPOSITORY, Bench, Witness, make_spec

from mlflow_tfexec.records.findings import Finding
from mlflow_tfexec.records.recording import Block, Health
from mlflow_tfexec.session.process import WorkerProcess

MODES = ("eager", "graph", "xla", "graph_control")


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """Two launches of four modes in which nothing goes wrong."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        bench = Bench(tmp_path_factory.mktemp("session"), monkeypatch)
        bench.behave()
        witness = Witness()
        finding = Finding(code="asked", what="The request had this to say.")
        recording = bench.measure(make_spec(*MODES, launches=2, rounds=5, seed=3), witness, findings=(finding,))
        yield bench, witness, recording


def orders(recording, *, launch, warmup=False):
    """Return round → its modes in measured order."""
    found = {}
    for block in recording.blocks:
        if (block.launch, block.metric, block.warmup) == (launch, "latency", warmup):
            found.setdefault(block.round, []).append(block.mode)
    return found


def test_the_header_is_the_first_line_and_the_end_the_last(session):
    bench, _, recording = session

    kinds = [json.loads(line)["kind"] for line in bench.spool.recording_path.read_text(encoding="utf-8").splitlines()]
    assert (kinds[0], kinds[-1], kinds.count("header"), kinds.count("end")) == ("header", "end", 1, 1)
    assert recording.end.status == "complete"
    assert recording.reading_findings == ()


def test_the_header_says_what_the_workers_found(session):
    header = session[2].header

    assert header.benchmark_id == "benchmark"
    assert header.environment["tensorflow"] == {"version": "0.0", "device": "CPU", "gpus_seen": 0}
    assert header.environment["fingerprint"]
    assert [(facts.shape, facts.dtype) for facts in header.inputs] == [((1, 4), "float32")]


def test_findings_of_the_request_come_before_those_of_the_session(session):
    assert [finding.code for finding in session[2].findings] == ["asked", "cpu_only"]


def test_every_mode_is_measured_once_per_round(session):
    for launch in (0, 1):
        rounds = orders(session[2], launch=launch)
        assert sorted(rounds) == [0, 1, 2, 3, 4]
        for order in rounds.values():
            assert sorted(order) == sorted(MODES)


def test_positions_count_from_0_in_measured_order(session):
    positions = [block.position for block in session[2].blocks if (block.metric, block.warmup) == ("latency", False)]

    assert positions == [0, 1, 2, 3] * 10


def test_orders_differ_between_rounds_and_launches(session):
    first, second = orders(session[2], launch=0), orders(session[2], launch=1)

    assert len({tuple(order) for order in first.values()}) > 1
    assert first != second


def test_the_order_of_rounds_follows_from_the_seed(bench, session):
    same = bench.measure(make_spec(*MODES, rounds=5, seed=3))

    assert orders(same, launch=0) == orders(session[2], launch=0)


def test_another_seed_gives_another_order(bench, session):
    other = bench.measure(make_spec(*MODES, rounds=5, seed=4))

    assert orders(other, launch=0) != orders(session[2], launch=0)


def test_each_block_is_written_as_latency_dispatch_and_throughput(session):
    blocks = session[2].blocks

    assert Counter(block.metric for block in blocks) == dict.fromkeys(
        ("latency", "dispatch", "throughput"), len(blocks) // 3
    )
    for latency, dispatch, throughput in zip(blocks[::3], blocks[1::3], blocks[2::3], strict=True):
        assert [latency.metric, dispatch.metric, throughput.metric] == ["latency", "dispatch", "throughput"]
        # 100 ms of calls that take 10 ms.
        assert len(latency.calls_ns) == len(dispatch.calls_ns) == throughput.calls == 10
        assert latency.mode == dispatch.mode == throughput.mode
        assert latency.position == dispatch.position == throughput.position


def test_the_health_of_the_machine_is_noted_after_each_round(session):
    lines = session[2].lines
    noted = [(index, line) for index, line in enumerate(lines) if isinstance(line, Health)]

    assert [(line.launch, line.round) for _, line in noted] == [(launch, n) for launch in (0, 1) for n in range(5)]
    for index, line in noted:
        before = [one for one in lines[:index] if isinstance(one, Block)][-1]
        assert (before.launch, before.round, before.position) == (line.launch, line.round, 3)


def test_last_figures_are_laid_over_the_first_ones(session):
    for line in session[2].mode_lines["xla"].values():
        assert (line.status, line.trace_ns, line.peak_memory_bytes, line.traces) == ("ok", 1_000_000, 1_000_000, 1)
        assert line.started < line.ended


def test_named_phases_fit_into_the_whole(session):
    phases = session[2].phases

    # `other` is the last and is what remains; that it adds up is proved with a clock of its own.
    assert {phase.name for phase in phases} == {
        "start",
        "build",
        "first_call",
        "pilot",
        "warmup",
        "reference_loads",
        "blocks",
        "finish",
        "other",
    }
    assert phases[-1].name == "other"
    assert phases[-1].duration_ns >= 0
    # The pilot runs once for the whole benchmark.
    assert [phase.launch for phase in phases if phase.name == "pilot"] == [0]


def test_stages_are_told_in_order_and_the_time_left_is_known_after_the_first_warm_up(session):
    _, witness, _ = session

    assert list(dict.fromkeys(witness.stages)) == [
        "start",
        "build",
        "first_call",
        "pilot",
        "warmup",
        "rounds",
        "finish",
    ]
    known = [step.left_s is not None for step in witness.steps]
    first = witness.stages.index("rounds")
    assert known == [False] * first + [True] * (len(known) - first)
    assert [step.round for step in witness.steps if step.stage == "rounds"][:8] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert witness.steps[-1].left_s == 0.0


def test_the_baseline_makes_its_first_call_before_all_others(session):
    first_calls = [step.mode for step in session[1].steps if (step.stage, step.launch) == ("first_call", 0)]

    assert first_calls == ["eager", "graph", "xla", "graph_control"]


def test_everything_a_worker_prints_is_in_its_log_and_nowhere_else(session):
    bench, _, recording = session

    log = bench.log("xla", launch=1)
    for words in ("python prints in start", "descriptor 1 in build", "descriptor 2 in first_call", "early print"):
        assert words in log
    assert recording.final_line("xla").log_tail is None
    text = bench.spool.recording_path.read_text(encoding="utf-8")
    assert "prints in" not in text
    assert "descriptor" not in text


def test_standard_input_of_a_worker_is_at_its_end(session):
    assert "standard input holds b'' and ''" in session[0].log("graph")


def test_a_block_in_which_the_mode_was_traced_again_is_invalid(bench):
    bench.behave(graph={"retraces": "block:6"})

    recording = bench.measure(make_spec())

    invalid = [(b.mode, b.round, b.warmup, b.metric) for b in recording.blocks if not b.valid]
    assert invalid == [("graph", 0, False, metric) for metric in ("latency", "dispatch", "throughput")]
    assert recording.mode_lines["graph"][0].traces == 2


def test_a_mode_whose_outputs_differ_is_flagged_and_still_measured(bench):
    bench.behave(graph={"output": {"max_abs_error": 0.02, "max_rel_error": 0.01, "within_tolerance": False}})

    recording = bench.measure(make_spec())

    line = recording.final_line("graph")
    assert line.status == "outputs_differ"
    assert line.reason == (
        "outputs differ from eager by up to 0.02, 0.01 of the largest value; "
        "allowed: 0.001 of a value plus 0.0001 of the largest"
    )
    assert [block for block in recording.blocks if block.mode == "graph" and not block.warmup]


def test_nobody_is_held_to_a_baseline_that_disagrees_with_itself(bench):
    differing = {"output": {"max_abs_error": 0.5, "within_tolerance": False}}
    bench.behave(eager=differing, graph=differing)

    recording = bench.measure(make_spec())

    assert {mode: recording.final_line(mode).status for mode in ("eager", "graph")} == {"eager": "ok", "graph": "ok"}
    finding = next(finding for finding in recording.findings if finding.code == "not_deterministic")
    assert finding.what == (
        "Two eager calls on the same input differ: outputs differ from eager by up to 0.5; "
        "allowed: 0.001 of a value plus 0.0001 of the largest."
    )


@pytest.mark.parametrize(("spread", "is_told"), [(1e-9, True), (1e-3, False)])
def test_outputs_that_are_all_alike_are_a_finding(bench, spread, is_told):
    bench.behave(eager={"output_spread": spread})

    recording = bench.measure(make_spec())

    assert ("outputs_uninformative" in [finding.code for finding in recording.findings]) is is_told


def test_a_warm_up_that_never_settles_ends_by_its_limit_with_a_finding(bench):
    bench.behave(graph={"drift": 1.1})

    recording = bench.measure(make_spec(warmup_s=2.0))

    finding = next(finding for finding in recording.findings if finding.code == "no_steady_state")
    assert "in launch 1: graph (2." in finding.what
    assert "eager" not in finding.what


def test_a_call_longer_than_the_warm_up_is_run_once_for_it(bench):
    bench.behave(eager={"call_ns": 3_000_000_000})

    recording = bench.measure(make_spec(warmup_s=2.0))

    warmups = [b for b in recording.blocks if (b.mode, b.metric, b.warmup) == ("eager", "latency", True)]
    assert [len(block.calls_ns) for block in warmups] == [1]


def test_workers_start_with_the_variables_of_their_mode(monkeypatch, tmp_path):
    monkeypatch.setenv("MLFLOW_RUN_ID", "the-parent's-own")
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    show = "import os; [print(k, os.environ.get(k)) for k in ('TF_XLA_FLAGS', 'KERAS_BACKEND', 'MLFLOW_RUN_ID')]"
    monkeypatch.setattr(
        "mlflow_tfexec.session.process.WORKER_COMMAND",
        (sys.executable, "-c", f"import sys; sys.stdout = sys.stderr; {show}"),
    )

    worker = WorkerProcess("xla", tmp_path / "log", {"TF_XLA_FLAGS": "--of-this-mode"})
    worker.wait_end()

    assert worker.log_tail() == "TF_XLA_FLAGS --of-this-mode\nKERAS_BACKEND tensorflow\nMLFLOW_RUN_ID None"


def test_the_parent_of_a_whole_session_never_imports_tensorflow(tmp_path):
    script = f"""
import sys
from pathlib import Path
import pytest
sys.path.insert(0, {str(REPOSITORY / "tests")!r})
from sessions import Bench, make_spec
with pytest.MonkeyPatch.context() as monkeypatch:
    bench = Bench(Path({str(tmp_path)!r}), monkeypatch)
    bench.behave()
    assert bench.measure(make_spec()).end.status == "complete"
print(sorted({{"tensorflow", "keras", "mlflow", "pandas"}} & set(sys.modules)))
"""
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=REPOSITORY, timeout=60
    )

    assert (result.stdout, result.returncode) == ("[]\n", 0), result.stderr
