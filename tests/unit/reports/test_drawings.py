"""Every picture of a benchmark, as SVG in a page, as PNG, and as a table."""

import itertools
import re
import struct
from dataclasses import replace
from functools import cache
from xml.etree import ElementTree as ET

import pytest
from recordings import SEED_TABLE_MS, make_recording

from mlflow_tfexec.records.recording import Block, Health, ModeLine
from mlflow_tfexec.reports import drawings
from mlflow_tfexec.reports._cost_picture import cost_drawing
from mlflow_tfexec.reports._order_picture import order_drawing
from mlflow_tfexec.reports._speedup_picture import speedup_drawing
from mlflow_tfexec.statistics.judge import judge

NAMES = ["latency", "speedup", "order", "cost"]
HOSTILE = "<script>alert(1)</script>"
ALLOWED = {"svg", "g", "path", "defs", "use", "clipPath", "rect"}
PIXELS = "data:image/png;base64,"


@cache
def all_drawings(**options):
    recording = make_recording(**options)
    return {drawing.name: drawing for drawing in drawings(recording, judge(recording))}


@cache
def svg_of(name):
    return all_drawings()[name].svg(prefix="p-")


def table_of(drawing):
    return [drawing.heads, *drawing.rows]


def without_noise(times_ms=SEED_TABLE_MS, **options):
    return make_recording(times_ms, launch_noise=0.0, round_noise=0.0, calls=1, **options)


def drawn(draw, recording):
    return draw(recording, judge(recording))


def test_every_benchmark_that_was_timed_has_four_pictures():
    assert list(all_drawings()) == NAMES


def test_nothing_timed_gives_no_picture():
    recording = make_recording({"eager": 2.0, "graph": 1.0}, statuses={"eager": "oom", "graph": "oom"})

    assert drawings(recording, judge(recording)) == ()


@pytest.mark.parametrize("name", NAMES)
def test_svg_is_one_element_that_needs_nothing_from_outside(name):
    root = ET.fromstring(svg_of(name))
    # The points of single calls are pixels: as shapes they would be thousands.
    tags = ALLOWED | {"image"} if name == "latency" else ALLOWED

    assert {element.tag.removeprefix("{http://www.w3.org/2000/svg}") for element in root.iter()} <= tags
    references = [element.attrib["href"] for element in root.iter() if "href" in element.attrib]
    assert references
    assert [reference for reference in references if not reference.startswith(("#p-", PIXELS))] == []
    assert re.findall(r"https?:[^\"]*", svg_of(name)) == ["http://www.w3.org/2000/svg"]
    assert re.findall(r"url\((?!#p-)", svg_of(name)) == []
    assert [key for element in root.iter() for key in element.attrib if key.startswith("on")] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_reference_of_a_picture_has_its_target(name):
    ids = re.findall(r' id="([^"]+)"', svg_of(name))
    references = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', svg_of(name))

    assert {one or other for one, other in references} <= set(ids)
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", NAMES)
def test_pictures_of_one_page_share_no_id(name):
    other = all_drawings()[name].svg(prefix="q-")

    assert set(re.findall(r' id="([^"]+)"', svg_of(name))) & set(re.findall(r' id="([^"]+)"', other)) == set()


@pytest.mark.parametrize("name", NAMES)
def test_same_recording_gives_the_same_text_and_no_date(name):
    recording = make_recording()
    [again] = [drawing for drawing in drawings(recording, judge(recording)) if drawing.name == name]

    assert again.svg(prefix="p-") == svg_of(name)
    assert not re.search(r"\d{4}-\d\d-\d\d", svg_of(name))


@pytest.mark.parametrize("name", NAMES)
def test_svg_says_what_it_is_to_who_cannot_see(name):
    root = ET.fromstring(svg_of(name))
    drawing = all_drawings()[name]

    assert (root.attrib["role"], root.attrib["aria-label"]) == ("img", f"{drawing.title}. {drawing.caption}")


@pytest.mark.parametrize("name", NAMES)
def test_picture_stays_small_and_scales(name):
    assert 10_000 < len(svg_of(name)) < 120_000
    assert re.search(r'viewBox="0 0 345.6 [\d.]+"', svg_of(name))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("mode", [HOSTILE, "$\\frac{", "模型 🚀", "a\nb\x1b[2J", "x" * 500, "--> \uffff"])
def test_any_name_of_a_mode_can_be_drawn_and_is_only_drawn(mode):
    recording = make_recording({"eager": 2.0, mode: 1.0}, launches=1, calls=1)

    for drawing in drawings(recording, judge(recording)):
        text = drawing.svg(prefix="p-")
        assert "script" not in text
        assert "-->" not in text
        ET.fromstring(text)


@pytest.mark.parametrize("name", NAMES)
def test_style_of_the_user_does_not_change_the_picture(name):
    import matplotlib as mpl

    with mpl.rc_context({"figure.facecolor": "black", "font.size": 30.0, "svg.fonttype": "none"}):
        assert all_drawings()[name].svg(prefix="p-") == svg_of(name)


@pytest.mark.parametrize("name", NAMES)
def test_png_has_a_heading_and_a_readable_size(name):
    content = all_drawings()[name].png(heading="$\\frac{ 模型", context="Example GPU 80GB\n$\\frac{")

    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", content[16:24])
    assert width == 1200
    assert 250 <= height <= 2000


@pytest.mark.parametrize("name", NAMES)
def test_table_has_a_cell_under_every_head(name):
    drawing = all_drawings()[name]

    assert {len(row) for row in table_of(drawing)} == {len(drawing.heads)}
    assert len(drawing.rows) >= 3


def test_speedups_are_those_of_the_judgement():
    drawing = speedup_drawing(judge(make_recording(statuses={"graph_nojit": "outputs_differ", "xla": "oom"})))

    assert table_of(drawing) == [
        ("mode", "speed-up"),
        ("graph", "23.0× [22.1, 24.0]"),
        ("graph_nojit (outputs differ)", "23.2× [22.7, 23.7]"),
        ("graph_control (A/A control)", "23.1× [22.8, 23.5]"),
    ]


def test_a_speedup_without_an_interval_is_drawn():
    drawing = speedup_drawing(judge(make_recording({"eager": 2.0, "graph": 1.0}, launches=1, rounds=1)))

    assert [row[1] for row in drawing.rows] == ["2.03×"]
    assert drawing.svg(prefix="p-")
    assert "this launch only" in drawing.caption


def test_without_the_baseline_there_is_no_speedup():
    assert speedup_drawing(judge(make_recording(statuses={"eager": "oom"}))) is None


def axes_of(drawing):
    from matplotlib.figure import Figure

    figure = Figure()
    drawing.draw(figure)
    return figure.axes


@pytest.mark.parametrize(("times_ms", "scale"), [({"eager": 2.0, "graph": 1.0}, "linear"), (SEED_TABLE_MS, "log")])
def test_axis_is_logarithmic_where_modes_differ_much(times_ms, scale):
    assert axes_of(speedup_drawing(judge(without_noise(times_ms))))[0].get_xscale() == scale


def test_order_shows_every_measured_block_where_it_was_measured():
    recording = make_recording({"eager": 4.0, "graph": 2.0}, launches=2, rounds=6)

    [eager, graph] = axes_of(drawn(order_drawing, recording))

    blocks = [b for b in recording.blocks if b.metric == "latency" and not b.warmup and b.mode == "eager"]
    lines = [line for line in eager.lines if len(line.get_xdata()) == 6]
    assert [x for line in lines for x in line.get_xdata()] == [
        b.launch * 6 + b.round + (b.position + 0.5) / 2 for b in blocks
    ]
    assert [y for line in lines for y in line.get_ydata()] == pytest.approx(
        [sorted(b.calls_ns)[2] / 1e6 for b in blocks]
    )
    assert graph.get_title(loc="left") == "graph (ms)"


def test_launches_are_marked_where_they_begin():
    [eager, _] = axes_of(drawn(order_drawing, make_recording({"eager": 2.0, "graph": 1.0}, launches=3, rounds=6)))

    assert [(text.get_text(), text.xy[0]) for text in eager.texts] == [("launch", 0), ("1", 0), ("2", 6), ("3", 12)]


def test_names_of_many_launches_do_not_touch():
    [eager] = axes_of(drawn(order_drawing, make_recording({"eager": 2.0}, launches=60, rounds=3, calls=1)))

    places = [text.xy[0] / 180 for text in eager.texts if text.get_text() != "launch"]
    assert len(places) > 15
    assert min(later - place for place, later in itertools.pairwise(places)) > 0.039


def test_slow_calls_leave_room_for_the_drift():
    recording = make_recording({"eager": 2.0}, launches=1)
    lines = [
        line.model_copy(update={"calls_ns": (*line.calls_ns[:-2], 10**9, 10**9)})
        if isinstance(line, Block) and line.calls_ns and line.round == 4
        else line
        for line in recording.lines
    ]

    [eager] = axes_of(drawn(order_drawing, replace(recording, lines=tuple(lines))))

    medians = [y for line in eager.lines for y in line.get_ydata()]
    low, high = eager.get_ylim()
    assert low < min(medians) <= max(medians) < high
    assert max(medians) - min(medians) > 0.3 * (high - low)


def test_blocks_that_do_not_count_are_crosses():
    place = {"launch": 0, "position": 0, "metric": "latency"}
    recording = make_recording({"eager": 2.0, "graph": 1.0}, launches=1, rounds=6)
    extra = (
        Health(launch=0, round=2, bad="throttled"),
        Block(round=6, mode="eager", calls_ns=(9_000_000,), valid=False, **place),
        Block(round=6, mode="graph", calls_ns=(1_000_000,), **place),
    )

    [eager, graph] = axes_of(drawn(order_drawing, replace(recording, lines=(*recording.lines, *extra))))

    crosses = [line for axes in (eager, graph) for line in axes.lines if line.get_marker() == "X"]
    assert [[int(x) for x in line.get_xdata()] for line in crosses] == [[2, 6], [2]]


def test_table_of_order_tells_how_launches_drift():
    lines = [
        Block(launch=launch, round=round_, position=0, mode="eager", metric="latency", calls_ns=(calls_ns,))
        for launch, times in enumerate([(100, 100, 300, 150, 150), (200, 200)])
        for round_, calls_ns in enumerate(time * 10_000 for time in times)
    ]

    drawing = drawn(order_drawing, replace(make_recording({"eager": 1.0, "graph": 1.0}), lines=tuple(lines)))

    assert table_of(drawing) == [("launch", "eager (skipped)"), ("1", "1.50 ms (+50.0 %)"), ("2", "2.00 ms")]


def test_a_mode_that_misses_a_launch_has_a_dash_there():
    recording = make_recording({"eager": 2.0, "graph": 1.0}, launches=2)
    lines = [
        line for line in recording.lines if not (isinstance(line, Block) and (line.launch, line.mode) == (1, "graph"))
    ]

    rows = drawn(order_drawing, replace(recording, lines=tuple(lines))).rows

    assert [row[2] == "–" for row in rows] == [False, True]


def test_a_throttled_launch_gets_a_scale_that_holds_it():
    recording = without_noise({"eager": 2.0, "graph": 1.0}, launches=2)
    slow = [
        line.model_copy(update={"calls_ns": tuple(ns * 10 for ns in line.calls_ns)})
        if isinstance(line, Block) and line.launch == 1 and line.calls_ns
        else line
        for line in recording.lines
    ]

    [eager, graph] = axes_of(drawn(order_drawing, replace(recording, lines=tuple(slow))))

    assert (eager.get_yscale(), graph.get_yscale()) == ("log", "log")


def test_cost_is_the_first_call_and_the_others_at_the_median():
    first_calls_ms = {"eager": 100.0, "graph": 1100.0}
    recording = without_noise({"eager": 3.0, "graph": 1.0})
    lines = [
        line.model_copy(update={"first_call_ns": int(first_calls_ms[line.mode] * 1e6)})
        if isinstance(line, ModeLine)
        else line
        for line in recording.lines
    ]

    drawing = drawn(cost_drawing, replace(recording, lines=tuple(lines)))

    # 100 + 3 n against 1100 + n: even after 500 calls beside the first, give or take the noise within blocks.
    assert drawing.heads == ("mode", "1 call", "10 calls", "100 calls", "1,000 calls", "10,000 calls", "pays off after")
    assert [row[:2] for row in drawing.rows] == [("eager", "100 ms"), ("graph", "1100 ms")]
    assert [row[2:5] for row in drawing.rows] == [("127 ms", "397 ms", "3097 ms"), ("1109 ms", "1199 ms", "2099 ms")]
    assert drawing.rows[0][-1] == "–"
    assert int(drawing.rows[1][-1].removesuffix(" calls")) == pytest.approx(501, abs=3)


def test_break_even_is_where_the_lines_cross():
    [axes] = axes_of(drawn(cost_drawing, make_recording()))
    lines = {line.get_label().partition(":")[0]: line for line in axes.lines if line.get_label()[0] != "_"}
    circles = [line for line in axes.lines if line.get_marker() == "o"]

    assert list(lines) == ["eager", "graph", "graph_nojit", "xla"]
    assert len(circles) == 3
    for circle, name in zip(circles, ["graph", "graph_nojit", "xla"], strict=True):
        [calls], [time_s] = circle.get_xdata(), circle.get_ydata()
        assert cost_at(lines[name], calls) == pytest.approx(time_s, rel=0.01)
        assert cost_at(lines["eager"], calls) >= time_s
        assert cost_at(lines["eager"], calls - 1) < cost_at(lines[name], calls - 1)


def cost_at(line, calls):
    """Read a straight line: its first point is one call, its last so many."""
    x, y = line.get_xdata(), line.get_ydata()
    return y[0] + (y[-1] - y[0]) * (calls - 1) / (x[-1] - 1)


def test_a_mode_that_is_not_shown_to_be_faster_does_not_pay_off():
    drawing = drawn(cost_drawing, make_recording({"eager": 1.0, "graph": 2.0}))

    assert [row[-1] for row in drawing.rows] == ["–", "–"]


def test_control_has_no_cost_of_its_own_and_other_outputs_are_named():
    drawing = drawn(cost_drawing, make_recording(statuses={"xla": "outputs_differ"}))

    assert [row[0] for row in drawing.rows] == ["eager", "graph", "graph_nojit", "xla (outputs differ)"]
