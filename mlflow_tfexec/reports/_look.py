"""How every picture looks: told apart by shape as well as by colour, on a screen, in the dark and in grey print."""

from typing import TYPE_CHECKING, Any

from mlflow_tfexec.records.judgement import ModeSummary
from mlflow_tfexec.records.spec import is_control
from mlflow_tfexec.text import plain, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.ticker import MaxNLocator

WIDTH_IN = 4.8
"""Of a picture. A phone shows it at about its own size, so that texts of 8 points stay legible there."""

LOG_AXIS_FROM = 5.0
"""Ratio of the largest to the smallest from which a linear axis would squeeze the small ones together."""

# After Okabe and Ito's palette (https://jfly.uni-koeln.de/color/): told apart with any colour vision. Its sky blue and
# its orange are darkened here, which on white paper have too little contrast for a line.
INK, SOFT, GRID, PAPER = "#222222", "#5a5a5a", "#d8d8d8", "#ffffff"
BLUE, VERMILION, GREEN, PINK = "#0072b2", "#d55e00", "#00875f", "#c2609a"
SKY, OLIVE, GREY = "#3a8fc4", "#806000", "#767676"
SLOWER, FASTER, EQUAL = "#f5cc80", "#a6d0e8", "#f0f0f0"

VARIABLES = {
    INK: "--ink",
    SOFT: "--soft",
    GRID: "--line",
    PAPER: "--paper",
    BLUE: "--blue",
    VERMILION: "--vermilion",
    GREEN: "--green",
    PINK: "--pink",
    SKY: "--sky",
    OLIVE: "--olive",
    GREY: "--grey",
    SLOWER: "--slower",
    FASTER: "--faster",
    EQUAL: "--equal",
}
"""Colour → the variable of a page's style sheet that may give another in its place, as in the dark."""

RANKED, DIFFERS, CONTROL = BLUE, VERMILION, GREY

_COLORS = (INK, BLUE, VERMILION, GREEN, PINK, SKY, OLIVE)
_DASHES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (9, 2)), (0, (1, 1)))

NAME_SIZE, TICK_SIZE, NOTE_SIZE = 9.0, 8.0, 7.5
"""Sizes of text in points."""

# Around and between the texts of a row.
_ROW_MARGINS_IN = 0.45

# Part of a linear axis that zero may cost.
_MOST_FOR_ZERO = 0.5

_POINTS_PER_INCH = 72
_LONGEST = 160


def look(summary: ModeSummary) -> tuple[str, str, str]:
    """Choose (note under the name, colour, shape of the points) of a mode."""
    if summary.status != "ok":
        return plain(summary.status.replace("_", " ")), DIFFERS, "x"
    return ("A/A control", CONTROL, "D") if is_control(summary.mode) else ("", RANKED, "o")


def named(summary: ModeSummary) -> str:
    """Name a mode in a table, and what is special about it."""
    note = look(summary)[0]
    return f"{plain(summary.mode)} ({note})" if note else plain(summary.mode)


def line_look(place: int) -> tuple[str, str | tuple[int, tuple[int, ...]]]:
    """Choose (colour, dashes) of a line that crosses others. No two of the first 49 are alike."""
    turn = place // len(_COLORS)
    return _COLORS[place % len(_COLORS)], _DASHES[(place + turn) % len(_DASHES)]


def log_ticks(spread: float) -> tuple[float, ...]:
    """Choose the numbers within each decade that a log axis labels, for a largest of *spread* times the smallest."""
    return (1.0, 2.0, 5.0) if spread < 300 else (1.0,)  # noqa: PLR2004 - beyond, the labels of a page would touch


def width_in(text: str, *, size: float, weight: str = "normal") -> float:
    """Measure one line of text at *size* points, in inches."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=size, weight=weight)
    return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0]) / _POINTS_PER_INCH


def fitted(text: str, *, room_in: float, size: float, weight: str = "normal") -> str:
    """Return *text* as far as it fits into *room_in* inches, with an ellipsis where something is missing."""
    shown = shortened(text, _LONGEST)
    while len(shown) > 1 and (taken_in := width_in(shown, size=size, weight=weight)) > room_in:
        # By about as much as is too much, and not letter by letter.
        shown = shortened(text, min(len(shown) - 1, max(1, round(len(shown) * room_in / taken_in))))
    return shown


def label_row(axes: "Axes", place: float, *, name: str, note: str, value: str) -> None:
    """Write name and note of a row at *place* on the left, and its value on the right; none touches another."""
    taken_in = width_in(note, size=NOTE_SIZE) + width_in(value, size=NAME_SIZE)
    shared: dict[str, Any] = {
        "xycoords": ("axes fraction", "data"),
        "textcoords": "offset points",
        "annotation_clip": False,
        "va": "baseline",
        "parse_math": False,
        # On paper of their own, so that no line of the grid runs through them.
        "bbox": {"facecolor": PAPER, "edgecolor": "none", "pad": 0.8},
        "zorder": 5,
    }
    name = fitted(name, room_in=WIDTH_IN - _ROW_MARGINS_IN - taken_in, size=NAME_SIZE)
    axes.annotate(name, (0, place), xytext=(0, 0), ha="left", size=NAME_SIZE, **shared)
    after = width_in(name, size=NAME_SIZE) * _POINTS_PER_INCH + 5
    if note:
        axes.annotate(note, (0, place), xytext=(after, 0), ha="left", size=NOTE_SIZE, color=SOFT, **shared)
    axes.annotate(value, (1, place), xytext=(0, 0), ha="right", size=NAME_SIZE, **shared)


def bounds(shortest: float, longest: float) -> tuple[float, float]:
    """Choose the ends of a linear axis: from 0, unless that would cost so much that nothing could be told apart."""
    if shortest < _MOST_FOR_ZERO * longest:
        return 0.0, longest * 1.04
    margin = max(0.04 * (longest - shortest), 0.002 * longest)
    return shortest - margin, longest + margin


def round_ticks(most: int) -> "MaxNLocator":
    """Choose at most so many round numbers to label on a linear axis."""
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(most, steps=[1, 2, 5, 10])


def plain_axis(axes: "Axes") -> None:
    """Leave of the axes a scale below and its grid: rows name themselves."""
    axes.set_yticks([])
    axes.grid(axis="x", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(axis="x", labelsize=TICK_SIZE)
    axes.spines[["top", "right", "left"]].set_visible(False)
