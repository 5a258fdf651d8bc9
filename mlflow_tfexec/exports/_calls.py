"""Every timed call of a recording as one row of a table."""

from collections.abc import Iterator
from typing import NamedTuple

from mlflow_tfexec.records.recording import Block, Recording
from mlflow_tfexec.statistics.rounds import counted_blocks


class CallRow(NamedTuple):
    """One call, or for throughput the calls of one block that share a fence. `duration_ns / calls` is one call's time.

    Nothing is ever absent: a block that lacks its figures has no row.
    """

    benchmark_id: str
    mode: str
    launch: int
    """From 0."""
    round: int
    """From 0, warm-up rounds and measured rounds each for themselves."""
    position: int
    """Place of the mode in the random order of the round, from 0."""
    metric: str
    """`latency` (until the device is done), `dispatch` (until the call returns) or `throughput`."""
    warmup: bool
    valid: bool
    """False: the mode traced or compiled again inside the block."""
    counted: bool
    """True: the statistics rest on it. False: warm-up, invalid, or in a round that was dropped for all modes."""
    call: int
    """Number of the (first) call within its block, from 0."""
    calls: int
    """How many calls took `duration_ns` together: 1, except for throughput."""
    duration_ns: int


def call_rows(recording: Recording) -> Iterator[CallRow]:
    """Give every timed call in measured order, warm-up and dropped rounds included."""
    counted = _counted(recording)
    for block in recording.blocks:
        for call, (calls, duration_ns) in enumerate(_timings(block)):
            yield CallRow(
                benchmark_id=recording.header.benchmark_id,
                mode=block.mode,
                launch=block.launch,
                round=block.round,
                position=block.position,
                metric=block.metric,
                warmup=block.warmup,
                valid=block.valid,
                counted=id(block) in counted,
                call=call,
                calls=calls,
                duration_ns=duration_ns,
            )


def _timings(block: Block) -> Iterator[tuple[int, int]]:
    """Give (calls, their time together) of a block."""
    if block.calls_ns is not None:
        yield from ((1, duration_ns) for duration_ns in block.calls_ns)
    elif block.calls is not None and block.total_ns is not None:
        yield block.calls, block.total_ns


def _counted(recording: Recording) -> set[int]:
    """Give the identities of the blocks that the statistics rest on.

    Latency has two rules of its own, those of `read_rounds`: a block with a call of no duration counts as missing, and
    of two blocks of a mode in one round the later one stands.
    """
    standing = {
        (block.mode, block.launch, block.round): id(block)
        for block in counted_blocks(recording, "latency")
        if block.calls_ns and min(block.calls_ns) > 0
    }
    others = (block for metric in ("dispatch", "throughput") for block in counted_blocks(recording, metric))
    return {*standing.values(), *map(id, others)}
