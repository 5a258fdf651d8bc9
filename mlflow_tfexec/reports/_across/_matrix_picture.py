"""The picture of a comparison: every mode against every two benchmarks, coloured by verdict."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mlflow_tfexec.records.judgement import Verdict
from mlflow_tfexec.reports._across._table import UNKNOWN, AcrossTable, ModeRow
from mlflow_tfexec.reports._drawing import Drawing
from mlflow_tfexec.reports._look import INK
from mlflow_tfexec.reports._pairs import Pair
from mlflow_tfexec.reports._text import shortened

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's orange and blue, lightened so that dark text stands out on them: told apart with any colour vision.
# The sign in each cell says the same, and hatching keeps what is open apart in a grey print.
_PAPER: Mapping[Verdict, str] = {
    "slower": "#F5CC80",
    "faster": "#80B8D8",
    "equivalent": "#F2F2F2",
    "undecided": "#FFFFFF",
}
_HATCH = "//"

_MAX_NAME = 28
_MOST_PAIRS = 10
"""Wider than this nobody prints; the table has them all."""


def matrix_drawing(table: AcrossTable) -> Drawing | None:
    """Show the verdict and ratio of each mode for every two benchmarks. None: there are too many to be legible."""
    columns = _columns(table)
    if len(columns) > _MOST_PAIRS:
        return None
    return Drawing(
        name="matrix",
        title="Every mode, every two benchmarks",
        caption=f"{table.legend[0].upper()}{table.legend[1:]}. With intervals; orange: the first is slower, "
        "blue: it is faster, grey: equivalent, hatched: undecided.",
        width_in=2.2 + 1.6 * len(columns),
        height_in=0.9 + 0.6 * len(table.modes),
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
    from matplotlib.patches import Rectangle

    axes = figure.add_subplot()
    for row, mode in enumerate(modes):
        for place, column in enumerate(columns):
            pair = _found(mode, column)
            if pair:
                cell = Rectangle((place - 0.5, row - 0.5), 1, 1, facecolor=_PAPER[pair.verdict], edgecolor="#D9D9D9")
                if pair.verdict == "undecided":
                    cell.set_hatch(_HATCH)
                axes.add_patch(cell)
            # On paper of its own, so that no hatching runs through the numbers.
            box = {"facecolor": _PAPER[pair.verdict], "edgecolor": "none", "pad": 1.5} if pair else None
            text = _text(pair).replace(" [", "\n[")
            axes.text(place, row, text, ha="center", va="center", fontsize=9, color=INK, bbox=box, parse_math=False)
    axes.set_xticks(range(len(columns)), [f"{a} over {b}" for a, b in columns])
    axes.set_yticks(range(len(modes)), [shortened(mode.mode, _MAX_NAME) for mode in modes])
    for label in axes.get_yticklabels():
        label.set_parse_math(False)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(modes) - 0.5, -0.5)
    axes.spines[:].set_visible(False)
