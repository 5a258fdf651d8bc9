"""From a short benchmark to what a longer one takes and can tell."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mlflow_tfexec.records.recording import Recording, can_be_ranked
from mlflow_tfexec.records.spec import PRESETS, Preset
from mlflow_tfexec.statistics.components import Components, optimal_rounds, variance_components
from mlflow_tfexec.statistics.intervals import Spread, half_width
from mlflow_tfexec.statistics.looks import error_at
from mlflow_tfexec.statistics.moderation import borrowed_degrees
from mlflow_tfexec.statistics.pairing import paired_log_ratios
from mlflow_tfexec.statistics.rounds import Rounds, launch_rounds, read_rounds
from mlflow_tfexec.units import NS_PER_S

# The median of fewer rounds is at the mercy of two odd ones; beyond the most, the variances of a pilot say too little.
FEWEST_ROUNDS = 5
MOST_ROUNDS = 50

_ROUNDS_PHASE = "blocks"
# Absent from recordings of before there were such loads.
_LOADS_PHASE = "reference_loads"
_LAST_PHASE = "finish"
_ONCE_PHASE = "pilot"

# e^700 is about the largest factor that a float holds.
_MAX_LOG = 700.0


@dataclass(frozen=True)
class PresetPlan:
    """What one preset takes here and how close it looks."""

    name: str
    launches: tuple[int, int]
    """Fewest and most: it may stop in between once all is decided."""
    rounds: int
    """Per launch."""
    seconds: tuple[float, float]
    """Wall time with the fewest and with the most launches, the one pilot included."""
    resolution: tuple[float, float] | None
    """Half width of a typical pair's interval with the fewest and with the most launches, as a ratio less 1: 0.021 is
    ±2.1 %. None: a single launch has no interval over launches, or the spread is unknown."""


@dataclass(frozen=True)
class Plan:
    """What a benchmark of the same modes on the same machine costs, and where its time is best spent."""

    launch_cost_s: float
    """Seconds of one launch beside its rounds: start, build, first calls, warm-up, finish."""
    round_cost_s: float
    """Seconds of one round of all modes."""
    between_launches: float | None
    """Standard deviation of a launch's true log ratio, typical over the ranked pairs. None: unknown."""
    within_launch: float | None
    """Standard deviation of one round's log ratio within its launch, typical over the ranked pairs. None: unknown."""
    rounds: int | None
    """Rounds per launch that tell most for the time, 5 to 50. None: unknown."""
    presets: tuple[PresetPlan, ...]


@dataclass(frozen=True)
class _Costs:
    pilot_s: float
    launch_s: float
    round_s: float

    def seconds(self, launches: int, rounds: int) -> float:
        return self.pilot_s + launches * (self.launch_s + rounds * self.round_s)


def plan(recording: Recording, presets: Mapping[str, Preset] = PRESETS) -> Plan | None:
    """Plan benchmarks from a short one: the time of each preset, how close it looks, and the best number of rounds.

    Costs come from the launches that were measured to their end. Variances are the components of Kalibera and Jones
    (`components.variance_components`), averaged over all pairs of ranked modes (`ok`, not a control). The average, and
    not the median or the worst pair: with the few launches of a pilot most pairs show too small a variance between
    launches and many show none, so that the median recommends too many rounds and the worst pair nearly always the
    most there may be. The number of rounds that is best for the average is the one that is best for the sum of all
    pairs' variances.

    The resolution treats a launch's figure as the mean of its rounds. Figures of a pilot of two launches are rough.

    Args:
        recording: two launches or more, of a few rounds each; with one launch, only times are known.
        presets: name → what it asks for.

    Returns:
        None where no launch was measured to its end, or none says how long its parts took.
    """
    costs = _costs(recording)
    if costs is None:
        return None
    ranked = _ranked(recording, rounds := read_rounds(recording))
    components = _typical_components(rounds, list(itertools.combinations(ranked, 2)))
    return Plan(
        launch_cost_s=costs.launch_s,
        round_cost_s=costs.round_s,
        between_launches=math.sqrt(components.between) if components else None,
        within_launch=math.sqrt(components.within) if components else None,
        rounds=_recommended_rounds(components, costs) if components else None,
        presets=tuple(_plan_preset(name, preset, costs, components, len(ranked)) for name, preset in presets.items()),
    )


def launch_seconds(recording: Recording) -> float | None:
    """Give the mean wall time of one launch in seconds, rounds included and the pilot left out.

    Returns:
        None where no launch was measured to its end, or none says how long its parts took.
    """
    launches = _whole_launches(recording)
    if not launches:
        return None
    return sum(sum(_repeated(phases).values()) for phases in launches.values()) / len(launches) / NS_PER_S


def _costs(recording: Recording) -> _Costs | None:
    """Take the costs of the whole launches apart. None: there are none."""
    launches = _whole_launches(recording)
    rounds = sum(len(measured.measured) for measured in launch_rounds(recording) if measured.launch in launches)
    if not rounds:
        return None
    rounds_ns = sum(phases[_ROUNDS_PHASE] + phases.get(_LOADS_PHASE, 0) for phases in launches.values())
    launches_ns = sum(sum(_repeated(phases).values()) for phases in launches.values()) - rounds_ns
    pilot_ns = sum(phase.duration_ns for phase in recording.phases if phase.name == _ONCE_PHASE)
    return _Costs(
        pilot_s=pilot_ns / NS_PER_S,
        launch_s=launches_ns / len(launches) / NS_PER_S,
        round_s=rounds_ns / rounds / NS_PER_S,
    )


def _whole_launches(recording: Recording) -> dict[int, dict[str, int]]:
    """Launch → phase → nanoseconds, of the launches that measured rounds and came to their last phase."""
    launches: dict[int, dict[str, int]] = {}
    for phase in recording.phases:
        if phase.launch is not None:
            phases = launches.setdefault(phase.launch, {})
            phases[phase.name] = phases.get(phase.name, 0) + phase.duration_ns
    return {launch: phases for launch, phases in launches.items() if {_ROUNDS_PHASE, _LAST_PHASE} <= phases.keys()}


def _repeated(phases: dict[str, int]) -> dict[str, int]:
    """Leave out what only the first launch of a benchmark does."""
    return {name: duration_ns for name, duration_ns in phases.items() if name != _ONCE_PHASE}


def _ranked(recording: Recording, rounds: Rounds) -> list[str]:
    """Name the modes that verdicts would compare."""
    ranked = []
    for mode in dict.fromkeys(recording.spec.modes):
        ending = recording.final_line(mode)
        if ending is not None and can_be_ranked(mode, ending.status) and mode in rounds.medians_ns:
            ranked.append(mode)
    return ranked


def _typical_components(rounds: Rounds, pairs: list[tuple[str, str]]) -> Components | None:
    """Average the components of the pairs that have any. None: no pair has."""
    known = [
        components for a, b in pairs if (components := variance_components(paired_log_ratios(rounds, a, b))) is not None
    ]
    if not known:
        return None
    return Components(
        within=float(np.mean([components.within for components in known])),
        between=float(np.mean([components.between for components in known])),
    )


def _recommended_rounds(components: Components, costs: _Costs) -> int:
    rounds = optimal_rounds(components, launch_cost_s=costs.launch_s, round_cost_s=costs.round_s)
    return MOST_ROUNDS if rounds is None else min(MOST_ROUNDS, max(FEWEST_ROUNDS, rounds))


def _plan_preset(name: str, preset: Preset, costs: _Costs, components: Components | None, modes: int) -> PresetPlan:
    fewest, most = preset.looks[0], preset.looks[-1]
    widest, narrowest = (
        _resolution(components, launches, preset, modes) if components else None for launches in (fewest, most)
    )
    return PresetPlan(
        name=name,
        launches=(fewest, most),
        rounds=preset.rounds,
        seconds=(costs.seconds(fewest, preset.rounds), costs.seconds(most, preset.rounds)),
        resolution=(widest, narrowest) if widest is not None and narrowest is not None else None,
    )


def _resolution(components: Components, launches: int, preset: Preset, modes: int) -> float | None:
    """Give half the interval of one of all pairs of *modes* equally noisy modes, as a ratio less 1.

    None: one launch, or an interval too wide for numbers.
    """
    if launches < 2:  # noqa: PLR2004 - one launch has no spread
        return None
    confidence = 1 - error_at(launches, preset.looks) / math.comb(modes, 2)
    standard_error = math.sqrt(components.variance_of_mean(launches, preset.rounds))
    width = half_width(Spread(standard_error, launches - 1 + borrowed_degrees(modes)), confidence=confidence)
    return math.expm1(width) if width <= _MAX_LOG else None
