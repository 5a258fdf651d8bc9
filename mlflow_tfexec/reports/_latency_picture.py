"""The picture of a benchmark: every timed call by mode, with a box over it."""

import io
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mlflow_tfexec import units
from mlflow_tfexec.records.judgement import Judgement
from mlflow_tfexec.records.recording import Recording
from mlflow_tfexec.reports import _numbers
from mlflow_tfexec.reports._facts import inputs, machine
from mlflow_tfexec.reports._look import INK, LOG_AXIS_FROM, look
from mlflow_tfexec.reports._text import plain, shortened

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

MAX_POINTS = 2_000
"""Points drawn per mode: more only make a darker smear. Boxes are always made of every call."""

_MAX_TITLE = 52
_MAX_SUBTITLE = 90
_MAX_NAME = 28
_DOTS_PER_INCH = 150


@dataclass(frozen=True)
class _Strip:
    """One mode of the picture."""

    name: str
    note: str
    color: str
    marker: str
    calls: "NDArray[np.float64]"
    """Every call that counts, in the unit of the axis."""
    median: float
    """The judgement's estimate, in the unit of the axis."""


def latency_png(recording: Recording, judgement: Judgement) -> bytes | None:
    """Draw every latency that counts, by mode, as a PNG image.

    The box spans the middle half of the calls with a line at their median; whiskers reach from the 5th to the 95th
    percentile. Same recording, same picture.

    Returns:
        The content of a PNG file. None: nothing was timed.
    """
    # The object API instead of pyplot: no global figure list, no backend chosen for the whole process.
    import matplotlib.style
    from matplotlib.figure import Figure

    unit, strips = _strips(recording, judgement)
    if not strips:
        return None
    content = io.BytesIO()
    # The user's own style could turn the paper black or send every text through TeX.
    with matplotlib.style.context("default"), warnings.catch_warnings():
        # A model's name may hold letters that the font lacks; a box in their place is no reason to warn.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure = Figure(figsize=(8.0, 1.7 + 0.62 * len(strips)), dpi=_DOTS_PER_INCH, layout="constrained")
        axes = figure.add_subplot()
        for place, strip in enumerate(strips):
            _draw_strip(axes, place, strip)
        _draw_axes(axes, strips, unit)
        _draw_title(figure, recording, judgement)
        figure.savefig(content, format="png", metadata={"Software": None})
    return content.getvalue()


def _strips(recording: Recording, judgement: Judgement) -> tuple[str, list[_Strip]]:
    """Gather (unit of the axis, the modes that were timed in the order of the judgement)."""
    import numpy as np

    from mlflow_tfexec.statistics.rounds import read_rounds

    rounds = read_rounds(recording)
    timed = [summary for summary in judgement.modes if summary.mode in rounds.calls_ns]
    if not timed:
        return "ms", []
    fastest_ms = min(float(np.median(rounds.all_calls_ns(summary.mode))) for summary in timed) / units.NS_PER_MS
    factor, unit = _numbers.unit_for(fastest_ms)
    strips = []
    for summary in timed:
        calls = rounds.all_calls_ns(summary.mode).astype(np.float64) * (factor / units.NS_PER_MS)
        note, color, marker = look(summary)
        median = summary.latency_ms.median * factor if summary.latency_ms else float(np.median(calls))
        strips.append(_Strip(shortened(plain(summary.mode), _MAX_NAME), note, color, marker, calls, median))
    return unit, strips


def _draw_strip(axes: "Axes", place: int, strip: _Strip) -> None:
    """Draw one mode's calls and, above them, their box: where calls are close together neither hides the other."""
    import numpy as np

    drawn = strip.calls
    if len(drawn) > MAX_POINTS:
        drawn = drawn[np.linspace(0, len(drawn) - 1, MAX_POINTS).astype(int)]
    # Multiples of the golden ratio spread evenly whatever their number, and are the same each time.
    heights = place - 0.02 + 0.36 * ((np.arange(len(drawn)) * 0.618034) % 1.0)
    faint = min(0.7, max(0.2, 60 / len(drawn)))
    axes.scatter(drawn, heights, s=9, marker=strip.marker, color=strip.color, alpha=faint, linewidths=0.7, zorder=2)
    p05, q1, median, q3, p95 = np.percentile(strip.calls, (5, 25, 50, 75, 95))
    middle, half = place - 0.22, 0.11
    ink: dict[str, Any] = {"color": INK, "linewidth": 1.1, "zorder": 3}
    axes.plot([p05, q1], [middle, middle], **ink)
    axes.plot([q3, p95], [middle, middle], **ink)
    axes.vlines([p05, p95], middle - half / 2, middle + half / 2, **ink)
    axes.fill_between(
        [q1, q3], middle - half, middle + half, facecolor=strip.color, edgecolor=INK, alpha=0.55, zorder=2
    )
    axes.vlines([median], middle - half * 1.4, middle + half * 1.4, color=INK, linewidth=2.2, zorder=4)


def _draw_axes(axes: "Axes", strips: list[_Strip], unit: str) -> None:
    """Scale and label the axes; the first mode is on top."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    slowest_call = max(float(strip.calls.max()) for strip in strips)
    is_log = slowest_call > LOG_AXIS_FROM * min(strip.median for strip in strips)
    if is_log:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_minor_formatter(NullFormatter())
    else:
        # From zero, so that lengths are in proportion to times.
        axes.set_xlim(left=0)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_xlabel(f"latency of one call ({unit}{', log scale' if is_log else ''})")
    axes.set_yticks(range(len(strips)), [_label(strip) for strip in strips])
    for label in axes.get_yticklabels():
        label.set_parse_math(False)
    axes.set_ylim(len(strips) - 0.45, -0.55)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#D9D9D9", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    right = axes.secondary_yaxis("right")
    right.set_yticks(range(len(strips)), [f"{units.significant(strip.median)} {unit}" for strip in strips])
    right.tick_params(axis="y", length=0)
    right.spines["right"].set_visible(False)


def _label(strip: _Strip) -> str:
    count = f"{len(strip.calls):,} {'call' if len(strip.calls) == 1 else 'calls'}"
    return f"{strip.name}\n{strip.note + ', ' if strip.note else ''}{count}"


def _draw_title(figure: "Figure", recording: Recording, judgement: Judgement) -> None:
    """Say which model on which device, and how to read the picture."""
    known = [machine(recording).processor, inputs(recording), judgement.scope if "only" in judgement.scope else None]
    subtitle = shortened(" · ".join(text for text in known if text), _MAX_SUBTITLE)
    axes = figure.axes[0]
    # Not as math: a dollar sign in a name is a dollar sign.
    title = shortened(plain(judgement.model), _MAX_TITLE)
    axes.set_title(title, fontsize=13, fontweight="bold", loc="left", pad=22, parse_math=False)
    axes.annotate(
        subtitle,
        (0, 1),
        xytext=(0, 8),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize=9,
        color="#444444",
        parse_math=False,
    )
    caption = "box: middle half of the calls and their median; whiskers: 5 % to 95 %; right: the mode's median"
    figure.supxlabel(caption, fontsize=7.5, color="#555555")
