"""What is derived from a recording: summaries, comparisons, verdicts, the ordering."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from types import MappingProxyType
from typing import Any, Literal

from mlflow_tfexec.records.answers import OutputFigures
from mlflow_tfexec.records.findings import Finding
from mlflow_tfexec.records.recording import MEASURED_STATUSES
from mlflow_tfexec.records.spec import BASELINE, is_control

Verdict = Literal["slower", "faster", "equivalent", "undecided"]
"""Of the first against the second. `undecided` means too little is known, never that they are the same."""

INVERSE: Mapping[Verdict, Verdict] = MappingProxyType(
    {"slower": "faster", "faster": "slower", "equivalent": "equivalent", "undecided": "undecided"}
)
"""The verdict of the second against the first."""

Scope = Literal["launches", "this launch only"]


@dataclass(frozen=True)
class Latency:
    """Time of one call of one mode, fence included, in milliseconds."""

    median: float
    """Geometric mean over launches of the median over rounds of each block's median."""
    mean: float
    """Arithmetic mean of all timed calls."""
    std: float | None
    """Standard deviation of all timed calls. None with a single call."""
    min: float
    max: float
    p05: float
    p95: float
    p99: float | None
    """None below 100 calls: the quantile would be the maximum."""
    ci95_low: float | None
    ci95_high: float | None
    """95 % interval of `median` over launches (of this launch, with one). None: too few data for one."""
    calls: int
    launches: int
    rounds: int
    """Valid rounds, over all launches."""
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """95 % intervals over launches of `mean`, `std`, `p05`, `p95` and `p99`, as far as there are two launches."""
    autocorrelation: float | None = None
    """Of block medians with those of the round before, within launches. None: too few rounds, or no variation."""
    effective_rounds: float | None = None
    """Independent rounds that would tell as much as `rounds` do."""


@dataclass(frozen=True)
class Ratio:
    """A ratio of two times with its interval."""

    ratio: float
    ci95_low: float | None
    ci95_high: float | None


@dataclass(frozen=True)
class ModeSummary:
    """One mode of a benchmark."""

    mode: str
    status: str
    reason: str | None
    latency_ms: Latency | None
    """None where nothing valid was timed."""
    speedup: Ratio | None
    """Baseline's time over this mode's time: above 1 is faster than the baseline."""
    log_tail: str | None = None
    """The last lines that the mode's process wrote, where it failed."""
    letters: str | None = None
    """Modes that share a letter are equivalent, and others are not shown to be. None: not ranked."""
    outputs: tuple[OutputFigures, ...] = ()
    """How far each output is from the baseline's, those that differ most first. Empty: not recorded."""

    @property
    def is_measured(self) -> bool:
        """True: the mode ran to its end and has times that count, whatever its outputs."""
        return self.status in MEASURED_STATUSES and self.latency_ms is not None


@dataclass(frozen=True)
class Comparison:
    """Two modes: the time of *a* over the time of *b*."""

    a: str
    b: str
    ratio: float
    ci95_low: float | None
    ci95_high: float | None
    verdict: Verdict
    """`slower`: a is slower than b."""
    launches_needed: int | None = None
    """For an undecided pair: launches, in all, that would probably decide it. None: decided, or not to be foreseen."""


@dataclass(frozen=True)
class Judgement:
    """All that is claimed of a benchmark. Pure: the same recording gives the same judgement."""

    benchmark_id: str
    model: str
    ordering: str
    """Slowest first, such as `eager > graph = graph_nojit > xla`. Empty when fewer than two modes were measured."""
    fastest: str | None
    """The mode that every other ranked mode is slower than or equivalent to. None: undecided."""
    best_set: tuple[str, ...]
    """Ranked modes not shown to be slower than any other: the truly fastest is among them."""
    scope: Scope
    modes: tuple[ModeSummary, ...]
    comparisons: tuple[Comparison, ...]
    """Every pair of ranked modes, the slower estimate first."""
    control: Comparison | None
    """The A/A control: the same mode in two processes. Its ratio is this session's noise."""
    unstable: bool
    """True: the control was found to differ; verdicts below twice its difference are withheld as `undecided`."""
    launch_s: float | None
    """What one launch takes on this machine, on average. None: not recorded."""
    findings: tuple[Finding, ...]

    @property
    def has_comparison(self) -> bool:
        """True: the baseline and at least one more mode, controls aside, were measured. Less is no benchmark."""
        measured = {mode.mode for mode in self.modes if mode.is_measured and not is_control(mode.mode)}
        return BASELINE in measured and len(measured) > 1

    def mode(self, name: str) -> ModeSummary:
        """Return the summary of one mode. Raises KeyError for a mode that was not asked for."""
        for summary in self.modes:
            if summary.mode == name:
                return summary
        raise KeyError(name)

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form that `report --format json` prints for one benchmark."""
        return {
            "benchmark_id": self.benchmark_id,
            "model": self.model,
            "ordering": self.ordering,
            "fastest": self.fastest,
            "best_set": list(self.best_set),
            "scope": self.scope,
            "modes": [_mode_dict(mode) for mode in self.modes],
            "comparisons": [_comparison_dict(comparison) for comparison in self.comparisons],
            "control": _comparison_dict(self.control) if self.control else None,
            "unstable": self.unstable,
            "launch_s": self.launch_s,
            "findings": [finding.model_dump(mode="json") for finding in self.findings],
        }


def _mode_dict(mode: ModeSummary) -> dict[str, Any]:
    """Give a mode's summary; log and outputs are there only where something was kept of them."""
    data = {one.name: getattr(mode, one.name) for one in fields(mode)}
    latency = mode.latency_ms
    if latency is not None:
        numbers = {one.name: getattr(latency, one.name) for one in fields(latency)}
        data["latency_ms"] = numbers | {"intervals": {name: list(ends) for name, ends in latency.intervals.items()}}
    data["speedup"] = asdict(mode.speedup) if mode.speedup else None
    if mode.log_tail is None:
        del data["log_tail"]
    data["outputs"] = [output.model_dump(mode="json") for output in mode.outputs]
    if not mode.outputs:
        del data["outputs"]
    return data


def _comparison_dict(comparison: Comparison) -> dict[str, Any]:
    """Give a comparison with its interval as a pair. A missing interval is null, not a pair of nulls."""
    interval = None if comparison.ci95_low is None else [comparison.ci95_low, comparison.ci95_high]
    return {
        "a": comparison.a,
        "b": comparison.b,
        "ratio": comparison.ratio,
        "ci95": interval,
        "verdict": comparison.verdict,
        "launches_needed": comparison.launches_needed,
    }
