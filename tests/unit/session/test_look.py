"""When a benchmark looks at its data, what a look sees, and when it is the last."""

import time

import pytest
from recordings import make_recording
from sessions import Witness

from mlflow_tfexec.records.recording import Look
from mlflow_tfexec.records.spec import Spec
from mlflow_tfexec.session.look import look, next_look
from mlflow_tfexec.session.state import BenchmarkState
from mlflow_tfexec.spool import SpooledBenchmark

CLEAR = {"eager": 10.0, "graph": 5.0}
ALIKE = {"eager": 10.0, "graph": 10.0}


@pytest.fixture
def measured(tmp_path):
    """Make the state of a benchmark in which so many launches are done."""

    def make(times_ms=CLEAR, *, launches, most=5, looks=(3, 5), elapsed_s=0.0, budget_s=None, **noise):
        recording = make_recording(times_ms, launches=launches, end=None, **noise)
        asked = {"launches": most, "looks": looks, "time_budget_s": budget_s}
        spec = recording.spec.model_copy(update=asked)
        state = BenchmarkState(
            spec=spec,
            spool=SpooledBenchmark(tmp_path / "spool" / "benchmark"),
            observer=Witness(),
            environment={},
            variables={},
            start_ns=time.perf_counter_ns() - int(elapsed_s * 1e9),
        )
        state.header = recording.header.model_copy(update={"spec": spec})
        state.spool.create()
        for line in (state.header, *recording.lines):
            state.spool.append(line)
        return state

    return make


def seen(state):
    """Return the look that was just taken, as it stands in the recording and as the observer was told of it."""
    (written,) = state.spool.load().looks
    assert state.observer.looks == [written]
    return written


def test_clear_modes_are_decided_at_the_first_look(measured):
    state = measured(CLEAR, launches=3)

    assert look(state, 3) is True
    assert seen(state) == Look(launches=3, undecided=(), stop="decided")


def test_an_open_pair_is_named_and_measuring_goes_on(measured):
    state = measured(ALIKE, launches=3, launch_noise=0.1)

    assert look(state, 3) is False
    assert [set(pair) for pair in seen(state).undecided] == [{"eager", "graph"}]
    assert seen(state).stop is None


@pytest.mark.parametrize("launches", [1, 2, 4])
@pytest.mark.parametrize("times_ms", [CLEAR, ALIKE], ids=["clear", "alike"])
def test_between_looks_nobody_looks_however_clear_it_is(measured, launches, times_ms):
    state = measured(times_ms, launches=launches)

    assert look(state, launches) is False
    assert state.spool.load().looks == ()
    assert state.observer.looks == []


def test_what_is_still_open_after_the_last_launch_stays_open(measured):
    state = measured(ALIKE, launches=5, launch_noise=0.1)

    assert look(state, 5) is True
    assert len(seen(state).undecided) == 1
    assert seen(state).stop == "last"


def test_what_the_last_look_decides_is_decided(measured):
    state = measured(CLEAR, launches=5)

    assert look(state, 5) is True
    assert seen(state) == Look(launches=5, undecided=(), stop="decided")


@pytest.mark.parametrize("times_ms", [CLEAR, ALIKE], ids=["clear", "alike"])
def test_without_looks_there_is_one_after_the_last_launch(measured, times_ms):
    state = measured(times_ms, launches=2, most=2, looks=(), launch_noise=0.1)

    assert look(state, 2) is True
    assert (seen(state).launches, seen(state).stop) == (2, "last")


def test_without_looks_no_launch_before_the_last_is_looked_at(measured):
    state = measured(CLEAR, launches=1, most=2, looks=())

    assert look(state, 1) is False
    assert state.spool.load().looks == ()


# With one pair and this noise: three launches are enough at an error of 5 %, and not at the first look's 1 %.
TELLING = {"launches": 3, "launch_noise": 0.05, "seed": 0}
NEAR = {"eager": 13.0, "graph": 10.0}


@pytest.mark.parametrize(
    ("most", "looks", "undecided", "stop"),
    [(3, (3,), (), "decided"), (5, (3, 5), (("eager", "graph"),), None)],
)
def test_a_look_that_may_not_be_the_last_asks_for_more_evidence(measured, most, looks, undecided, stop):
    state = measured(NEAR, most=most, looks=looks, **TELLING)

    look(state, 3)

    assert (seen(state).undecided, seen(state).stop) == (undecided, stop)


UNSTABLE = {"eager": 13.0, "graph": 10.0, "graph_control": 12.0}


def test_an_unstable_session_ends_once_its_intervals_are_narrow(measured):
    state = measured(UNSTABLE, launches=3, launch_noise=0.0, round_noise=0.003)

    assert look(state, 3) is True
    assert seen(state) == Look(launches=3, undecided=(("eager", "graph"),), stop="narrow")


def test_an_unstable_session_goes_on_while_its_intervals_are_wide(measured):
    state = measured(UNSTABLE, launches=3, launch_noise=0.012, seed=2)

    assert look(state, 3) is False
    assert seen(state) == Look(launches=3, undecided=(("eager", "graph"),), stop=None)


def test_an_unstable_session_ends_once_its_modes_differ_by_more_than_its_noise_explains(measured):
    state = measured(UNSTABLE | {"eager": 30.0}, launches=3, launch_noise=0.0, round_noise=0.003)

    assert look(state, 3) is True
    assert seen(state) == Look(launches=3, undecided=(), stop="decided")


@pytest.mark.parametrize(
    ("launches", "elapsed_s", "budget_s", "ends"),
    [
        # 1,000 s for one launch: a second would end at 2,000 s.
        (1, 1_000, 1_900, True),
        (1, 1_000, 2_200, False),
        # 1,000 s for each of four: a fifth would end at 5,000 s.
        (4, 4_000, 4_900, True),
        (4, 4_000, 5_500, False),
        # It has passed already.
        (2, 1_000, 900, True),
    ],
)
def test_no_launch_begins_that_would_outlast_the_budget(measured, launches, elapsed_s, budget_s, ends):
    state = measured(CLEAR, launches=launches, elapsed_s=elapsed_s, budget_s=budget_s, launch_noise=0.1)

    assert look(state, launches) is ends
    assert [(line.launches, line.stop) for line in state.spool.load().looks] == ([(launches, "budget")] if ends else [])


def test_the_budget_is_not_blamed_where_all_is_decided(measured):
    state = measured(CLEAR, launches=3, elapsed_s=1_000, budget_s=900)

    assert look(state, 3) is True
    assert seen(state).stop == "decided"


def test_the_budget_ends_a_benchmark_with_open_pairs_at_a_look(measured):
    state = measured(ALIKE, launches=3, elapsed_s=1_000, budget_s=900, launch_noise=0.1)

    assert look(state, 3) is True
    assert seen(state).stop == "budget"
    assert len(seen(state).undecided) == 1


def test_the_last_launch_is_not_blamed_on_the_budget(measured):
    state = measured(ALIKE, launches=5, elapsed_s=1_000, budget_s=900, launch_noise=0.1)

    assert look(state, 5) is True
    assert seen(state).stop == "last"


@pytest.mark.parametrize(("looks", "ends"), [((3, 5), [3, 3, 3, 5, 5]), ((5,), [5] * 5), ((), [5] * 5)])
def test_the_next_look_is_the_first_that_the_present_launch_can_reach(looks, ends):
    spec = Spec(model="m", modes=("eager",), launches=5, looks=looks)

    assert [next_look(spec, launches) for launches in range(1, 6)] == ends
