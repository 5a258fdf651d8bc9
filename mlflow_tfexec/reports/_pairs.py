"""Two modes against each other, in words and signs."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from mlflow_tfexec import units
from mlflow_tfexec.records.judgement import INVERSE, Comparison, Judgement, Verdict
from mlflow_tfexec.reports import _numbers
from mlflow_tfexec.text import plain

SIGNS: Mapping[Verdict, str] = MappingProxyType(
    {"slower": ">", "faster": "<", "equivalent": "=", "undecided": "?"},
)


@dataclass(frozen=True)
class Pair:
    """One comparison as text."""

    a: str
    b: str
    sign: str
    ratio: str
    """Time of *a* over time of *b* with its interval."""
    verdict: Verdict
    needed: str | None
    """What would decide an undecided pair. None: decided, or not to be foreseen."""

    @property
    def sentence(self) -> str:
        """Both names, the ratio and the verdict."""
        return f"{self.a} against {self.b} {self.ratio}, {self.verdict}"


def pair(comparison: Comparison, launch_s: float | None = None) -> Pair:
    """Write a comparison as text; *launch_s* is what a launch takes here, if that is known."""
    return Pair(
        a=plain(comparison.a),
        b=plain(comparison.b),
        sign=SIGNS[comparison.verdict],
        ratio=_numbers.ratio_with_interval(comparison.ratio, comparison.ci95_low, comparison.ci95_high),
        verdict=comparison.verdict,
        needed=_needed(comparison.launches_needed, launch_s),
    )


def _needed(launches: int | None, launch_s: float | None) -> str | None:
    if launches is None:
        return None
    time = f" ({units.span(launches * launch_s)} here)" if launch_s else ""
    return f"about {units.count(launches, 'launch', 'launches')}{time} would decide it"


def matrix(judgement: Judgement) -> tuple[tuple[str, tuple[Pair | None, ...]], ...]:
    """Lay the comparisons out with every ranked mode as a row and as a column, slowest first.

    Returns:
        For each mode its name and one pair per column; None on the diagonal and where nothing was compared.
    """
    pairs = {(c.a, c.b): pair(c, judgement.launch_s) for c in judgement.comparisons}
    pairs |= {(c.b, c.a): pair(mirrored(c), judgement.launch_s) for c in judgement.comparisons}
    wins = {mode: [c.a for c in judgement.comparisons].count(mode) for mode, _ in pairs}
    # The slower estimate comes first in every comparison, so the slowest mode is first most often.
    names = sorted(wins, key=lambda mode: -wins[mode])
    return tuple((plain(row), tuple(pairs.get((row, column)) for column in names)) for row in names)


def mirrored(comparison: Comparison) -> Comparison:
    """Say the same with the two modes exchanged."""
    low, high = comparison.ci95_low, comparison.ci95_high
    return dataclasses.replace(
        comparison,
        a=comparison.b,
        b=comparison.a,
        ratio=1 / comparison.ratio,
        ci95_low=1 / high if high else None,
        ci95_high=1 / low if low else None,
        verdict=INVERSE[comparison.verdict],
    )
