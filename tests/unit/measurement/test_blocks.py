"""The timed loops, with a clock that moves only when something is done."""

import gc

import pytest

from mlflow_tfexec.measurement.blocks import (
    FENCE_CALLS,
    PILOT_CALLS,
    calls_per_block,
    fence_cost_ns,
    garbage_collection_off,
    pilot,
    time_block,
)
from mlflow_tfexec.measurement.call import PreparedCall, no_fence


class Device:
    """A device whose calls return after *dispatch* and are done after *work* more, when somebody waits for them."""

    def __init__(self, dispatch=3, work=10, fence=2):
        self.now = 0
        self.log = []
        self._dispatch, self._work, self._fence = dispatch, work, fence
        self._queued = 0
        self.collecting = []

    def run(self):
        self.log.append("run")
        self.collecting.append(gc.isenabled())
        self.now += self._dispatch
        self._queued += self._work
        return object()

    def fence(self):
        self.log.append("fence")
        self.now += self._queued + self._fence
        self._queued = 0

    def clock_ns(self):
        self.log.append("clock")
        return self.now

    @property
    def call(self):
        return PreparedCall(function=self.run, fence=self.fence)


def test_latency_counts_the_fence_and_dispatch_does_not():
    device = Device(dispatch=3, work=10, fence=2)

    result = time_block(device.call, 4, clock_ns=device.clock_ns)

    assert result.latency_ns == [15, 15, 15, 15]
    assert result.dispatch_ns == [3, 3, 3, 3]


def test_throughput_has_one_fence_and_it_is_at_its_end():
    device = Device(dispatch=3, work=10, fence=2)

    result = time_block(device.call, 4, clock_ns=device.clock_ns)

    assert (result.throughput_calls, result.throughput_total_ns) == (4, 4 * 3 + 4 * 10 + 2)
    together = device.log[-8:]
    assert together == ["fence", "clock", "run", "run", "run", "run", "fence", "clock"]


def test_each_call_of_latency_starts_on_an_idle_device_and_is_read_three_times():
    device = Device()

    time_block(device.call, 2, clock_ns=device.clock_ns)

    one = ["clock", "run", "clock", "fence", "clock"]
    assert device.log[:11] == ["fence", *one, *one]


def test_work_that_was_queued_before_is_nobody_s_time():
    device = Device(work=10)
    device.run()

    assert time_block(device.call, 1, clock_ns=device.clock_ns).latency_ns == [15]


def test_one_call_is_not_repeated_for_throughput():
    device = Device()

    result = time_block(device.call, 1, clock_ns=device.clock_ns)

    assert device.log.count("run") == 1
    assert (result.throughput_calls, result.throughput_total_ns) == (1, result.latency_ns[0])


def test_no_garbage_is_collected_inside_a_block_and_afterwards_it_is_again():
    device = Device()

    time_block(device.call, 3, clock_ns=device.clock_ns)

    assert device.collecting == [False] * 6
    assert gc.isenabled()


def test_collection_is_on_again_though_the_model_raises():
    def fail():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        time_block(PreparedCall(function=fail), 3)

    assert gc.isenabled()


def test_collection_that_was_off_before_stays_off():
    gc.disable()
    try:
        with garbage_collection_off():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_outputs_of_one_call_are_freed_before_the_next_is_timed():
    freed = []

    class Output:
        def __del__(self):
            freed.append(self)

    seen = []

    def run():
        seen.append(len(freed))
        return Output()

    time_block(PreparedCall(function=run), 3)

    # The second pass keeps an output while the next is made, as any loop would.
    assert seen[:3] == [0, 1, 2]


@pytest.mark.parametrize(
    ("call_ns", "block_ms", "calls"),
    [
        (10_000_000, 100.0, 10),
        (11_600_000, 100.0, 9),
        (100_000_000, 100.0, 1),
        (369_000_000, 100.0, 1),
        (100_001, 100.0, 1000),
        (1, 60_000.0, 1000),
        (60_000_000_000, 1.0, 1),
    ],
)
def test_calls_per_block_fill_the_time_within_1_and_1000(call_ns, block_ms, calls):
    assert calls_per_block(call_ns, block_ms) == calls


def test_the_pilot_ends_after_enough_calls():
    device = Device(dispatch=3, work=10, fence=2)

    assert pilot(device.call, clock_ns=device.clock_ns) == 15
    assert device.log.count("run") == PILOT_CALLS == 25


@pytest.mark.parametrize(("call_ms", "calls"), [(100, 5), (499, 2), (500, 1), (9000, 1)])
def test_the_pilot_ends_after_half_a_second(call_ms, calls):
    device = Device(dispatch=0, work=call_ms * 1_000_000, fence=0)

    assert pilot(device.call, clock_ns=device.clock_ns) == call_ms * 1_000_000
    assert device.log.count("run") == calls


def test_the_pilot_takes_the_median_so_that_one_slow_call_is_ignored():
    device = Device(dispatch=0, work=0, fence=10)
    slow = iter([1_000_000] + [0] * 99)

    def run():
        device.now += next(slow)

    assert pilot(PreparedCall(function=run, fence=device.fence), clock_ns=device.clock_ns) == 10


def test_a_call_too_fast_for_the_clock_takes_a_nanosecond():
    assert pilot(PreparedCall(function=lambda: None), clock_ns=lambda: 0) == 1


def test_the_cost_of_a_fence_is_the_median_of_many():
    device = Device(fence=7)

    assert fence_cost_ns(device.fence, clock_ns=device.clock_ns) == 7
    assert device.log.count("fence") == FENCE_CALLS == 50


def test_a_prepared_call_has_no_fence_no_trace_and_no_traces_of_its_own():
    call = PreparedCall(function=lambda: None)

    assert (call.fence, call.trace, call.traces()) == (no_fence, None, 0)


def test_a_transfer_is_part_of_every_call_and_of_the_trace():
    moved, called = [], []
    call = PreparedCall(function=called.append, inputs=("host",), trace=called.append)

    timed = call.behind_transfer(lambda inputs: (moved.append(inputs), ("device",))[1])
    timed.run()
    timed.on(("other",)).run()
    timed.trace("third")

    assert moved == [("host",), ("other",), ("third",)]
    assert called == ["device"] * 3


def test_a_mode_that_takes_arrays_of_the_host_by_itself_is_given_them():
    called = []
    call = PreparedCall(function=called.append, inputs=("host",), transfers=True)

    call.behind_transfer(lambda _: ("device",)).run()

    assert called == ["host"]
