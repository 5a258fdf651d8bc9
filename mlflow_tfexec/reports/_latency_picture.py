"""The picture of latency: every timed call by mode, with a box over it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mlflow_tfexec import units
from mlflow_tfexec.records.judgement import Judgement, ModeSummary
from mlflow_tfexec.records.recording import Recording
from mlflow_tfexec.reports import _numbers
from mlflow_tfexec.reports._drawing import Drawing
from mlflow_tfexec.reports._look import (
    INK,
    LOG_AXIS_FROM,
    NAME_SIZE,
    NOTE_SIZE,
    PAPER,
    WIDTH_IN,
    bounds,
    label_row,
    log_ticks,
    look,
    named,
    plain_axis,
    round_ticks,
)
from mlflow_tfexec.text import plain

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

_PERCENTILES = (0, 5, 25, 50, 75, 95, 100)

# A linear axis ends where calls are as far beyond the whiskers as three times the distance between these: what lies
# farther out would leave no room for the rest.
_MOST_BEYOND = 3.0

# As many places along the axis as points that do not touch.
_COLUMNS = 200

# Rows are one apart. Above the row's number its name and its box, below it the calls.
_NAME_AT, _BOX_AT, _BOX_HALF, _CALLS_FROM, _CALLS_TO = -0.30, -0.13, 0.085, 0.03, 0.42


@dataclass(frozen=True)
class _Strip:
    """One mode."""

    summary: ModeSummary
    calls_ms: "NDArray[np.float64]"
    """Every call that counts."""

    @cached_property
    def percentiles_ms(self) -> tuple[float, ...]:
        """One for each of `_PERCENTILES`."""
        import numpy as np

        return tuple(float(value) for value in np.percentile(self.calls_ms, _PERCENTILES))

    @property
    def median_ms(self) -> float:
        """Median of all calls."""
        return self.percentiles_ms[_PERCENTILES.index(50)]

    @property
    def estimate(self) -> str:
        """The mode's median as the rest of the report gives it, where it does."""
        latency = self.summary.latency_ms
        return units.duration(latency.median if latency else self.median_ms)


@dataclass(frozen=True)
class _Scale:
    """The axis of latencies, in its unit."""

    factor: float
    """From ms."""
    unit: str
    is_log: bool
    low: float
    high: float


def latency_drawing(recording: Recording, judgement: Judgement) -> Drawing | None:
    """Show every latency that counts, by mode in the order of the judgement. None: nothing was timed."""
    strips = _strips(recording, judgement)
    if not strips:
        return None
    scale = _scale(strips)
    return Drawing(
        name="latency",
        title="Every call",
        caption="Each point is one call. The box above spans the middle half of the calls with a line at their median, "
        "whiskers reach from the 5th to the 95th percentile. On the right: the mode's median latency. "
        f"{_of_axis(scale)}",
        width_in=WIDTH_IN,
        height_in=0.6 + 0.62 * len(strips),
        draw=lambda figure: _draw(figure, strips, scale),
        heads=("mode", "calls", "shortest", "5 %", "25 %", "median", "75 %", "95 %", "longest"),
        rows=tuple(_row(strip) for strip in strips),
    )


def _strips(recording: Recording, judgement: Judgement) -> list[_Strip]:
    """Gather the modes that were timed, in the order of the judgement."""
    from mlflow_tfexec.statistics.rounds import read_rounds

    rounds = read_rounds(recording)
    timed = [summary for summary in judgement.modes if summary.mode in rounds.calls_ns]
    return [_Strip(summary, rounds.all_calls_ns(summary.mode) / units.NS_PER_MS) for summary in timed]


def _row(strip: _Strip) -> tuple[str, ...]:
    durations = (_numbers.duration_like(value, like_ms=strip.median_ms) for value in strip.percentiles_ms)
    return (named(strip.summary), f"{len(strip.calls_ms):,}", *durations)


def _scale(strips: Sequence[_Strip]) -> _Scale:
    """Choose the axis: logarithmic where the modes' medians differ much, else as wide as the calls need."""
    medians = [strip.median_ms for strip in strips]
    factor, unit = _numbers.unit_for(min(medians))
    shortest = min(strip.percentiles_ms[0] for strip in strips) * factor
    longest = max(strip.percentiles_ms[-1] for strip in strips) * factor
    if max(medians) > LOG_AXIS_FROM * min(medians):
        return _Scale(factor, unit, is_log=True, low=shortest / 1.2, high=longest * 1.2)
    left = min(strip.percentiles_ms[1] for strip in strips) * factor
    right = max(strip.percentiles_ms[-2] for strip in strips) * factor
    # Calls that are all alike need some width nevertheless.
    high = min(longest, right + _MOST_BEYOND * max(right - left, 0.01 * right))
    low, high = bounds(shortest, high)
    return _Scale(factor, unit, is_log=False, low=low, high=high)


def _of_axis(scale: _Scale) -> str:
    if scale.is_log:
        return "The axis is logarithmic."
    beyond = "an arrow tells of calls beyond its end"
    return f"The axis begins at 0; {beyond}." if scale.low == 0 else f"The axis does not begin at 0; {beyond}."


def _draw(figure: "Figure", strips: Sequence[_Strip], scale: _Scale) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes = figure.add_subplot()
    for place, strip in enumerate(strips):
        _draw_calls(axes, place, strip, scale)
        _draw_box(axes, place, strip, scale)
        count = f"{len(strip.calls_ms):,} {'call' if len(strip.calls_ms) == 1 else 'calls'}"
        note = ", ".join(filter(None, (look(strip.summary)[0], count)))
        label_row(axes, place + _NAME_AT, name=plain(strip.summary.mode), note=note, value=strip.estimate)
    if scale.is_log:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(base=10, subs=log_ticks(scale.high / scale.low)))
        axes.xaxis.set_minor_formatter(NullFormatter())
    else:
        axes.xaxis.set_major_locator(round_ticks(6))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_xlim(scale.low, scale.high)
    axes.set_ylim(len(strips) - 0.5, -0.52)
    plain_axis(axes)
    axes.set_xlabel(f"latency of one call, in {scale.unit}{' (log scale)' if scale.is_log else ''}", size=NAME_SIZE)


def _draw_calls(axes: "Axes", place: int, strip: _Strip, scale: _Scale) -> None:
    """Draw one mode's calls, and an arrow for those beyond the axis."""
    import numpy as np
    from matplotlib.colors import to_rgba_array

    _, color, marker = look(strip.summary)
    calls = strip.calls_ms * scale.factor
    # Multiples of the golden ratio spread evenly whatever their number, and are the same each time.
    heights = place + _CALLS_FROM + (_CALLS_TO - _CALLS_FROM) * ((np.arange(len(calls)) * 0.618034) % 1.0)
    # Thousands of shapes would make a page heavy: the points alone are pixels, whatever their number.
    colors = to_rgba_array(color, _opacity(calls, scale))
    axes.scatter(calls, heights, s=6, marker=marker, color=colors, linewidths=0.8, zorder=2, rasterized=True)
    beyond = calls[calls > scale.high]
    if len(beyond):
        farthest = _numbers.duration_like(strip.percentiles_ms[-1], like_ms=strip.median_ms)
        axes.annotate(
            f"{len(beyond)} beyond, up to {farthest} ▶",
            (1, place + (_CALLS_FROM + _CALLS_TO) / 2),
            xycoords=("axes fraction", "data"),
            ha="right",
            va="center",
            size=NOTE_SIZE,
            bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 0.8},
            zorder=5,
        )


def _opacity(calls: "NDArray[np.float64]", scale: _Scale) -> "NDArray[np.float64]":
    """Make calls the fainter the more of them share their place on the axis, so that the crowd keeps its shape."""
    import numpy as np

    reach = np.geomspace if scale.is_log else np.linspace
    columns = np.digitize(calls, reach(scale.low, scale.high, _COLUMNS))
    sharing = np.bincount(columns, minlength=_COLUMNS + 1)[columns]
    return np.asarray(np.clip(0.7 * (4 / sharing) ** 0.65, 0.03, 0.7), dtype=np.float64)


def _draw_box(axes: "Axes", place: int, strip: _Strip, scale: _Scale) -> None:
    """Draw one mode's box above its calls: where these are close together neither hides the other."""
    _, p05, q1, median, q3, p95, _ = (value * scale.factor for value in strip.percentiles_ms)
    middle = place + _BOX_AT
    ink: dict[str, Any] = {"color": INK, "linewidth": 1.0, "zorder": 3}
    axes.hlines([middle, middle], [p05, q3], [q1, p95], **ink)
    axes.vlines([p05, p95], middle - _BOX_HALF / 2, middle + _BOX_HALF / 2, **ink)
    color = look(strip.summary)[1]
    axes.fill_between(
        [q1, q3], middle - _BOX_HALF, middle + _BOX_HALF, facecolor=color, edgecolor=INK, alpha=0.55, zorder=2
    )
    axes.vlines([median], middle - _BOX_HALF * 1.3, middle + _BOX_HALF * 1.3, color=INK, linewidth=2.0, zorder=4)
