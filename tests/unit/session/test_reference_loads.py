"""Reference loads: timed in every round beside the modes, and never in the way of them."""

import pytest
from sessions import make_spec

from mlflow_tfexec.records.reference_loads import LOADS
from mlflow_tfexec.session.reference_loads import load_ns, place_in_round
from mlflow_tfexec.statistics.judge import judge
from mlflow_tfexec.statistics.rounds import read_rounds

MODES = ("eager", "graph")


def places(recording):
    return [(line.launch, line.round, line.position) for line in recording.reference_loads if line.load == "compute"]


def codes(recording):
    return [finding.code for finding in recording.findings]


def test_every_load_is_timed_once_in_every_round_of_every_launch(bench):
    recording = bench.measure(make_spec(*MODES, launches=2, rounds=3))

    timed = [(line.launch, line.round, line.load) for line in recording.reference_loads]
    assert timed == [(launch, round_, load) for launch in (0, 1) for round_ in range(3) for load in LOADS]
    assert all(line.calls_ns for line in recording.reference_loads)


def test_loads_are_no_modes(bench):
    recording = bench.measure(make_spec(*MODES, rounds=3))

    assert set(recording.mode_lines) == set(read_rounds(recording).medians_ns) == set(MODES)
    assert [summary.mode for summary in judge(recording).modes] == list(MODES)


def test_loads_stand_in_the_file_where_their_position_says(bench):
    recording = bench.measure(make_spec(*MODES, rounds=8))

    for place in places(recording):
        lines = [line for line in recording.lines if getattr(line, "round", None) == place[1]]
        after = [line for line in lines if getattr(line, "metric", None) == "latency" and not line.warmup]
        here = next(index for index, line in enumerate(lines) if line.kind == "reference_load")
        assert [line.position for line in after if lines.index(line) > here] == list(range(place[2], len(MODES)))


def test_their_place_in_a_round_is_drawn_anew_and_follows_from_the_seed():
    drawn = [place_in_round(make_spec(seed=3), launch, round_, 2) for launch in range(3) for round_ in range(10)]

    assert set(drawn) == {0, 1, 2}
    assert drawn == [
        place_in_round(make_spec(seed=3), launch, round_, 2) for launch in range(3) for round_ in range(10)
    ]
    assert drawn != [
        place_in_round(make_spec(seed=4), launch, round_, 2) for launch in range(3) for round_ in range(10)
    ]


def test_all_loads_together_take_less_than_one_mode():
    spec = make_spec(block_ms=100.0)

    assert len(LOADS) * load_ns(spec) < spec.block_ms * 1e6


@pytest.mark.parametrize("stage", ["start", "block"])
def test_a_process_that_dies_costs_the_loads_and_nothing_else(bench, monkeypatch, stage):
    monkeypatch.setenv("FAKE_LOADS", stage)

    recording = bench.measure(make_spec(*MODES, rounds=3))

    assert recording.reference_loads == ()
    assert recording.end.status == "complete"
    assert codes(recording).count("no_reference_loads") == 1
    assert [recording.final_line(mode).status for mode in MODES] == ["ok", "ok"]
    assert {block.round for block in recording.blocks if not block.warmup} == {0, 1, 2}


def test_there_are_none_where_no_mode_could_be_started(bench):
    bench.behave(eager={"exits": {"build": 1}}, graph={"exits": {"build": 1}})

    assert bench.measure(make_spec(*MODES)).reference_loads == ()
