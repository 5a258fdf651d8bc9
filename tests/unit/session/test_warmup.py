"""When a mode has warmed up."""

from sessions import make_spec

from mlflow_tfexec.protocol import BlockTimes
from mlflow_tfexec.session.warmup import Warmup

MS = 1_000_000


def block(call_ms, calls=10):
    """A block of *calls* equal calls, whose second pass takes as long as the first."""
    return BlockTimes(
        latency_ns=[int(call_ms * MS)] * calls,
        dispatch_ns=[1] * calls,
        throughput_calls=calls,
        throughput_total_ns=int(call_ms * MS) * calls,
        valid=True,
    )


def blocks_until_done(warmup, call_ms, calls=10):
    """Warm up with blocks whose calls take what *call_ms* says for each, and count them."""
    for count, time_ms in enumerate(call_ms):
        if warmup.is_done("graph"):
            return count
        warmup.take("graph", block(time_ms, calls))
    raise AssertionError("never done")


def test_a_steady_mode_is_done_after_a_second_of_work():
    # 10 calls of 10 ms, twice, are 0.2 s.
    assert blocks_until_done(Warmup(make_spec(warmup_s=10.0)), [10.0] * 99) == 5


def test_a_mode_that_works_for_a_second_in_two_blocks_needs_a_third_to_show_that_it_is_steady():
    assert blocks_until_done(Warmup(make_spec(warmup_s=100.0)), [100.0] * 99) == 3


def test_a_mode_that_gets_faster_is_warmed_up_until_it_no_longer_does():
    warmup = Warmup(make_spec(warmup_s=1000.0))
    falling = [20.0 * 0.8**n for n in range(10)]
    level = falling[-1]

    # The window of six blocks must have left the fall behind.
    count = blocks_until_done(warmup, falling + [level] * 99)

    assert len(falling) < count <= len(falling) + 6
    assert warmup.is_steady("graph")


def test_a_mode_that_never_settles_ends_by_the_limit():
    warmup = Warmup(make_spec(warmup_s=2.0))

    blocks_until_done(warmup, [10.0 * 1.2**n for n in range(99)])

    assert not warmup.is_steady("graph")
    assert warmup.busy_s("graph") >= 2.0


def test_one_call_beyond_the_limit_is_enough():
    assert blocks_until_done(Warmup(make_spec(warmup_s=10.0)), [12_000.0] * 9, calls=1) == 1


def test_a_single_call_stands_for_both_figures_and_is_counted_once():
    warmup = Warmup(make_spec())

    warmup.take("graph", block(400.0, calls=1))
    warmup.take("eager", block(400.0, calls=2))

    assert (warmup.busy_s("graph"), warmup.busy_s("eager")) == (0.4, 1.6)


def test_without_warm_up_every_mode_is_done_at_once():
    assert Warmup(make_spec(warmup_s=0.0)).is_done("graph")


def test_each_mode_is_followed_by_itself():
    warmup = Warmup(make_spec(warmup_s=1.0))

    warmup.take("graph", block(1000.0))

    assert (warmup.is_done("graph"), warmup.is_done("eager")) == (True, False)
