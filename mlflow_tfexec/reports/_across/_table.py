"""The neutral middle of every report on several benchmarks."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mlflow_tfexec import units
from mlflow_tfexec.records.across import Across, ModeAcross, Side
from mlflow_tfexec.records.findings import Finding
from mlflow_tfexec.records.judgement import Comparison
from mlflow_tfexec.records.recording import Recording
from mlflow_tfexec.reports import _numbers
from mlflow_tfexec.reports._facts import facts
from mlflow_tfexec.reports._pairs import Pair, mirrored, pair
from mlflow_tfexec.text import plain, shortened

UNKNOWN = "–"

# What tells benchmarks apart at a glance; the rest of what differs has a table of its own.
_SHOWN_FACTS = ("input", "GPU", "CPU", "TensorFlow", "preset", "measured", "benchmark")

# Hashes and flags are told apart by their beginnings.
_LONGEST_VALUE = 40


@dataclass(frozen=True)
class SideRow:
    """One benchmark."""

    label: str
    title: str
    facts: str
    """One line."""


@dataclass(frozen=True)
class DifferenceRow:
    """One fact that is not the same in all."""

    kind: str
    label: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class ModeRow:
    """One mode in all benchmarks."""

    mode: str
    medians: tuple[str, ...]
    """By side, with interval; a dash where the mode was not measured."""
    pairs: tuple[Pair, ...]
    """Later side against earlier one."""
    matrix: tuple[tuple[str, ...], ...]
    """Row over column, sides in order; empty on the diagonal, a dash where nothing was compared."""


@dataclass(frozen=True)
class AcrossTable:
    """Everything that a report says of several benchmarks. Every text is one line and free of control characters."""

    across: Across
    sides: tuple[SideRow, ...]
    differences: tuple[DifferenceRow, ...]
    modes: tuple[ModeRow, ...]
    legend: str
    scope: str
    findings: tuple[Finding, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The sides by label."""
        return tuple(side.label for side in self.sides)

    @property
    def title(self) -> str:
        """One line for the whole."""
        models = dict.fromkeys(side.title for side in self.sides)
        return f"{', '.join(models)}: {len(self.sides)} benchmarks compared"


@dataclass(frozen=True)
class AcrossFormat:
    """One way to write such a report."""

    name: str
    extension: str
    render: Callable[[AcrossTable], str]


def across_table(recordings: Sequence[Recording], across: Across) -> AcrossTable:
    """Bring a comparison into the form that every format renders; *recordings* are those that it was made of."""
    return AcrossTable(
        across=across,
        sides=tuple(map(_side, recordings, across.sides)),
        differences=tuple(
            DifferenceRow(
                difference.kind,
                plain(difference.label),
                tuple(UNKNOWN if value is None else _short(value) for value in difference.values),
            )
            for difference in across.differences
        ),
        modes=tuple(_mode(mode, across.sides) for mode in across.modes),
        legend=_legend(across),
        scope=across.scope,
        findings=tuple(_plain_finding(finding) for finding in across.findings),
    )


def _legend(across: Across) -> str:
    relative = f", each divided by that of {plain(across.relative_to)} in the same round" if across.relative_to else ""
    margin = _numbers.percent(across.margin)
    return (
        f"time in the first over time in the second{relative}; "
        f"> slower, < faster, = equivalent within {margin}, ? undecided"
    )


def _side(recording: Recording, side: Side) -> SideRow:
    known = {fact.label: fact.text for fact in facts(recording)}
    texts = [f"{label} {known[label]}" for label in _SHOWN_FACTS if label in known]
    return SideRow(label=side.label, title=plain(side.model), facts=" · ".join(texts))


def _mode(mode: ModeAcross, sides: Sequence[Side]) -> ModeRow:
    labels = [side.label for side in sides]
    pairs = {(c.a, c.b): _pair(c) for c in mode.comparisons}
    both_ways: Mapping[tuple[str, str], Pair] = pairs | {(c.b, c.a): _pair(mirrored(c)) for c in mode.comparisons}
    return ModeRow(
        mode=plain(mode.mode),
        medians=tuple(_median(mode, label) for label in labels),
        pairs=tuple(pairs.values()),
        matrix=tuple(tuple(_cell(both_ways, row, column) for column in labels) for row in labels),
    )


def _median(mode: ModeAcross, label: str) -> str:
    latency = mode.latencies.get(label)
    if latency is None:
        return UNKNOWN
    return _numbers.duration_with_interval(latency.median, latency.ci95_low, latency.ci95_high)


def _pair(comparison: Comparison) -> Pair:
    needed = comparison.launches_needed
    told = None if needed is None else f"about {units.count(needed, 'launch', 'launches')} of each would decide it"
    return dataclasses.replace(pair(comparison), needed=told)


def _cell(pairs: Mapping[tuple[str, str], Pair], row: str, column: str) -> str:
    if row == column:
        return ""
    found = pairs.get((row, column))
    return f"{found.sign} {found.ratio}" if found else UNKNOWN


def _short(value: str) -> str:
    return shortened(plain(value), _LONGEST_VALUE)


def _plain_finding(finding: Finding) -> Finding:
    texts = {name: value for name in ("what", "why", "what_to_try", "mode") if (value := getattr(finding, name))}
    return finding.model_copy(update={name: plain(text) for name, text in texts.items()})
