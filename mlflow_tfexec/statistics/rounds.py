"""From a recording to the numbers that count: which rounds, which blocks, and each block's median."""

import itertools
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mlflow_tfexec.records.recording import Block, BlockMetric, Recording

# Above this the disturbance is the normal state of the machine: dropping more would pick the data that pleases.
MAX_DROPPED_SHARE = 0.20


@dataclass(frozen=True)
class LaunchRounds:
    """The measured rounds of one launch, and what the health checks said of them."""

    launch: int
    measured: tuple[int, ...]
    """Every round after warm-up, ascending."""
    bad: Mapping[int, str]
    """Round → why the machine was not fit for measuring in it."""

    @property
    def unstable(self) -> bool:
        """True: so many rounds are bad that none is dropped. False: the bad ones, if any, are dropped."""
        return len(self.bad) > MAX_DROPPED_SHARE * len(self.measured)

    @property
    def kept(self) -> tuple[int, ...]:
        """The rounds that count, ascending; the same ones for every mode."""
        return self.measured if self.unstable else tuple(round_ for round_ in self.measured if round_ not in self.bad)


@dataclass(frozen=True)
class Rounds:
    """The latencies of a recording that count, arranged for pairing."""

    medians_ns: Mapping[str, Mapping[int, NDArray[np.float64]]]
    """Mode → launch → median of each block, one per kept round of the launch, in measured order.

    NaN marks a round in which the mode has no valid block. A launch without any is absent, and so is such a mode.
    """
    calls_ns: Mapping[str, Mapping[int, NDArray[np.int64]]]
    """Mode → launch → every timed call in its valid blocks."""

    @property
    def launches(self) -> int:
        """How many launches hold at least one latency that counts."""
        return len({launch for by_launch in self.medians_ns.values() for launch in by_launch})

    def series_ns(self, mode: str) -> list[NDArray[np.float64]]:
        """Block medians of *mode*, one array per launch that has any, missing rounds left out."""
        return [series[np.isfinite(series)] for _, series in sorted(self.medians_ns.get(mode, {}).items())]

    def all_calls_ns(self, mode: str) -> NDArray[np.int64]:
        """Every timed call of *mode*, over all launches in order."""
        by_launch = self.calls_ns.get(mode, {})
        return np.concatenate([np.empty(0, np.int64), *(by_launch[launch] for launch in sorted(by_launch))])


def launch_rounds(recording: Recording) -> tuple[LaunchRounds, ...]:
    """Say which rounds were measured in each launch and which of them were bad, launches ascending."""
    measured: dict[int, set[int]] = {}
    for block in recording.blocks:
        if not block.warmup:
            measured.setdefault(block.launch, set()).add(block.round)
    bad: dict[int, dict[int, str]] = {}
    for health in recording.health:
        if health.bad is not None and health.round in measured.get(health.launch, ()):
            bad.setdefault(health.launch, {})[health.round] = health.bad
    return tuple(
        LaunchRounds(launch=launch, measured=tuple(sorted(rounds)), bad=bad.get(launch, {}))
        for launch, rounds in sorted(measured.items())
    )


def counted_blocks(recording: Recording, metric: BlockMetric) -> Iterator[Block]:
    """Give the blocks of one metric that count, in measured order.

    Left out are warm-up, blocks in which the mode traced or compiled again, and rounds dropped for all modes.
    """
    kept = {(rounds.launch, round_) for rounds in launch_rounds(recording) for round_ in rounds.kept}
    for block in recording.blocks:
        if block.metric == metric and block.valid and not block.warmup and (block.launch, block.round) in kept:
            yield block


def invalid_blocks(recording: Recording) -> dict[str, tuple[int, int]]:
    """Count, per mode that has any, the invalid blocks after warm-up and all its blocks after warm-up.

    A block has a line for each of its metrics, and counts once.
    """
    invalid: dict[str, set[tuple[int, int]]] = {}
    total: dict[str, set[tuple[int, int]]] = {}
    for block in recording.blocks:
        if not block.warmup:
            place = (block.launch, block.round)
            total.setdefault(block.mode, set()).add(place)
            if not block.valid:
                invalid.setdefault(block.mode, set()).add(place)
    return {mode: (len(places), len(total[mode])) for mode, places in invalid.items()}


def read_rounds(recording: Recording) -> Rounds:
    """Read the latencies that count.

    A block without calls counts as missing. Should a mode have two blocks in one round, the later one stands.
    """
    kept = {rounds.launch: rounds.kept for rounds in launch_rounds(recording)}
    calls: dict[str, dict[int, dict[int, tuple[int, ...]]]] = {}
    for block in counted_blocks(recording, "latency"):
        if block.calls_ns and min(block.calls_ns) > 0:
            calls.setdefault(block.mode, {}).setdefault(block.launch, {})[block.round] = block.calls_ns
    return Rounds(
        medians_ns={
            mode: {launch: medians(by_round, kept[launch]) for launch, by_round in by_launch.items()}
            for mode, by_launch in calls.items()
        },
        calls_ns={
            mode: {launch: _all_calls(by_round) for launch, by_round in by_launch.items()}
            for mode, by_launch in calls.items()
        },
    )


def medians(by_round: Mapping[int, tuple[int, ...]], rounds: tuple[int, ...]) -> NDArray[np.float64]:
    """Give the median of the calls of each of *rounds*; NaN for a round without any."""
    # statistics.median: for a handful of calls it is ten times as quick as NumPy's.
    return np.array(
        [statistics.median(by_round[round_]) if round_ in by_round else np.nan for round_ in rounds], dtype=np.float64
    )


def _all_calls(by_round: Mapping[int, tuple[int, ...]]) -> NDArray[np.int64]:
    return np.fromiter(itertools.chain.from_iterable(by_round.values()), dtype=np.int64)
