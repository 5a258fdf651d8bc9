"""How long blocks are, how long to wait for them, how long the rest will take."""

import pytest
from sessions import make_spec

from mlflow_tfexec.session.plan import block_deadline_s, block_ns, plan_calls, round_ns, time_left_s


@pytest.mark.parametrize(("call_ns", "calls"), [(10_000_000, 10), (369_000_000, 1), (11_600_000, 9), (1, 1000)])
def test_every_mode_gets_the_same_time_per_block(call_ns, calls):
    assert plan_calls(call_ns, make_spec(block_ms=100.0)) == calls


def test_a_block_runs_its_calls_twice_but_a_single_call_once():
    assert (block_ns(100, 5), block_ns(100, 1)) == (1000, 100)


@pytest.mark.parametrize(
    ("call_ns", "calls", "timeout_s", "deadline_s"),
    [
        # 2 × 10 calls of 10 ms are 0.2 s; twenty times that is below the floor.
        (10_000_000, 10, 1800.0, 120.0),
        # One call of 30 s, twenty times.
        (30_000_000_000, 1, 1800.0, 600.0),
        # Never longer than what was asked for.
        (30_000_000_000, 1, 60.0, 60.0),
        (10_000_000, 10, 5.0, 5.0),
    ],
)
def test_a_block_may_take_twenty_times_its_forecast(call_ns, calls, timeout_s, deadline_s):
    assert block_deadline_s(call_ns, calls, make_spec(timeout_s=timeout_s)) == deadline_s


def test_a_round_is_one_block_of_each_mode_and_the_loads():
    assert round_ns({"eager": 100, "graph": 10}, {"eager": 1, "graph": 10}, 60) == 360


def test_a_round_is_not_foreseen_before_the_pilot():
    assert round_ns({}, {}, 60) is None


SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("launch", "round_", "left_s"),
    [
        # In round 2 of launch 0: 8 rounds here, 20 later, and two launches to prepare.
        (0, 2, 28.0 + 2 * 5),
        (1, 2, 18.0 + 1 * 5),
        (2, 9, 1.0),
        (2, 10, 0.0),
        # Before the rounds of a later launch, its own preparation is still to come.
        (1, None, 20.0 + 2 * 5),
        (2, None, 10.0 + 1 * 5),
    ],
)
def test_time_left_is_rounds_and_preparations_to_come(launch, round_, left_s):
    assert time_left_s(3, rounds=10, launch=launch, round_=round_, round_ns=SECOND, overhead_ns=5 * SECOND) == left_s


@pytest.mark.parametrize(("round_ns", "overhead_ns"), [(None, SECOND), (SECOND, None), (None, None)])
def test_time_left_is_unknown_before_the_first_launch_is_warm(round_ns, overhead_ns):
    assert time_left_s(1, rounds=2, launch=0, round_=None, round_ns=round_ns, overhead_ns=overhead_ns) is None
