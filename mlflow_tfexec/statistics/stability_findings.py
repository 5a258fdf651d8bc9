"""What a judgement must warn of when the rounds that count did not stay at one level."""

import statistics
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mlflow_tfexec.records.findings import Finding
from mlflow_tfexec.statistics.estimates import launch_log_times
from mlflow_tfexec.statistics.rounds import Rounds
from mlflow_tfexec.statistics.stability import Step, TwoLevels, find_step, find_trend, find_two_levels
from mlflow_tfexec.statistics.steady_state import MAX_TREND
from mlflow_tfexec.units import significant

# More make a sentence that nobody reads; the rest is counted.
MAX_LISTED = 8

# Changes of two modes that are this much alike leave less between the modes than is told of one mode.
_MAX_UNLIKE = 1 + MAX_TREND

# In noise, a step is often seen one round too early or too late.
_MAX_ROUNDS_UNLIKE = 1

_SHARED = " A change that all modes share cancels in the comparisons, though not in the times themselves."


@dataclass(frozen=True)
class _Seen:
    """One entry of a finding."""

    text: str
    ratio: float
    shared: bool = False

    @property
    def size(self) -> float:
        """How far the ratio is from 1, in either direction."""
        return max(self.ratio, 1 / self.ratio)


def stability_findings(rounds: Rounds) -> Iterator[Finding]:
    """Warn of steps, drifts and jumps between two levels: one finding per kind, over all modes and launches.

    A series is told as one of them: as two levels if it went back and forth, else as a step, else as a drift.
    """
    steps: list[_Seen] = []
    drifts: list[_Seen] = []
    jumps: list[_Seen] = []
    for launch in sorted({launch for by_launch in rounds.medians_ns.values() for launch in by_launch}):
        series = {mode: np.log(medians[launch]) for mode, medians in rounds.medians_ns.items() if launch in medians}
        jumping = {mode: levels for mode, times in series.items() if (levels := find_two_levels(times)) is not None}
        others = {mode: times for mode, times in series.items() if mode not in jumping}
        stepped = {mode: step for mode, times in others.items() if (step := find_step(times)) is not None}
        # A step is no trend to find_trend, so no mode is in both.
        moving = {mode: ratio for mode, times in others.items() if (ratio := find_trend(times)) is not None}
        steps += _steps(stepped, launch, modes=series.keys())
        drifts += _drifts(moving, launch, modes=series.keys())
        jumps += (_jump(f"{mode} in launch {launch + 1}", found, "rounds") for mode, found in jumping.items())
    for mode in rounds.medians_ns:
        found = find_two_levels(launch_log_times(rounds, mode))
        if found is not None:
            jumps.append(_jump(f"{mode} from launch to launch", found, "launches"))
    if steps:
        yield _step_finding(steps)
    if drifts:
        yield _drift_finding(drifts)
    if jumps:
        yield _two_levels_finding(jumps)


def _step_finding(seen: Sequence[_Seen]) -> Finding:
    return Finding(
        code="step",
        what=f"Call times changed level within a launch: {_listed(seen)}.",
        why="The median then stands for one level or lies between the two. Other work on the machine, or another clock "
        f"speed, can do it.{_shared(seen)}",
        what_to_try="Measure again on a quieter machine, with clocks held fixed if they can be.",
    )


def _drift_finding(seen: Sequence[_Seen]) -> Finding:
    return Finding(
        code="drift",
        what=f"Call times kept moving through a launch: {_listed(seen)}.",
        why="A longer or shorter measurement would give another median. Warm-up may have been too short, or the "
        f"machine grew hotter or busier.{_shared(seen)}",
        what_to_try="Raise --warmup, or keep the machine quiet.",
    )


def _two_levels_finding(seen: Sequence[_Seen]) -> Finding:
    return Finding(
        code="two_levels",
        what=f"Call times jumped between two levels: {_listed(seen)}.",
        why="The median tells the level that was seen more often, or a value between them that hardly ever occurs. "
        "Clocks, memory placement or a choice of algorithm can do it.",
        what_to_try="Read the quantiles beside the median, and measure more rounds and launches.",
    )


def _steps(found: Mapping[str, Step], launch: int, *, modes: Collection[str]) -> Iterable[_Seen]:
    ratios = {mode: step.ratio for mode, step in found.items()}
    positions = sorted(step.position for step in found.values())
    if _is_shared(ratios, modes) and positions[-1] - positions[0] <= _MAX_ROUNDS_UNLIKE:
        shared = Step(position=statistics.median_low(positions), ratio=statistics.geometric_mean(ratios.values()))
        return [_Seen(_step_text("all modes", launch, shared), shared.ratio, shared=True)]
    return [_Seen(_step_text(mode, launch, step), step.ratio) for mode, step in found.items()]


def _step_text(who: str, launch: int, step: Step) -> str:
    # Rounds that were dropped have no place in the series, so this is not the round's own number.
    return f"{who} in launch {launch + 1} from counted round {step.position + 1} on by {_change(step.ratio)}"


def _drifts(found: Mapping[str, float], launch: int, *, modes: Collection[str]) -> Iterable[_Seen]:
    if _is_shared(found, modes):
        ratio = statistics.geometric_mean(found.values())
        return [_Seen(_drift_text("all modes", launch, ratio), ratio, shared=True)]
    return [_Seen(_drift_text(mode, launch, ratio), ratio) for mode, ratio in found.items()]


def _drift_text(who: str, launch: int, ratio: float) -> str:
    return f"{who} in launch {launch + 1} by {_change(ratio)}"


def _jump(where: str, found: TwoLevels, of: str) -> _Seen:
    apart = significant((found.ratio - 1) * 100, digits=2)
    text = f"{where}, {apart} % apart, the upper one in {found.share_of_upper * 100:.0f} % of {of}"
    return _Seen(text, found.ratio)


def _is_shared(ratios: Mapping[str, float], modes: Collection[str]) -> bool:
    """Say whether all of several modes changed, and by so much the same that it cancels between them."""
    if len(modes) < 2 or len(ratios) < len(modes):  # noqa: PLR2004 - one mode has nothing to share with
        return False
    return max(ratios.values()) / min(ratios.values()) <= _MAX_UNLIKE


def _shared(seen: Iterable[_Seen]) -> str:
    return _SHARED if any(entry.shared for entry in seen) else ""


def _listed(seen: Sequence[_Seen]) -> str:
    """Join the entries in order; beyond eight, the largest eight and how many more there are."""
    told = seen
    if len(seen) > MAX_LISTED:
        least = sorted((entry.size for entry in seen), reverse=True)[MAX_LISTED - 1]
        told = [entry for entry in seen if entry.size >= least][:MAX_LISTED]
    rest = len(seen) - len(told)
    return "; ".join(entry.text for entry in told) + (f"; and {rest} more, no larger" if rest else "")


def _change(ratio: float) -> str:
    """Write a ratio as a change.

    >>> _change(1.098), _change(0.93)
    ('+9.8 %', '-7.0 %')
    """
    percent = (ratio - 1) * 100
    return f"{'-' if percent < 0 else '+'}{significant(abs(percent), digits=2)} %"
