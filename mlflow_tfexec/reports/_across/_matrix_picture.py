"""The picture of a comparison: every mode against every two benchmarks, coloured by verdict."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mlflow_tfexec.records.judgement import Verdict
from mlflow_tfexec.reports._across._table import UNKNOWN, AcrossTable, ModeRow
from mlflow_tfexec.reports._drawing import Drawing
from mlflow_tfexec.reports._look import EQUAL, FASTER, GRID, INK, NAME_SIZE, NOTE_SIZE, PAPER, SLOWER, WIDTH_IN, fitted
from mlflow_tfexec.reports._pairs import Pair

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Light enough for dark text: told apart with any colour vision. The sign in each cell says the same, and hatching keeps
# what is open apart in a grey print.
_PAPER: Mapping[Verdict, str] = {"slower": SLOWER, "faster": FASTER, "equivalent": EQUAL, "undecided": PAPER}
_HATCH = "//"

_MOST_PAIRS = 15
"""Those of six benchmarks. With more nobody finds a cell; the table has them all."""

# Cells stand side by side as long as their numbers have room, then in further lines.
_CELLS_PER_LINE = 4
_LINE_IN = 0.62
_NAME_IN = 0.26


def matrix_drawing(table: AcrossTable) -> Drawing | None:
    """Show the verdict and ratio of each mode for every two benchmarks. None: there are too many to be legible."""
    columns = _columns(table)
    if len(columns) > _MOST_PAIRS:
        return None
    lines = -(-len(columns) // _CELLS_PER_LINE)
    return Drawing(
        name="matrix",
        title="Every mode, every two benchmarks",
        caption=f"{table.legend[0].upper()}{table.legend[1:]}. With intervals; orange: the first is slower, "
        "blue: it is faster, grey: equivalent, hatched: undecided.",
        width_in=WIDTH_IN,
        height_in=0.1 + len(table.modes) * (_NAME_IN + _LINE_IN * lines),
        draw=lambda figure: _draw(figure, table.modes, columns),
        heads=("mode", *(f"{a} over {b}" for a, b in columns)),
        rows=tuple((mode.mode, *(_text(_found(mode, column)) for column in columns)) for mode in table.modes),
    )


def _columns(table: AcrossTable) -> list[tuple[str, str]]:
    """List the pairs that some mode has, in the order of the comparison."""
    return list(dict.fromkeys((pair.a, pair.b) for mode in table.modes for pair in mode.pairs))


def _found(mode: ModeRow, column: tuple[str, str]) -> Pair | None:
    return next((pair for pair in mode.pairs if (pair.a, pair.b) == column), None)


def _text(pair: Pair | None) -> str:
    return f"{pair.sign} {pair.ratio}" if pair else UNKNOWN


def _draw(figure: "Figure", modes: Sequence[ModeRow], columns: Sequence[tuple[str, str]]) -> None:
    """Draw the modes one under another, in inches from the top."""
    axes = figure.add_subplot()
    top = 0.0
    for mode in modes:
        name = fitted(mode.mode, room_in=WIDTH_IN * 0.9, size=NAME_SIZE)
        axes.text(0, top + _NAME_IN * 0.75, name, size=NAME_SIZE, va="baseline", parse_math=False)
        top += _NAME_IN
        for place, column in enumerate(columns):
            line, cell = divmod(place, _CELLS_PER_LINE)
            _draw_cell(axes, cell, top + line * _LINE_IN, column, _found(mode, column))
        top += _LINE_IN * -(-len(columns) // _CELLS_PER_LINE)
    axes.set_xlim(-0.01, _CELLS_PER_LINE + 0.01)
    axes.set_ylim(top + 0.01, 0)
    axes.set_axis_off()


def _draw_cell(axes: "Axes", left: float, top: float, column: tuple[str, str], pair: Pair | None) -> None:
    """Draw one cell: which two benchmarks, and what came out."""
    from matplotlib.patches import Rectangle

    paper = _PAPER[pair.verdict] if pair else PAPER
    cell = Rectangle((left, top), 1, _LINE_IN, facecolor=paper, edgecolor=GRID)
    if pair and pair.verdict == "undecided":
        cell.set_hatch(_HATCH)
    axes.add_patch(cell)
    # On paper of their own, so that no hatching runs through the numbers.
    box = {"facecolor": paper, "edgecolor": "none", "pad": 1.0}
    middle: dict[str, Any] = {"ha": "center", "color": INK, "parse_math": False, "bbox": box}
    axes.text(left + 0.5, top + _LINE_IN * 0.22, f"{column[0]} over {column[1]}", size=NOTE_SIZE, va="center", **middle)
    text = _text(pair).replace(" [", "\n[")
    axes.text(left + 0.5, top + _LINE_IN * 0.64, text, size=NOTE_SIZE + 0.5, va="center", linespacing=1.15, **middle)
