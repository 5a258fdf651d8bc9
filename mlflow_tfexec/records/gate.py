"""What a gate says of a benchmark held against another one."""

from dataclasses import dataclass
from typing import Literal

from mlflow_tfexec.records.findings import Finding
from mlflow_tfexec.records.judgement import Comparison

Outcome = Literal["regression", "undecided", "passed"]


@dataclass(frozen=True)
class ModeOutcome:
    """What the gate says of one mode."""

    mode: str
    outcome: Outcome
    reason: str
    """One clause, without the mode's name and without a full stop."""
    comparison: Comparison | None
    """Time now over time before. None: the mode was not timed now."""


@dataclass(frozen=True)
class Gate:
    """What the gate says of all modes."""

    model: str
    new_id: str
    """Benchmark id of the one that was checked."""
    base_id: str
    """Benchmark id of the one that it was held against."""
    margin: float
    relative_to: str | None
    """Mode that every time was divided by first. None: none."""
    modes: tuple[ModeOutcome, ...]
    findings: tuple[Finding, ...]
    """Of the comparison; `B` in them is the one that was checked, `A` the other."""

    @property
    def outcome(self) -> Outcome:
        """The worst outcome of a mode."""
        found = {mode.outcome for mode in self.modes}
        return "regression" if "regression" in found else "undecided" if "undecided" in found else "passed"

    def of(self, outcome: Outcome) -> tuple[ModeOutcome, ...]:
        """Return the modes with this outcome."""
        return tuple(mode for mode in self.modes if mode.outcome == outcome)
