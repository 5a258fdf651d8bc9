"""The picture of time: each mode's latency in the order in which it was measured, launch after launch."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mlflow_tfexec import units
from mlflow_tfexec.records.judgement import Judgement, ModeSummary
from mlflow_tfexec.records.recording import Block, Recording
from mlflow_tfexec.reports import _numbers
from mlflow_tfexec.reports._drawing import Drawing
from mlflow_tfexec.reports._look import (
    DIFFERS,
    GRID,
    INK,
    LOG_AXIS_FROM,
    NAME_SIZE,
    NOTE_SIZE,
    SOFT,
    TICK_SIZE,
    WIDTH_IN,
    fitted,
    log_ticks,
    look,
    named,
    round_ticks,
)
from mlflow_tfexec.statistics.rounds import counted_blocks
from mlflow_tfexec.text import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Part of the width that a launch's number takes.
_NUMBER_TAKES = 0.04

# What of a band lies farther from the medians than their own spread is cut off: slow calls would leave no room for the
# drift that is to be seen.
_MOST_BEYOND = 1.0

# More points than this along the width of a page touch each other: then the line alone is drawn.
_MAX_MARKS = 150

# A half of fewer rounds says nothing of a drift.
_LEAST_ROUNDS_PER_HALF = 2


@dataclass(frozen=True)
class _Point:
    """One block."""

    launch: int
    place: float
    """In measured order: the round's number over all launches, and within it the mode's turn."""
    median_ms: float
    low_ms: float
    high_ms: float
    counts: bool


@dataclass(frozen=True)
class _Track:
    """One mode."""

    summary: ModeSummary
    points: tuple[_Point, ...]

    @property
    def launches(self) -> dict[int, list[_Point]]:
        """Launch → its points, in measured order."""
        by_launch: dict[int, list[_Point]] = {}
        for point in self.points:
            by_launch.setdefault(point.launch, []).append(point)
        return by_launch


def order_drawing(recording: Recording, judgement: Judgement) -> Drawing | None:
    """Show every measured block in order, dropped and invalid ones marked. None: nothing was timed."""
    starts = _starts(recording)
    tracks = [track for summary in judgement.modes if (track := _track(recording, summary, starts)).points]
    if not tracks:
        return None
    return Drawing(
        name="order",
        title="In measured order",
        caption="Median latency of each block, each mode on a scale of its own; the band spans the middle half of the "
        "block's calls, the dashed line is the mode's median, crosses do not count (dropped or invalid), and vertical "
        "lines begin a launch. In the table: the median of each launch, and how far its second half is from its first.",
        width_in=WIDTH_IN,
        height_in=0.75 + 0.95 * len(tracks),
        draw=lambda figure: _draw(figure, tracks, starts),
        heads=("launch", *(named(track.summary) for track in tracks)),
        rows=tuple((str(launch + 1), *(_cell(track, launch) for track in tracks)) for launch in starts),
    )


def _starts(recording: Recording) -> dict[int, int]:
    """Launch → the number of its first measured round over all launches."""
    ends: dict[int, int] = {}
    for block in recording.blocks:
        if not block.warmup:
            ends[block.launch] = max(ends.get(block.launch, 0), block.round + 1)
    starts, total = {}, 0
    for launch, end in sorted(ends.items()):
        starts[launch] = total
        total += end
    return starts


def _track(recording: Recording, summary: ModeSummary, starts: dict[int, int]) -> _Track:
    counted = {id(block) for block in counted_blocks(recording, "latency")}
    turns = 1 + max((block.position for block in recording.blocks), default=0)
    points = [
        _point(block, starts[block.launch] + block.round + (block.position + 0.5) / turns, counts=id(block) in counted)
        for block in recording.blocks
        if block.mode == summary.mode and _is_shown(block)
    ]
    return _Track(summary, tuple(sorted(points, key=lambda point: point.place)))


def _is_shown(block: Block) -> bool:
    return block.metric == "latency" and not block.warmup and bool(block.calls_ns) and min(block.calls_ns or (0,)) > 0


def _point(block: Block, place: float, *, counts: bool) -> _Point:
    calls = [ns / units.NS_PER_MS for ns in block.calls_ns or ()]
    # Not all of them: where one call in ten is slow, nothing but slow calls would be seen.
    low_ms, _, high_ms = statistics.quantiles(calls, method="inclusive") if len(calls) > 1 else calls * 3
    return _Point(block.launch, place, statistics.median(calls), low_ms, high_ms, counts)


def _cell(track: _Track, launch: int) -> str:
    """Write the median of a mode in a launch and, where there are rounds enough, how it drifted."""
    medians = [point.median_ms for point in track.launches.get(launch, ()) if point.counts]
    if not medians:
        return "–"
    text = units.duration(statistics.median(medians))
    half = len(medians) // 2
    if half < _LEAST_ROUNDS_PER_HALF:
        return text
    drift = statistics.median(medians[-half:]) / statistics.median(medians[:half]) - 1
    # Adding 0 makes -0.0 a 0.0.
    return f"{text} ({round(drift * 100, 1) + 0.0:+.1f} %)"


def _draw(figure: "Figure", tracks: Sequence[_Track], starts: dict[int, int]) -> None:
    end = max(point.place for track in tracks for point in track.points)
    end = max(math.ceil(end), *(start + 1 for start in starts.values()))
    # One line with gaps for all launches: it takes a fraction of the space of many lines.
    places = [place for start in list(starts.values())[1:] for place in (start, start, math.nan)]
    heights = [0.0, 1.0, math.nan] * (len(starts) - 1)
    panels = figure.subplots(len(tracks), 1, sharex=True, squeeze=False)[:, 0]
    for axes, track in zip(panels, tracks, strict=True):
        _draw_track(axes, track)
        axes.plot(places, heights, color=SOFT, linewidth=0.7, zorder=1, transform=axes.get_xaxis_transform())
    _name_launches(panels[0], starts, end)
    panels[-1].set_xlabel("round, all launches one after another", size=NAME_SIZE)
    panels[-1].set_xlim(0, end)


def _name_launches(axes: "Axes", starts: dict[int, int], end: float) -> None:
    """Write above the panels which launch begins where, as far as there is room."""
    shared: dict[str, Any] = {
        "xycoords": ("data", "axes fraction"),
        "textcoords": "offset points",
        "size": NOTE_SIZE,
        "color": SOFT,
    }
    axes.annotate("launch", (0, 1), xytext=(-3, 15), ha="right", **shared)
    free_from = 0.0
    for launch, start in starts.items():
        if start / end >= free_from:
            free_from = start / end + _NUMBER_TAKES
            axes.annotate(str(launch + 1), (start, 1), xytext=(0, 15), **shared)


def _draw_track(axes: "Axes", track: _Track) -> None:
    """Draw one mode: its blocks launch by launch, so that no line joins two processes."""
    _, color, marker = look(track.summary)
    middle_ms = statistics.median(point.median_ms for point in track.points)
    factor, unit = _numbers.unit_for(middle_ms)
    for points in track.launches.values():
        kept = [point for point in points if point.counts]
        places = [point.place for point in kept]
        low, high = ([getattr(point, name) * factor for point in kept] for name in ("low_ms", "high_ms"))
        axes.fill_between(places, low, high, color=color, alpha=0.2, linewidth=0, zorder=2)
        marks: dict[str, Any] = {"marker": marker, "markersize": 3} if len(track.points) <= _MAX_MARKS else {}
        axes.plot(places, [point.median_ms * factor for point in kept], color=color, linewidth=1.0, zorder=3, **marks)
    left_out = [point for point in track.points if not point.counts]
    axes.plot(
        [point.place for point in left_out],
        [point.median_ms * factor for point in left_out],
        linestyle="",
        marker="X",
        markersize=6,
        color=DIFFERS,
        markeredgecolor=INK,
        markeredgewidth=0.6,
        zorder=4,
    )
    _draw_scale(axes, track, factor, unit)


def _draw_scale(axes: "Axes", track: _Track, factor: float, unit: str) -> None:
    """Scale and label the axis of one mode. Not from 0: what changes over time is small beside the time itself."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    medians = [point.median_ms for point in track.points]
    if max(medians) > LOG_AXIS_FROM * min(medians):
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(base=10, subs=log_ticks(max(medians) / min(medians))))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.yaxis.set_major_locator(round_ticks(4))
    axes.set_ylim(*_ends(track, factor))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    latency = track.summary.latency_ms
    if latency is not None:
        axes.axhline(latency.median * factor, color=INK, linewidth=0.9, linestyle="--", zorder=2)
    note = look(track.summary)[0]
    after = f"{f', {note}' if note else ''} ({unit})"
    name = fitted(plain(track.summary.mode), room_in=WIDTH_IN * 0.55, size=NAME_SIZE)
    axes.set_title(f"{name}{after}", fontsize=NAME_SIZE, loc="left", pad=3, parse_math=False)
    axes.grid(axis="y", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=TICK_SIZE)
    axes.spines[["top", "right"]].set_visible(False)


def _ends(track: _Track, factor: float) -> tuple[float, float]:
    """Choose the ends of one mode's axis: all medians, and of the bands what leaves room for these."""
    medians = [point.median_ms for point in track.points]
    least, most = min(medians), max(medians)
    beyond = _MOST_BEYOND * max(most - least, 0.01 * most)
    low = max(least - beyond, min(point.low_ms for point in track.points))
    high = min(most + beyond, max(point.high_ms for point in track.points))
    margin = 0.06 * max(high - low, 0.01 * high)
    return max(low - margin, low * 0.9) * factor, (high + margin) * factor
