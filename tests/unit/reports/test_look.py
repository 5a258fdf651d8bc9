"""What all pictures share: colours that follow the page, shapes beside colours, texts that fit."""

import itertools
import re
from functools import cache
from pathlib import Path

import across_cases
import pytest
from recordings import make_recording

import mlflow_tfexec.reports
from mlflow_tfexec.reports import drawings, formats, table
from mlflow_tfexec.reports._across._matrix_picture import matrix_drawing
from mlflow_tfexec.reports._look import (
    CONTROL,
    DIFFERS,
    EQUAL,
    FASTER,
    RANKED,
    SLOWER,
    VARIABLES,
    WIDTH_IN,
    fitted,
    line_look,
    look,
    width_in,
)
from mlflow_tfexec.statistics.judge import judge

STYLE = Path(mlflow_tfexec.reports.__file__).parent / "templates" / "style.html.j2"
PICTURES = ["latency", "speedup", "order", "cost", "matrix"]
MARKS = ["--ink", "--blue", "--vermilion", "--green", "--pink", "--sky", "--olive", "--grey"]


@cache
def svgs():
    statuses = {"graph_nojit": "outputs_differ"}
    recording = make_recording(statuses=statuses)
    all_ = (*drawings(recording, judge(recording)), matrix_drawing(across_cases.make("three")))
    return {drawing.name: drawing.svg(prefix="p-") for drawing in all_}


@cache
def colors():
    """(light, dark): variable → colour."""
    light, dark = re.findall(r":root \{([^}]*)\}", STYLE.read_text(encoding="utf-8"))
    return tuple(dict(re.findall(r"(--[a-z]+): (#[0-9a-f]{6})", text)) for text in (light, dark))


def luminance(color):
    """Relative luminance by https://www.w3.org/TR/WCAG21/#dfn-relative-luminance."""
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("name", PICTURES)
def test_every_color_of_a_picture_follows_the_page(name):
    fixed = re.sub(r"var\(--[a-z]+, #[0-9a-f]{6}\)", "", svgs()[name])

    assert re.findall(r"(?<!href=\")#[0-9a-f]{6}\b", fixed) == []
    assert re.findall(r"rgb\(|currentColor|(?:fill|stroke)=", fixed) == []


def test_page_sets_every_color_in_the_light_and_in_the_dark():
    light, dark = colors()

    assert set(VARIABLES.values()) <= set(light)
    assert set(light) == set(dark)


def test_dark_colors_are_for_screens_and_not_for_paper():
    text = STYLE.read_text(encoding="utf-8")

    assert text.count("prefers-color-scheme") == text.count("@media screen and (prefers-color-scheme: dark)") == 1


@pytest.mark.parametrize("variable", MARKS)
@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_marks_stand_out_on_the_paper(variable, scheme):
    """3 to 1 is the least for graphics by https://www.w3.org/TR/WCAG21/#non-text-contrast."""
    chosen = colors()[scheme]

    assert contrast(chosen[variable], chosen["--paper"]) >= 3


@pytest.mark.parametrize("variable", ["--paper", "--slower", "--faster", "--equal"])
@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_texts_stand_out_on_their_paper(variable, scheme):
    """4.5 to 1 is the least for text by https://www.w3.org/TR/WCAG21/#contrast-minimum."""
    chosen = colors()[scheme]

    assert contrast(chosen["--ink"], chosen[variable]) >= 4.5
    assert contrast(chosen["--soft"], chosen["--paper"]) >= 4.5


def test_kinds_of_modes_differ_in_shape_and_color():
    recording = make_recording(statuses={"xla": "outputs_differ"})
    looks = {look(summary) for summary in judge(recording).modes}

    assert {color for _, color, _ in looks} == {RANKED, DIFFERS, CONTROL}
    assert len({shape for _, _, shape in looks}) == 3


def test_no_two_lines_look_alike_and_neighbours_differ_in_both_color_and_dashes():
    looks = [line_look(place) for place in range(49)]

    assert len(set(looks)) == 49
    for (color, dashes), (next_color, next_dashes) in itertools.pairwise(looks):
        assert color != next_color
        assert dashes != next_dashes


def test_verdicts_have_papers_of_their_own():
    assert len({SLOWER, FASTER, EQUAL}) == 3


@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("text", ["eager", "W" * 200, "i" * 200, "模型 🚀" * 40, ""])
def test_a_fitted_text_is_no_wider_than_its_room(text):
    shown = fitted(text, room_in=2.0, size=9)

    assert width_in(shown, size=9) <= 2.0
    assert shown == text or (shown.endswith("…") and text.startswith(shown[:-1]))


def test_name_note_and_value_of_a_row_never_touch():
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    names = {"eager": 36.0, "W" * 90: 15.0, "a_mode_of_a_plugin_with_a_name_that_is_far_too_long" * 2: 15.1}
    recording = make_recording(names, statuses={"W" * 90: "outputs_differ"})
    for drawing in drawings(recording, judge(recording))[:2]:
        figure = Figure(figsize=(WIDTH_IN, drawing.height_in), dpi=250, layout="constrained")
        renderer = FigureCanvasAgg(figure).get_renderer()
        drawing.draw(figure)
        figure.draw(renderer)
        boxes = [text.get_window_extent(renderer) for axes in figure.axes for text in axes.texts]
        assert len(boxes) >= 2 * len(drawing.rows)
        assert [pair for pair in itertools.combinations(boxes, 2) if pair[0].overlaps(pair[1])] == []


def test_every_picture_is_as_wide_as_a_phone_shows_it():
    assert {re.search(r"--inches: ([\d.]+)", svg)[1] for svg in svgs().values()} == {"4.8"}


def test_page_of_five_modes_and_twenty_launches_stays_below_400_kb():
    recording = make_recording(launches=20, rounds=20, calls=6)

    text = formats()["html"].render(table([(recording, judge(recording))]))

    assert 100_000 < len(text.encode()) < 400_000
