"""The picture of every call: what it shows of the calls, and on which axis."""

from dataclasses import replace

import numpy as np
import pytest
from recordings import SEED_TABLE_MS, make_recording

from mlflow_tfexec.records.recording import Block
from mlflow_tfexec.reports._latency_picture import latency_drawing
from mlflow_tfexec.statistics.judge import judge
from mlflow_tfexec.units import duration

HEADS = ("mode", "calls", "shortest", "5 %", "25 %", "median", "75 %", "95 %", "longest")


def drawn(recording):
    return latency_drawing(recording, judge(recording))


def axes_of(drawing):
    from matplotlib.figure import Figure

    figure = Figure()
    drawing.draw(figure)
    [axes] = figure.axes
    return axes


def calls_ms(recording, mode):
    blocks = [b for b in recording.blocks if b.mode == mode and b.metric == "latency" and not b.warmup]
    return [ns / 1e6 for block in blocks for ns in block.calls_ns]


def with_calls(recording, mode, *calls_ns):
    """Put other calls in the place of a mode's first measured block."""
    blocks = [b for b in recording.blocks if b.mode == mode and b.metric == "latency" and not b.warmup]
    lines = [line.model_copy(update={"calls_ns": calls_ns}) if line is blocks[0] else line for line in recording.lines]
    return replace(recording, lines=tuple(lines))


def texts(axes):
    return [text.get_text() for text in axes.texts]


def test_table_says_what_the_box_shows():
    recording = make_recording({"eager": 2.0, "graph": 1.5}, launches=2)

    drawing = drawn(recording)

    assert drawing.heads == HEADS
    for row, mode in zip(drawing.rows, ("eager", "graph"), strict=True):
        calls = calls_ms(recording, mode)
        percentiles = [duration(value) for value in np.percentile(calls, (0, 5, 25, 50, 75, 95, 100))]
        assert row == (mode, "100", *percentiles)


def test_box_reaches_from_quarter_to_quarter_and_its_whiskers_from_5_to_95_percent():
    recording = make_recording({"eager": 2.0}, launches=2)
    p05, q1, median, q3, p95 = np.percentile(calls_ms(recording, "eager"), (5, 25, 50, 75, 95))

    axes = axes_of(drawn(recording))

    [box] = [
        found for found in axes.collections if type(found).__name__ in {"PolyCollection", "FillBetweenPolyCollection"}
    ]
    across = box.get_paths()[0].vertices[:, 0]
    assert (across.min(), across.max()) == pytest.approx((q1, q3))
    lines = [found for found in axes.collections if type(found).__name__ == "LineCollection"]
    ends = [segment[:, 0].tolist() for found in lines for segment in found.get_segments()]
    assert ends == [pytest.approx(pair) for pair in ((p05, q1), (q3, p95), (p05, p05), (p95, p95), (median, median))]


def test_every_call_is_a_point():
    recording = make_recording({"eager": 3.0, "graph": 2.0}, launches=2, calls=300)

    axes = axes_of(drawn(recording))

    drawn_ms = [found.get_offsets()[:, 0].tolist() for found in axes.collections if len(found.get_offsets()) > 1]
    assert drawn_ms == [pytest.approx(calls_ms(recording, mode)) for mode in ("eager", "graph")]


def test_modes_are_told_apart_by_name_number_of_calls_and_kind():
    drawing = drawn(make_recording(statuses={"xla": "outputs_differ", "graph_nojit": "oom"}))

    assert [row[:2] for row in drawing.rows] == [
        ("eager", "150"),
        ("graph", "150"),
        ("xla (outputs differ)", "150"),
        ("graph_control (A/A control)", "150"),
    ]
    assert {"150 calls", "outputs differ, 150 calls", "A/A control, 150 calls"} <= set(texts(axes_of(drawing)))


@pytest.mark.parametrize(("slower_ms", "scale"), [(4.7, "linear"), (5.3, "log")])
def test_axis_is_logarithmic_where_medians_differ_by_more_than_5_times(slower_ms, scale):
    drawing = drawn(make_recording({"eager": slower_ms, "graph": 1.0}, launch_noise=0.0))

    assert axes_of(drawing).get_xscale() == scale
    assert ("logarithmic" in drawing.caption) == (scale == "log")


def test_a_slow_call_makes_no_axis_logarithmic_and_is_told_beside_its_arrow():
    recording = with_calls(make_recording({"eager": 2.0, "graph": 1.0}), "graph", 80_000_000, 120_000_000)

    axes = axes_of(drawn(recording))

    assert axes.get_xscale() == "linear"
    assert axes.get_xlim()[1] < 10
    assert "2 beyond, up to 120 ms ▶" in texts(axes)


def test_a_logarithmic_axis_holds_every_call():
    axes = axes_of(drawn(with_calls(make_recording(), "xla", 4_000_000_000)))

    assert axes.get_xlim()[1] > 4000
    assert [text for text in texts(axes) if "beyond" in text] == []


@pytest.mark.parametrize(
    ("times_ms", "begins", "said"),
    [({"eager": 2.0, "graph": 0.9}, True, "begins at 0"), ({"eager": 2.0, "graph": 1.9}, False, "does not begin at 0")],
)
def test_axis_begins_at_zero_unless_that_hides_what_tells_the_calls_apart(times_ms, begins, said):
    drawing = drawn(make_recording(times_ms))

    assert (axes_of(drawing).get_xlim()[0] == 0) == begins
    assert said in drawing.caption


def test_calls_that_are_all_alike_are_drawn():
    recording = make_recording({"eager": 2.0}, launches=1, rounds=1, calls=1)

    assert axes_of(drawn(recording)).get_xlim()[1] > 2.0
    assert drawn(recording).svg(prefix="p-")


def test_a_crowd_is_fainter_than_a_single_call():
    recording = with_calls(make_recording({"eager": 2.0}, calls=200), "eager", *[2_000_000] * 199, 3_000_000)
    [points] = [found for found in axes_of(drawn(recording)).collections if len(found.get_offsets()) > 1]

    assert points.get_facecolors()[199, 3] > 5 * points.get_facecolors()[0, 3]


def test_nothing_timed_gives_no_picture():
    assert drawn(make_recording({"eager": 2.0, "graph": 1.0}, statuses={"eager": "oom", "graph": "oom"})) is None


def test_times_of_a_mode_are_all_in_the_unit_of_its_median():
    recording = with_calls(make_recording(SEED_TABLE_MS | {"xla": 0.4}), "xla", 40_000_000)

    [xla] = [row for row in drawn(recording).rows if row[0] == "xla"]

    assert xla[-1] == "40000 µs"
    assert {cell.rpartition(" ")[2] for cell in xla[2:]} == {"µs"}


def test_one_call_is_one_call():
    recording = make_recording({"eager": 2.0}, launches=1, rounds=1, calls=1)

    assert "1 call" in texts(axes_of(drawn(recording)))
    assert [line for line in recording.lines if isinstance(line, Block)]
