"""A comparison of benchmarks for spreadsheets and data frames: one row per mode and pair."""

import csv
import io

from mlflow_tfexec.records.across import Across, ModeAcross
from mlflow_tfexec.records.judgement import Comparison
from mlflow_tfexec.reports._across._table import AcrossFormat, AcrossTable
from mlflow_tfexec.text import spreadsheet_cell

_COLUMNS = (
    "mode", "a", "b", "a_benchmark_id", "b_benchmark_id", "a_model", "b_model", "a_median_ms", "b_median_ms",
    "ratio", "ci95_low", "ci95_high", "verdict", "launches_needed", "margin", "relative_to", "scope",
)  # fmt: skip


def render(table: AcrossTable) -> str:
    """Write the time of `a` over the time of `b` for every mode and pair. An empty cell is not known."""
    content = io.StringIO()
    writer = csv.DictWriter(content, _COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for mode in table.across.modes:
        writer.writerows(_row(table.across, mode, comparison) for comparison in mode.comparisons)
    return content.getvalue()


def _row(across: Across, mode: ModeAcross, comparison: Comparison) -> dict[str, str]:
    sides = {side.label: side for side in across.sides}
    a, b = sides[comparison.a], sides[comparison.b]
    texts = {
        "mode": mode.mode,
        "a": a.label,
        "b": b.label,
        "a_benchmark_id": a.benchmark_id,
        "b_benchmark_id": b.benchmark_id,
        "a_model": a.model,
        "b_model": b.model,
        "verdict": comparison.verdict,
        "relative_to": across.relative_to or "",
        "scope": across.scope,
    }
    numbers = {
        "a_median_ms": mode.latencies[a.label].median,
        "b_median_ms": mode.latencies[b.label].median,
        "ratio": comparison.ratio,
        "ci95_low": comparison.ci95_low,
        "ci95_high": comparison.ci95_high,
        "launches_needed": comparison.launches_needed,
        "margin": across.margin,
    }
    return {column: spreadsheet_cell(text) for column, text in texts.items()} | {
        column: repr(number) for column, number in numbers.items() if number is not None
    }


FORMAT = AcrossFormat(name="csv", extension=".csv", render=render)
