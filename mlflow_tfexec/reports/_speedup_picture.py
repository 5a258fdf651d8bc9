"""The picture of speed-ups: how many times as fast as the baseline each mode is, with its interval."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlflow_tfexec.records.judgement import Judgement, ModeSummary, Ratio
from mlflow_tfexec.records.spec import BASELINE
from mlflow_tfexec.reports import _numbers
from mlflow_tfexec.reports._drawing import Drawing
from mlflow_tfexec.reports._look import (
    INK,
    LOG_AXIS_FROM,
    NAME_SIZE,
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
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Rows are one apart; a row's name is above its line.
_NAME_AT, _LINE_AT = -0.22, 0.06


@dataclass(frozen=True)
class _Line:
    """One mode of the picture."""

    summary: ModeSummary
    speedup: Ratio

    @property
    def name(self) -> str:
        return plain(self.summary.mode)

    @property
    def text(self) -> str:
        return _numbers.ratio_with_interval(self.speedup.ratio, self.speedup.ci95_low, self.speedup.ci95_high)

    @property
    def ends(self) -> tuple[float, float]:
        """The interval, or the estimate twice where there is none."""
        low, high = self.speedup.ci95_low, self.speedup.ci95_high
        return (low, high) if low is not None and high is not None else (self.speedup.ratio, self.speedup.ratio)


def speedup_drawing(judgement: Judgement) -> Drawing | None:
    """Show the speed-up of each mode that has one, in the order of the judgement. None: no mode has one."""
    lines = [_Line(mode, mode.speedup) for mode in judgement.modes if mode.speedup and mode.mode != BASELINE]
    if not lines:
        return None
    launch_only = ", this launch only" if judgement.scope == "this launch only" else ""
    return Drawing(
        name="speedup",
        title=f"Speed-up over {BASELINE}",
        caption=f"Time of {BASELINE} over the time of each mode, with its 95 % interval{launch_only}. "
        f"Right of the line at 1: faster than {BASELINE}.",
        width_in=WIDTH_IN,
        height_in=0.6 + 0.46 * len(lines),
        draw=lambda figure: _draw(figure, lines),
        heads=("mode", "speed-up"),
        rows=tuple((named(line.summary), line.text) for line in lines),
    )


def _draw(figure: "Figure", lines: list[_Line]) -> None:
    axes = figure.add_subplot()
    for place, line in enumerate(lines):
        note, color, marker = look(line.summary)
        label_row(axes, place + _NAME_AT, name=line.name, note=note, value=line.text)
        low, high = line.ends
        at = place + _LINE_AT
        axes.hlines(at, low, high, color=color, linewidth=2.2, zorder=3)
        axes.vlines([low, high], at - 0.14, at + 0.14, color=color, linewidth=1.4, zorder=3)
        axes.plot([line.speedup.ratio], [at], marker=marker, color=color, markersize=6, markeredgewidth=2, zorder=4)
    axes.axvline(1.0, color=INK, linewidth=1.0, linestyle="--", zorder=1)
    _draw_scale(axes, lines)
    axes.set_ylim(len(lines) - 0.6, -0.55)
    plain_axis(axes)


def _draw_scale(axes: "Axes", lines: list[_Line]) -> None:
    """Scale the axis of speed-ups: logarithmic where they differ much."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    values = [1.0, *(end for line in lines for end in (*line.ends, line.speedup.ratio))]
    is_log = max(values) > LOG_AXIS_FROM * min(values)
    if is_log:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(base=10, subs=log_ticks(max(values) / min(values))))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xlim(min(values) / 1.3, max(values) * 1.3)
    else:
        axes.set_xlim(*bounds(min(values), max(values)))
        axes.xaxis.set_major_locator(round_ticks(6))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}×"))
    axes.set_xlabel(f"speed-up over {BASELINE}{' (log scale)' if is_log else ''}", size=NAME_SIZE)
