"""Whole sessions that end once all is decided, go on while it is not, and say so as they go."""

import dataclasses

import pytest
from sessions import Bench, Witness, make_spec

from mlflow_tfexec.errors import Interrupted
from mlflow_tfexec.records.recording import Look, Recording
from mlflow_tfexec.statistics.judge import judge
from mlflow_tfexec.statistics.stopping import undecided_pairs

QUICK_GRAPH = {"graph": {"call_ns": 5_000_000}}
# Its processes are now slower and now faster than the baseline's, by far more than anything else differs.
FICKLE_GRAPH = {"graph": {"launch_factors": [1.0, 1.2, 0.85, 1.1, 0.9]}}


class Diary(Witness):
    """A witness that knows how far the session had come when it was told of a look."""

    def __init__(self):
        super().__init__()
        self.steps_before_looks = []

    def looked(self, look):
        super().looked(look)
        self.steps_before_looks.append(len(self.steps))


def measure_in(directory, behaviour, spec):
    """Measure, and return what was written and what was told."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        bench = Bench(directory, monkeypatch)
        bench.behave(**behaviour)
        diary = Diary()
        return bench.measure(spec, diary), diary


@pytest.fixture(scope="module")
def decided(tmp_path_factory):
    """Two quiet modes, one twice as fast as the other."""
    return measure_in(tmp_path_factory.mktemp("decided"), QUICK_GRAPH, make_spec(launches=5, looks=(3, 5)))


@pytest.fixture(scope="module")
def open_to_the_end(tmp_path_factory):
    """Two modes whose difference drowns in that of their processes."""
    return measure_in(tmp_path_factory.mktemp("open"), FICKLE_GRAPH, make_spec(launches=5, looks=(3, 5)))


def launches_of(recording):
    return sorted({block.launch for block in recording.blocks})


def cut_at_look(recording, number):
    """Return what the recording held when that look was taken."""
    (at,) = (i for i, line in enumerate(recording.lines) if line is recording.looks[number])
    return Recording(header=recording.header, lines=recording.lines[:at])


def with_looks(recording, *looks):
    """Return the recording as if it had been planned with these looks."""
    spec = recording.spec.model_copy(update={"looks": looks})
    return dataclasses.replace(recording, header=recording.header.model_copy(update={"spec": spec}))


def test_modes_that_differ_clearly_end_the_benchmark_at_the_first_look(decided):
    recording, _ = decided

    assert launches_of(recording) == [0, 1, 2]
    assert recording.looks == (Look(launches=3, undecided=(), stop="decided"),)
    assert recording.end.status == "complete"


def test_a_benchmark_that_ended_early_is_whole_and_claims_what_it_saw(decided):
    judgement = judge(decided[0])

    assert judgement.ordering == "eager > graph"
    assert {"partial", "undecided"}.isdisjoint(finding.code for finding in judgement.findings)


def test_modes_that_stay_undecided_are_measured_to_the_last_launch(open_to_the_end):
    recording, _ = open_to_the_end

    assert launches_of(recording) == [0, 1, 2, 3, 4]
    assert [(look.launches, look.stop) for look in recording.looks] == [(3, None), (5, "last")]
    assert [set(pair) for look in recording.looks for pair in look.undecided] == [{"eager", "graph"}] * 2
    assert recording.end.status == "complete"


def test_a_look_stands_between_the_launches_that_it_saw_and_those_to_come(open_to_the_end):
    launches = [line.launch if line.kind == "block" else line.kind for line in open_to_the_end[0].lines]

    first, last = (i for i, launch in enumerate(launches) if launch == "look")
    assert {*launches[:first]} & {0, 1, 2, 3, 4} == {0, 1, 2}
    assert {*launches[first:last]} & {0, 1, 2, 3, 4} == {3, 4}


@pytest.mark.parametrize("number", [0, 1])
def test_what_a_look_saw_follows_from_the_recording_up_to_it(open_to_the_end, number):
    recording, _ = open_to_the_end

    before = judge(cut_at_look(recording, number))

    assert undecided_pairs(before.comparisons) == recording.looks[number].undecided


def test_the_first_look_has_wider_intervals_than_the_same_data_without_a_look_to_come(open_to_the_end):
    early = cut_at_look(open_to_the_end[0], 0)

    ((first,), (only,)) = (judge(with_looks(early, *looks)).comparisons for looks in ((3, 5), (3,)))

    assert first.ratio == only.ratio
    assert first.ci95_low < only.ci95_low < only.ci95_high < first.ci95_high


def test_each_look_is_told_in_order_between_the_end_of_its_launch_and_the_next(open_to_the_end):
    recording, diary = open_to_the_end

    assert tuple(diary.looks) == recording.looks
    (first, last), steps = diary.steps_before_looks, diary.steps
    assert [(step.launch, step.stage) for step in steps[first - 1 : first + 1]] == [(2, "finish"), (3, "start")]
    assert (steps[-1].launch, steps[-1].stage, len(steps)) == (4, "finish", last)


def test_progress_counts_to_the_next_look_and_knows_the_most(open_to_the_end):
    counted = {step.launch: (step.launches, step.most_launches) for step in open_to_the_end[1].steps}

    assert counted == {0: (3, 5), 1: (3, 5), 2: (3, 5), 3: (5, 5), 4: (5, 5)}


def test_the_time_left_is_that_until_the_next_look(open_to_the_end):
    left = {step.launch: step.left_s for step in open_to_the_end[1].steps if step.stage == "finish"}

    assert left[0] > left[1] > left[2] == 0.0
    assert left[3] > left[4] == 0.0


def test_a_mode_that_is_lost_does_not_stop_the_looks(bench):
    bench.behave(**QUICK_GRAPH, xla={"exits": {"build": 1}, "only_launch": 1})

    recording = bench.measure(make_spec("eager", "graph", "xla", launches=3, looks=(2, 3)))

    assert recording.final_line("xla").status == "crashed"
    assert recording.looks == (Look(launches=2, undecided=(), stop="decided"),)
    assert recording.end.status == "complete"


def test_a_session_that_lost_every_mode_has_nothing_to_look_at(bench):
    bench.behave(eager={"exits": {"block:6": 1}}, graph={"exits": {"block:6": 1}})

    recording = bench.measure(make_spec(launches=2, looks=(1, 2)))

    assert recording.looks == ()
    assert recording.end.status == "failed"


def test_a_time_budget_that_has_passed_ends_the_benchmark_after_its_first_launch(bench):
    # No launch takes less than a microsecond.
    recording = bench.measure(make_spec(launches=5, looks=(3, 5), time_budget_s=1e-6))

    assert launches_of(recording) == [0]
    assert [(look.launches, look.stop) for look in recording.looks] == [(1, "budget")]
    assert recording.end.status == "complete"


def test_a_time_budget_that_is_never_reached_changes_nothing(bench):
    recording = bench.measure(make_spec(launches=2, time_budget_s=1e9))

    assert launches_of(recording) == [0, 1]
    assert [(look.launches, look.stop) for look in recording.looks] == [(2, "last")]


def test_an_interruption_between_looks_keeps_the_look_before_and_the_launches_after(bench):
    bench.behave(**FICKLE_GRAPH)
    # Two modes in two rounds are four steps of measuring: the eleventh is in the third launch.
    witness = Witness(raises=Interrupted("Interrupted by SIGINT."), at=("rounds", 10))

    with pytest.raises(Interrupted):
        bench.measure(make_spec(launches=4, looks=(2, 4)), witness)

    recording = bench.spool.load()
    assert recording.end.status == "interrupted"
    assert [(look.launches, look.stop) for look in recording.looks] == [(2, None)]
    judgement = judge(recording)
    assert "partial" in [finding.code for finding in judgement.findings]
    assert [comparison.verdict for comparison in judgement.comparisons] == ["undecided"]


class Impatient(Witness):
    """A witness who is interrupted while a look is told."""

    def looked(self, look):
        super().looked(look)
        raise Interrupted("Interrupted by SIGINT.")


def test_an_interruption_during_a_look_ends_the_recording_as_interrupted(bench):
    with pytest.raises(Interrupted):
        bench.measure(make_spec(launches=2, looks=(1, 2)), Impatient())

    recording = bench.spool.load()
    assert [look.launches for look in recording.looks] == [1]
    assert recording.end.status == "interrupted"
