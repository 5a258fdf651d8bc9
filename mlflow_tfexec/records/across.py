"""What is derived from several recordings: the same mode in one benchmark and in another."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from mlflow_tfexec.records.differences import Difference
from mlflow_tfexec.records.findings import Finding
from mlflow_tfexec.records.judgement import Comparison, Latency, Scope


@dataclass(frozen=True)
class Side:
    """One benchmark of a comparison."""

    label: str
    """`A`, `B`, … in the order given; the sides of every comparison are named so."""
    benchmark_id: str
    model: str
    created: str
    """UTC, ISO 8601."""
    launches: int
    """Those that hold a latency that counts."""
    unstable: bool
    """True: its A/A control was found to differ."""


@dataclass(frozen=True)
class ModeAcross:
    """One mode in all benchmarks that have it."""

    mode: str
    latencies: Mapping[str, Latency]
    """By label. A benchmark in which the mode failed, differs in its outputs or was not asked for is absent."""
    comparisons: tuple[Comparison, ...]
    """Every two benchmarks: the time in the later one given (`a`) over that in the earlier (`b`); with `relative_to`,
    how much more than that mode it takes, one over the other."""
    relative_to_loads: Mapping[str, tuple[Comparison, ...]] = field(default_factory=dict)
    """Reference load → the same comparisons, each time divided by that of the load in the same round. Verdicts of
    `comparisons` have been held against them."""


@dataclass(frozen=True)
class Across:
    """All that is claimed of several benchmarks. Pure: the same recordings give the same claims."""

    sides: tuple[Side, ...]
    differences: tuple[Difference, ...]
    """Facts that are not the same in all; values in the order of the sides."""
    margin: float
    """Of equivalence, as a fraction."""
    relative_to: str | None
    """Mode by whose time in the same round every time was divided before it was compared. None: none."""
    scope: Scope
    """`launches` only where every benchmark has several."""
    modes: tuple[ModeAcross, ...]
    reference_loads: Mapping[str, tuple[Comparison, ...]]
    """Reference load → how its own time compares in every two benchmarks, each with an interval for itself. Empty where
    they have no load in common, or the loads do not mean the same in them."""
    findings: tuple[Finding, ...]

    @property
    def launches(self) -> int:
        """Those of the benchmark that has fewest."""
        return min(side.launches for side in self.sides)

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form that `compare --format json` prints."""
        return {
            "benchmarks": [asdict(side) for side in self.sides],
            "differences": [
                asdict(difference) | {"values": list(difference.values)} for difference in self.differences
            ],
            "margin": self.margin,
            "relative_to": self.relative_to,
            "scope": self.scope,
            "modes": [_mode_dict(mode) for mode in self.modes],
            "reference_loads": _loads_dict(self.reference_loads),
            "findings": [finding.model_dump(mode="json") for finding in self.findings],
        }


def _mode_dict(mode: ModeAcross) -> dict[str, Any]:
    return {
        "mode": mode.mode,
        "latency_ms": {label: _latency_dict(latency) for label, latency in mode.latencies.items()},
        "comparisons": [comparison_dict(comparison) for comparison in mode.comparisons],
        "relative_to_loads": _loads_dict(mode.relative_to_loads),
    }


def _loads_dict(loads: Mapping[str, tuple[Comparison, ...]]) -> dict[str, Any]:
    return {load: [comparison_dict(comparison) for comparison in of_load] for load, of_load in loads.items()}


def _latency_dict(latency: Latency) -> dict[str, Any]:
    """Give the median and what it rests on; the rest is in the report of the benchmark itself."""
    interval = None if latency.ci95_low is None else [latency.ci95_low, latency.ci95_high]
    return {"median": latency.median, "ci95": interval, "launches": latency.launches, "rounds": latency.rounds}


def comparison_dict(comparison: Comparison) -> dict[str, Any]:
    """Give a comparison with its interval as a pair. A missing interval is null."""
    data = asdict(comparison)
    low, high = data.pop("ci95_low"), data.pop("ci95_high")
    return data | {"ci95": None if low is None else [low, high]}
