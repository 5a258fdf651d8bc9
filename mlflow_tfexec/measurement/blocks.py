"""The timed loops: everything between two clock readings is the model's."""

import gc
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from time import perf_counter_ns

from mlflow_tfexec.measurement.call import PreparedCall

# More calls than this tell nothing new about one block, and would fill the recording.
MAX_CALLS_PER_BLOCK = 1000

# The pilot stops at whichever comes first: enough calls for a median, or enough time.
PILOT_CALLS = 25
PILOT_NS = 500_000_000

FENCE_CALLS = 50


@dataclass(frozen=True)
class BlockResult:
    """Raw figures of one block, in nanoseconds."""

    latency_ns: list[int]
    """Per call, until the device has finished."""
    dispatch_ns: list[int]
    """Per call, until the call has returned."""
    throughput_calls: int
    throughput_total_ns: int
    """All calls behind one another, and one fence."""


@contextmanager
def garbage_collection_off() -> Iterator[None]:
    """Collect garbage now and not again until the end, so that no call pays for the objects of another."""
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def settle_garbage() -> None:
    """Take everything that exists now out of later collections.

    TensorFlow, the model and its graph are millions of objects; walking them before every block took 0.1 s.
    """
    gc.collect()
    gc.freeze()


def time_block(call: PreparedCall, calls: int, *, clock_ns: Callable[[], int] = perf_counter_ns) -> BlockResult:
    """Time *calls* calls one by one, then as many behind one another."""
    with garbage_collection_off():
        latency_ns, dispatch_ns = _time_each(call, calls, clock_ns)
        if calls == 1:
            # One call and one fence is what throughput would measure again.
            return BlockResult(latency_ns, dispatch_ns, 1, latency_ns[0])
        total_ns = _time_together(call, calls, clock_ns)
    return BlockResult(latency_ns, dispatch_ns, calls, total_ns)


def _time_each(call: PreparedCall, calls: int, clock_ns: Callable[[], int]) -> tuple[list[int], list[int]]:
    """Time each call to its return and to its fence; the device is idle before each."""
    run, fence = call.run, call.fence
    latency_ns = [0] * calls
    dispatch_ns = [0] * calls
    fence()
    for index in range(calls):
        start_ns = clock_ns()
        # Kept in a name: freeing the outputs belongs between calls, not inside the next one's time.
        outputs = run()
        returned_ns = clock_ns()
        fence()
        latency_ns[index] = clock_ns() - start_ns
        dispatch_ns[index] = returned_ns - start_ns
        del outputs
    return latency_ns, dispatch_ns


def _time_together(call: PreparedCall, calls: int, clock_ns: Callable[[], int]) -> int:
    """Time *calls* calls with one fence at the end."""
    run, fence = call.run, call.fence
    fence()
    start_ns = clock_ns()
    for _ in range(calls):
        outputs = run()
    fence()
    total_ns = clock_ns() - start_ns
    del outputs
    return total_ns


def pilot(call: PreparedCall, *, clock_ns: Callable[[], int] = perf_counter_ns) -> int:
    """Return about how long one call takes, in nanoseconds, from a few calls."""
    return max(1, int(median(time_for(call, PILOT_NS, most_calls=PILOT_CALLS, clock_ns=clock_ns))))


def time_for(
    call: PreparedCall,
    duration_ns: int,
    *,
    most_calls: int = MAX_CALLS_PER_BLOCK,
    clock_ns: Callable[[], int] = perf_counter_ns,
) -> list[int]:
    """Time calls one by one until they have taken *duration_ns* together, or are *most_calls*; at least one."""
    times_ns: list[int] = []
    with garbage_collection_off():
        while not times_ns or (len(times_ns) < most_calls and sum(times_ns) < duration_ns):
            times_ns.extend(_time_each(call, 1, clock_ns)[0])
    return times_ns


def calls_per_block(call_ns: int, block_ms: float) -> int:
    """Choose the number of calls whose latencies together take about *block_ms*."""
    return max(1, min(MAX_CALLS_PER_BLOCK, math.ceil(block_ms * 1e6 / call_ns)))


def fence_cost_ns(fence: Callable[[], None], *, clock_ns: Callable[[], int] = perf_counter_ns) -> int:
    """Return the median cost of a fence on an idle device, in nanoseconds."""
    times_ns = []
    for _ in range(FENCE_CALLS):
        start_ns = clock_ns()
        fence()
        times_ns.append(clock_ns() - start_ns)
    return int(median(times_ns))
