"""A report for the terminal: columns that fit its width, prose wrapped, numbers never broken."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mlflow_tfexec.reports._format import Format
from mlflow_tfexec.reports._sizes import SizeTable, size_tables
from mlflow_tfexec.reports._table import CONTROL_NOTE, BenchmarkTable, Column, Row, Table
from mlflow_tfexec.reports._terminal import DEFAULT_WIDTH, GAP, INDENT, hanging, indented, labelled, written

if TYPE_CHECKING:
    from rich.console import RenderableType

# First to go where the width does not hold all; the rest is the answer itself and is stacked rather than dropped.
_DISPENSABLE = ("memory", "group", "status", "throughput", "first_call", "mean")
_CONTROL_MARK = "*"
_LOG_LINES = 5


def render(table: Table, *, width: int | None = None, color: bool = False) -> str:
    """Write a report as text.

    Args:
        table: what to say.
        width: cells per line. None: 120.
        color: True puts in ANSI colours for a terminal; False gives plain text for a file or a pipe.
    """
    width = width or DEFAULT_WIDTH
    return written(_all_parts(table, width), width=width, color=color)


def _all_parts(table: Table, width: int) -> Iterator["RenderableType"]:
    from rich.text import Text

    for number, benchmark in enumerate(table.benchmarks):
        if number:
            yield Text()
        yield from _parts(benchmark, width)
    if len(table.benchmarks) > 1:
        yield from _overview(table, width)


def _parts(benchmark: BenchmarkTable, width: int) -> Iterator["RenderableType"]:
    from rich.text import Text

    yield Text(benchmark.title, style="bold")
    facts = [f"{fact.label} {fact.text}" for fact in benchmark.facts if fact.label != "model"]
    yield Text(" · ".join(facts), style="dim")
    yield Text()
    yield from _modes(benchmark, width)
    yield Text()
    yield Text(benchmark.ordering, style="bold")
    if benchmark.legend:
        yield indented(Text(benchmark.legend, style="dim"))
    if benchmark.fastest:
        yield labelled("fastest", benchmark.fastest, style="green")
    if benchmark.best_set:
        yield labelled("one of these is fastest", benchmark.best_set)
    if benchmark.scope:
        yield labelled("scope", benchmark.scope)
    yield from (Text(pair, style="yellow") for pair in _undecided(benchmark))
    if benchmark.control:
        yield Text(f"noise floor: {benchmark.control.sentence}{benchmark.unstable}")
    for finding in benchmark.findings:
        yield Text()
        yield hanging("!", finding.sentence(), style="yellow")
    if benchmark.where:
        yield Text()
        # Paths and commands are for copying: they stay whole, however narrow the terminal.
        yield from (Text(f"{label}: {text}", no_wrap=True, overflow="ignore") for label, text in benchmark.where)


def _modes(benchmark: BenchmarkTable, width: int) -> Iterator["RenderableType"]:
    """Show the measured modes as a table, or stacked where it is too narrow; then those that failed, and the notes."""
    from rich.cells import cell_len
    from rich.text import Text

    measured = [row for row in benchmark.rows if row.failure is None]
    names = max((cell_len(_name(row)) for row in benchmark.rows), default=0)
    columns, dropped = _fitting(benchmark.columns, measured, width - names)
    if measured and columns:
        yield _grid(columns, measured, names)
    else:
        for row in measured:
            yield from _stacked(benchmark.columns, row)
    for row in benchmark.rows:
        if row.failure is not None:
            yield hanging(row.name, row.failure, style="red", width=names if columns else 0)
            yield from (indented(Text(f"| {line}", style="dim")) for line in row.log_tail[-_LOG_LINES:])
    for note in benchmark.notes:
        yield Text(note, style="yellow")
    if any(row.control for row in measured) and columns:
        yield Text(f"{_CONTROL_MARK} {CONTROL_NOTE}", style="dim")
    # The status is in the mark, the notes and the lines of the modes that failed.
    heads = [column.head for column in dropped if column.key != "status"]
    if heads:
        yield Text(f"Not shown at this width: {', '.join(heads)}.", style="dim")


def _fitting(
    columns: Sequence[Column], rows: Sequence[Row], width: int
) -> tuple[tuple[Column, ...], tuple[Column, ...]]:
    """Split the columns into (shown, dropped) so that no cell is broken. Nothing shown: even the rest is too wide."""
    from rich.cells import cell_len

    def needed(column: Column) -> int:
        texts = (column.head, column.subhead or "", *(row.cells.get(column.key, "") for row in rows))
        return GAP + max(map(cell_len, texts))

    shown = list(columns)
    for key in (*_DISPENSABLE, None):
        if sum(map(needed, shown)) <= width:
            return tuple(shown), tuple(column for column in columns if column not in shown)
        shown = [column for column in shown if column.key != key]
    return (), ()


def _grid(columns: Sequence[Column], rows: Sequence[Row], names: int) -> "RenderableType":
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    grid.add_column("mode", no_wrap=True, min_width=names)
    for column in columns:
        head = f"{column.head}\n{column.subhead}" if column.subhead else column.head
        grid.add_column(Text(head), no_wrap=True, justify="left" if column.key == "status" else "right")
    for row in rows:
        cells = [Text(row.cells.get(column.key, "")) for column in columns]
        grid.add_row(Text(_name(row)), *cells, style=_style(row))
    return grid


def _stacked(columns: Sequence[Column], row: Row) -> Iterator["RenderableType"]:
    """Show one mode as a heading and a line per figure."""
    from rich.text import Text

    yield Text(f"{row.name} ({CONTROL_NOTE})" if row.control else row.name, style=_style(row) or "bold")
    for column in columns:
        if column.key in row.cells and not (column.key == "status" and row.status == "ok"):
            yield labelled(column.head, row.cells[column.key], indent=INDENT)


def _name(row: Row) -> str:
    return f"{row.name} {_CONTROL_MARK}" if row.control else row.name


def _style(row: Row) -> str:
    if row.control:
        return "dim"
    return "green" if row.fastest else ""


def _undecided(benchmark: BenchmarkTable) -> Iterator[str]:
    for pair in benchmark.pairs:
        if pair.verdict == "undecided":
            needed = f"; {pair.needed}" if pair.needed else ""
            yield f"undecided: {pair.a} against {pair.b} {pair.ratio}{needed}"


def _overview(table: Table, width: int) -> Iterator["RenderableType"]:
    """Repeat every ordering at the end, where a long report leaves the eye."""
    from rich.text import Text

    yield Text()
    yield Text(f"{len(table.benchmarks)} benchmarks", style="bold")
    for benchmark in table.benchmarks:
        yield Text(" · ".join(benchmark.headline))
        yield indented(Text(benchmark.ordering))
    for sweep in size_tables(table.benchmarks):
        yield from _sweep(sweep, width)


def _sweep(sweep: SizeTable, width: int) -> Iterator["RenderableType"]:
    """Show a sweep as a table of medians; where it is too narrow, a line per mode under each size."""
    from rich.cells import cell_len
    from rich.table import Table as Grid
    from rich.text import Text

    yield Text()
    yield Text(sweep.title, style="bold")
    # The orderings stand above.
    heads, rows = sweep.heads[:-1], [row[:-1] for row in sweep.rows]
    widths = [max(map(cell_len, column)) for column in zip(heads, *rows, strict=True)]
    if sum(widths) + GAP * (len(widths) - 1) > width:
        for size, *medians in rows:
            yield Text(size)
            yield from (
                labelled(mode, median, indent=INDENT) for mode, median in zip(sweep.modes, medians, strict=True)
            )
        return
    grid = Grid(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for place, head in enumerate(heads):
        grid.add_column(Text(head), no_wrap=True, justify="right" if place else "left")
    for row in rows:
        grid.add_row(*map(Text, row))
    yield grid


FORMAT = Format(name="console", extension=".txt", render=render)
