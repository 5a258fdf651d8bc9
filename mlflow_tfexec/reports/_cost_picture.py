"""The picture of cost: what so many calls take in all, first call included, and from where a mode pays off."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlflow_tfexec import units
from mlflow_tfexec.metrics import measure
from mlflow_tfexec.records.judgement import Judgement, ModeSummary
from mlflow_tfexec.records.recording import Recording
from mlflow_tfexec.records.spec import BASELINE, is_control
from mlflow_tfexec.reports._drawing import Drawing
from mlflow_tfexec.reports._look import GRID, NAME_SIZE, PAPER, TICK_SIZE, WIDTH_IN, fitted, line_look, named

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Of a mode's name above the picture, beside a sample of its line and what follows the name.
_NAME_IN = 1.8
_LEAST_CALLS = 1_000
_MOST_CALLS = 10_000_000


@dataclass(frozen=True)
class _Cost:
    """What calls of one mode cost."""

    summary: ModeSummary
    first_ms: float
    next_ms: float
    """Each call after the first."""
    pays_off_after: int | None
    """Calls in all after which the mode has cost no more than the baseline. None: the baseline, or not shown to."""

    @property
    def name(self) -> str:
        return named(self.summary)

    def total_ms(self, calls: float) -> float:
        """Time of *calls* calls in all, the first included."""
        return self.first_ms + (calls - 1) * self.next_ms


def cost_drawing(recording: Recording, judgement: Judgement) -> Drawing | None:
    """Show total time against number of calls, for each mode whose first call was timed. None: there is none.

    The A/A control is left out: it is another mode's line once more.
    """
    costs = [cost for summary in judgement.modes if (cost := _cost(recording, judgement, summary))]
    if not costs:
        return None
    decades = _decades(costs)
    return Drawing(
        name="cost",
        title="Cost of the first call",
        caption="Time of so many calls in all: the first, which traces and compiles, and the others at the mode's "
        f"median latency. A circle: from there on the mode, shown to be faster, has cost no more than {BASELINE}.",
        width_in=WIDTH_IN,
        height_in=3.1 + 0.17 * len(costs),
        draw=lambda figure: _draw(figure, costs, decades[-1]),
        heads=("mode", *(f"{calls:,} {'call' if calls == 1 else 'calls'}" for calls in decades), "pays off after"),
        rows=tuple(
            (cost.name, *(units.duration(cost.total_ms(calls)) for calls in decades), _pays_off(cost)) for cost in costs
        ),
    )


def _cost(recording: Recording, judgement: Judgement, summary: ModeSummary) -> _Cost | None:
    """Read what a mode costs. None: it is a control, or one of its figures is not known."""
    figures = measure(recording, judgement, summary.mode)
    first_ms, next_ms = figures.get("first_call_ms/total"), figures.get("latency_ms/median")
    if is_control(summary.mode) or not first_ms or not next_ms:
        return None
    after_first = figures.get("break_even/calls")
    return _Cost(summary, first_ms, next_ms, None if after_first is None else 1 + int(after_first))


def _decades(costs: Sequence[_Cost]) -> tuple[int, ...]:
    """Choose numbers of calls, each ten times the one before, that reach beyond every point of break-even."""
    most = max([_LEAST_CALLS, *(cost.pays_off_after * 3 for cost in costs if cost.pays_off_after is not None)])
    last = min(math.ceil(math.log10(most)), round(math.log10(_MOST_CALLS)))
    return tuple(10**power for power in range(last + 1))


def _pays_off(cost: _Cost) -> str:
    if cost.pays_off_after is None:
        return "–"
    return "the first call" if cost.pays_off_after == 1 else f"{cost.pays_off_after:,} calls"


def _label(cost: _Cost) -> str:
    name = fitted(cost.name, room_in=_NAME_IN, size=NAME_SIZE)
    return name if cost.pays_off_after is None else f"{name}: pays off after {_pays_off(cost)}"


def _draw(figure: "Figure", costs: Sequence[_Cost], most: int) -> None:
    import numpy as np
    from matplotlib.ticker import FuncFormatter

    axes = figure.add_subplot()
    calls = np.geomspace(1, most, 80)
    for place, cost in enumerate(costs):
        color, dashes = line_look(place)
        times_s = [cost.total_ms(float(number)) / 1e3 for number in calls]
        axes.plot(calls, times_s, color=color, linestyle=dashes, linewidth=1.8, label=_label(cost), zorder=2)
        if cost.pays_off_after is not None and 1 < cost.pays_off_after <= most:
            at = (cost.pays_off_after, cost.total_ms(cost.pays_off_after) / 1e3)
            axes.plot(*at, marker="o", markersize=7, color=PAPER, markeredgecolor=color, markeredgewidth=2, zorder=3)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(1, most)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_xlabel("calls (log scale)", size=NAME_SIZE)
    axes.set_ylabel("time in all, in s (log scale)", size=NAME_SIZE)
    axes.tick_params(labelsize=TICK_SIZE)
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    # Above the lines: inside there is no place that none of them crosses.
    legend = axes.legend(
        frameon=False, handlelength=3.6, fontsize=NAME_SIZE, loc="lower left", bbox_to_anchor=(0, 1), borderpad=0.2
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
