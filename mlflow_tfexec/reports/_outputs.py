"""Output by output: how far a mode's answers are from the baseline's, for the modes whose answers differ."""

from dataclasses import dataclass

from mlflow_tfexec.records.answers import OutputFigures
from mlflow_tfexec.records.judgement import Judgement
from mlflow_tfexec.text import plain

HEADS = ("output", "largest difference", "of the largest value", "cosine", "same largest place", "NaN", "infinite")

_MOST_ROWS = 20
"""A reader looks for what differs most; the JSON report has more."""


@dataclass(frozen=True)
class OutputTable:
    """One mode whose answers differ."""

    mode: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """A cell per head; what is not known is a dash."""


def output_tables(judgement: Judgement) -> tuple[OutputTable, ...]:
    """Give a table for each mode of which some output is beyond the tolerance."""
    return tuple(
        OutputTable(
            mode=plain(summary.mode),
            heads=(*HEADS, "in float64") if any(one.float64_error is not None for one in summary.outputs) else HEADS,
            rows=tuple(_cells(one) for one in summary.outputs[:_MOST_ROWS]),
        )
        for summary in judgement.modes
        if not all(one.within_tolerance for one in summary.outputs)
    )


def _cells(one: OutputFigures) -> tuple[str, ...]:
    name = plain(one.name) if one.name else str(one.place)
    cells = (
        name if one.within_tolerance else f"{name} ≠",
        _number(one.max_abs_error),
        _number(one.max_rel_error),
        "–" if one.cosine is None else f"{one.cosine:.6f}",
        "–" if one.argmax_agreement is None else f"{one.argmax_agreement:.1%}",
        _counts(one.nan_count, one.baseline_nan_count),
        _counts(one.inf_count, one.baseline_inf_count),
    )
    return cells if one.float64_error is None else (*cells, _number(one.float64_error))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def _counts(own: int | None, baseline: int | None) -> str:
    """Write a count, and beside it the baseline's where that is another."""
    if own is None:
        return "–"
    return str(own) if own == baseline else f"{own} (baseline {baseline})"
