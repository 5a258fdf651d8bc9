"""A comparison of benchmarks for the terminal."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mlflow_tfexec.reports._across._table import AcrossFormat, AcrossTable, ModeRow
from mlflow_tfexec.reports._terminal import DEFAULT_WIDTH, GAP, hanging, indented, labelled, written

if TYPE_CHECKING:
    from rich.console import RenderableType

_FEW = 2


def render(table: AcrossTable, *, width: int | None = None, color: bool = False) -> str:
    """Write a comparison as text.

    Args:
        table: what to say.
        width: cells per line. None: 120.
        color: True puts in ANSI colours for a terminal.
    """
    width = width or DEFAULT_WIDTH
    return written(_parts(table, width), width=width, color=color)


def _parts(table: AcrossTable, width: int) -> Iterator["RenderableType"]:
    from rich.text import Text

    yield Text(table.title, style="bold")
    for side in table.sides:
        yield hanging(side.label, f"{side.title} · {side.facts}", style="bold")
    yield Text()
    yield from _grid(["mode", *table.labels], [[mode.mode, *mode.medians] for mode in table.modes], width)
    yield Text()
    yield from _grid(["mode", "pair", "ratio", "verdict"], list(_pairs(table)), width)
    yield indented(Text(table.legend, style="dim"))
    yield labelled("scope", table.scope)
    if len(table.sides) > _FEW:
        for mode in table.modes:
            yield from _matrix(table, mode, width)
    yield Text()
    if table.differences:
        heads = ["what differs", "fact", *table.labels]
        yield from _grid(heads, [[row.kind, row.label, *row.values] for row in table.differences], width)
    else:
        yield Text("Nothing that is recorded differs.")
    for finding in table.findings:
        yield Text()
        yield hanging("!", finding.sentence(), style="yellow")


def _pairs(table: AcrossTable) -> Iterator[list[str]]:
    for mode in table.modes:
        for pair in mode.pairs:
            verdict = f"{pair.verdict}; {pair.needed}" if pair.needed else pair.verdict
            yield [mode.mode, f"{pair.a} {pair.sign} {pair.b}", pair.ratio, verdict]


def _matrix(table: AcrossTable, mode: ModeRow, width: int) -> Iterator["RenderableType"]:
    """Show all pairs of a mode at a glance, where they fit; the list of pairs says the same."""
    from rich.text import Text

    heads = [f"{mode.mode}, row over column", *table.labels]
    rows = [[label, *row] for label, row in zip(table.labels, mode.matrix, strict=True)]
    if _needed(heads, rows) <= width:
        yield Text()
        yield from _grid(heads, rows, width)


def _grid(heads: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Iterator["RenderableType"]:
    """Lay out a table whose cells are never broken; where it is too wide, each row is stacked under its first cell."""
    from rich.table import Table as Grid
    from rich.text import Text

    if _needed(heads, rows) > width:
        for first, *rest in rows:
            yield Text(first, style="bold")
            yield from (labelled(head, cell, indent=GAP) for head, cell in zip(heads[1:], rest, strict=True))
        return
    grid = Grid(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for head in heads:
        grid.add_column(Text(head), no_wrap=True)
    for row in rows:
        grid.add_row(*map(Text, row))
    yield grid


def _needed(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Cells that a table takes from left to right."""
    from rich.cells import cell_len

    return sum(max(map(cell_len, column)) for column in zip(heads, *rows, strict=True)) + GAP * (len(heads) - 1)


FORMAT = AcrossFormat(name="console", extension=".txt", render=render)
