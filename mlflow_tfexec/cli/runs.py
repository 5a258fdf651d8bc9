"""`mlflow-tfexec runs`: which benchmarks there are."""

import csv
import dataclasses
import io
import json
import shutil
import sys
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlflow_tfexec.benchmarking.notices import say
from mlflow_tfexec.benchmarking.request import AUTO, one_of, unless_auto
from mlflow_tfexec.cli import query_options
from mlflow_tfexec.errors import EXIT_DONE

if TYPE_CHECKING:
    from mlflow_tfexec.tracking.query import FoundBenchmark

_COLUMNS = (
    "started", "model", "gpu", "device", "tf_version", "ordering", "fastest", "status",
    "experiment", "run_id", "benchmark_id", "note",
)  # fmt: skip

_HEADINGS = ("when (UTC)", "model", "device", "TensorFlow", "ordering", "status", "run", "note")

# Without a terminal nothing is wrapped: one line is one benchmark, whatever reads it.
_UNBOUNDED_WIDTH = 100_000


@query_options.takes_query
def command(
    *,
    query: query_options.QueryOptions,
    tracking_uri: query_options.TrackingUriOption = AUTO,
    list_format: Annotated[str, typer.Option("--format", help="console, json or csv.")] = "console",
) -> int:
    """List the benchmarks that match a query, newest first."""
    from mlflow_tfexec.tracking.query import find_benchmarks

    write = _FORMATS[one_of("format", list_format, tuple(_FORMATS))]
    found = find_benchmarks(query_options.build_query(query), tracking_uri=unless_auto(tracking_uri))
    if not found:
        say(query_options.none_found(query))
    typer.echo(write(found), nl=False)
    return EXIT_DONE


def _console(found: Sequence["FoundBenchmark"]) -> str:
    """Write a table; on a terminal that is too narrow for it, a few lines for each benchmark.

    A pipe gets one unbroken line for each benchmark and no colour.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if not found:
        return ""
    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else _UNBOUNDED_WIDTH
    rows = [_cells(one) for one in found]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for place, heading in enumerate(_HEADINGS):
        if heading != "note" or any(row[place] for row in rows):
            table.add_column(heading, no_wrap=True)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row[: len(table.columns)]))
    content = io.StringIO()
    console = Console(
        file=content,
        width=width,
        force_terminal=terminal,
        color_system="standard" if terminal else None,
        no_color=not terminal,
        legacy_windows=False,
    )
    if terminal and Console(width=_UNBOUNDED_WIDTH).measure(table).maximum > width:
        return "".join(map(_stacked, rows))
    console.print(table)
    return "".join(f"{line.rstrip()}\n" for line in content.getvalue().splitlines())


def _stacked(cells: Sequence[str]) -> str:
    """Write one benchmark on a few lines, the widest things on their own."""
    when, model, device, tensorflow, ordering, status, run, note = cells
    facts = (model, device, tensorflow and f"TensorFlow {tensorflow}", status)
    head = f"{when}  {' · '.join(fact for fact in facts if fact)}".strip()
    return "".join(f"{line}\n" for line in (head, *(f"  {text}" for text in (ordering, run, note) if text)))


def _cells(one: "FoundBenchmark") -> list[str]:
    """Write what is known of a benchmark; a cell is empty where nothing is."""
    from mlflow_tfexec.text import plain

    where = one.gpu or one.device
    when = _started(one, "%Y-%m-%d %H:%M")
    texts = (when, one.model, where, one.tf_version, one.ordering, one.status, one.run_id, one.note)
    return [plain(text or "") for text in texts]


def _json(found: Sequence["FoundBenchmark"]) -> str:
    """Write `{"benchmarks": [...]}`; what is not known is null. The text is ASCII, so that it survives any pipe."""
    return json.dumps({"benchmarks": [_record(one) for one in found]}, indent=2) + "\n"


def _record(one: "FoundBenchmark") -> dict[str, Any]:
    content = dataclasses.asdict(one)
    del content["started_ms"], content["artifact_uri"]
    return {"started": _started(one, "%Y-%m-%dT%H:%M:%SZ")} | content


def _csv(found: Sequence["FoundBenchmark"]) -> str:
    """Write a row for each benchmark; an empty cell is not known."""
    from mlflow_tfexec.text import spreadsheet_cell

    content = io.StringIO()
    writer = csv.writer(content, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for record in map(_record, found):
        writer.writerow([spreadsheet_cell(record[column] or "") for column in _COLUMNS])
    return content.getvalue()


def _started(one: "FoundBenchmark", pattern: str) -> str | None:
    """Write when a benchmark began. None: MLflow does not know, or it is no time that a calendar has."""
    if one.started_ms is None:
        return None
    try:
        return datetime.fromtimestamp(one.started_ms / 1000, tz=timezone.utc).strftime(pattern)
    except (ValueError, OverflowError, OSError):
        return None


_FORMATS = {"console": _console, "json": _json, "csv": _csv}
