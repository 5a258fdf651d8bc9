"""What reference loads say of a comparison: whether the machine's own change may explain it."""

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtri

from mlflow_tfexec.records.differences import Difference
from mlflow_tfexec.records.judgement import Comparison
from mlflow_tfexec.records.recording import Recording
from mlflow_tfexec.statistics.rounds import Rounds, launch_rounds, medians

# What changes how fast the loads themselves run, so that they no longer tell one machine from itself. So do variables,
# but for XLA's, which compiles none of them.
_BENDS_LOADS = frozenset({"oneDNN", "deterministic operations", "TF32"})

_WIDER = 0.9
"""Confidence with which an interval must be wider for its load to follow the mode less well."""

_DEGREES_OF_ROUNDS = 9
"""Of a single launch, whose intervals rest on its rounds."""


def common_loads(recordings: Sequence[Recording], differing: Sequence[Difference]) -> tuple[str, ...]:
    """Name the loads that mean the same in all *recordings*: timed in every launch, on one machine, by one TensorFlow.

    Args:
        recordings: two or more.
        differing: the facts in which they differ. Another model, input or weights leave the loads what they are.
    """
    if any(
        difference.kind in {"machine", "versions"}
        or difference.label in _BENDS_LOADS
        or (difference.label.startswith("$") and "XLA" not in difference.label)
        for difference in differing
    ):
        return ()
    known = [_timed_in_every_launch(recording) for recording in recordings]
    return tuple(load for load in known[0] if all(load in of_one for of_one in known[1:]))


def with_loads(rounds: Rounds, recording: Recording) -> Rounds:
    """Give *rounds* in which every load of *recording* stands beside the modes, by the name that `load_name` gives."""
    kept = {of_launch.launch: of_launch.kept for of_launch in launch_rounds(recording)}
    calls: dict[str, dict[int, dict[int, tuple[int, ...]]]] = {}
    for line in recording.reference_loads:
        if line.launch in kept and line.calls_ns and min(line.calls_ns) > 0:
            calls.setdefault(line.load, {}).setdefault(line.launch, {})[line.round] = line.calls_ns
    loads: dict[str, dict[int, NDArray[np.float64]]] = {
        load_name(load): {launch: medians(by_round, kept[launch]) for launch, by_round in by_launch.items()}
        for load, by_launch in calls.items()
    }
    return dataclasses.replace(rounds, medians_ns={**rounds.medians_ns, **loads})


def load_name(load: str) -> str:
    """Name a load among modes, none of which has a space in its name."""
    return f"{load} load"


def closest(relative: Mapping[str, Comparison]) -> str | None:
    """Name the load that follows the mode best: relative to it the interval is narrowest. None: there is no interval.

    A width knows nothing of where the interval lies, so the choice cannot be made to please.
    """
    widths = {load: width for load, comparison in relative.items() if (width := log_width(comparison)) < math.inf}
    return min(widths, key=lambda load: widths[load], default=None)


def about_as_close(comparisons: Iterable[Comparison], width: float, *, launches: int) -> list[Comparison]:
    """Keep what is not shown to be wider than *width*, that of the closest, by an F test of the two variances.

    Which of those follows the mode is not known: with few launches the narrowest is often so by luck.
    """
    degrees = launches - 1 if launches > 1 else _DEGREES_OF_ROUNDS
    limit = math.sqrt(float(fdtri(degrees, degrees, _WIDER)))
    return [comparison for comparison in comparisons if log_width(comparison) <= limit * width]


def log_width(comparison: Comparison) -> float:
    """Return the width of an interval on the log scale; infinite where there is none."""
    if not comparison.ci95_low or not comparison.ci95_high:
        return math.inf
    return math.log(comparison.ci95_high / comparison.ci95_low)


def withhold_drift(
    comparison: Comparison, relative: Mapping[str, Comparison], *, margin: float, launches: int
) -> Comparison:
    """Take back a verdict that the machine's own change between two benchmarks may have made.

    A model depends on the machine in a way that is not known: on its clocks, its memory, the other guests of its host.
    Loads differ in what they depend on. So a verdict stands only where the same verdict is reached relative to the load
    that follows the mode best, the ratio lies on the same side relative to every load that follows it about as well,
    and no other load says otherwise. What is taken back is `undecided`, and more launches are not foreseen to mend it.
    Nothing is ever claimed that was not claimed before, so that the error does not grow.

    Args:
        comparison: of the times as they are.
        relative: load → the same comparison, each time divided by that of the load in the same round.
        margin: of equivalence, as a fraction.
        launches: of the benchmark that has fewer.
    """
    if not relative or comparison.verdict == "undecided":
        return comparison
    following = closest(relative)
    if following is not None and relative[following].verdict == comparison.verdict:
        close = about_as_close(relative.values(), log_width(relative[following]), launches=launches)
        beyond = {one.verdict for one in relative.values()} - {comparison.verdict, "undecided"}
        if not beyond and all(_agrees(one.ratio, comparison.verdict, margin) for one in close):
            return comparison
    return dataclasses.replace(comparison, verdict="undecided", launches_needed=None)


def _agrees(ratio: float, verdict: str, margin: float) -> bool:
    if verdict == "equivalent":
        return abs(math.log(ratio)) <= math.log1p(margin)
    return ratio > 1 if verdict == "slower" else ratio < 1


def _timed_in_every_launch(recording: Recording) -> list[str]:
    launches = {of_launch.launch for of_launch in launch_rounds(recording)}
    timed: dict[str, set[int]] = {}
    for line in recording.reference_loads:
        timed.setdefault(line.load, set()).add(line.launch)
    return [load for load, of_load in timed.items() if launches <= of_load]
