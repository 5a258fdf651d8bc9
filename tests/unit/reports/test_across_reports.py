"""Reports on several benchmarks, against files that were read by a person."""

import csv
import importlib
import io
import json
import os
import pkgutil
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from across_cases import CASES, make, recording

from mlflow_tfexec.reports import _across
from mlflow_tfexec.reports._across import AcrossFormat, across_formats, across_table
from mlflow_tfexec.reports._across._matrix_picture import matrix_drawing
from mlflow_tfexec.reports._across.console import render
from mlflow_tfexec.statistics.across import compare_across

GOLDEN = Path(__file__).parents[2] / "golden" / "across"
INLINE_PICTURE = re.compile(r"<svg .*?</svg>", re.DOTALL)


@pytest.mark.parametrize("name", across_formats())
@pytest.mark.parametrize("case", CASES)
def test_comparison_is_the_one_that_was_approved(name, case):
    chosen = across_formats()[name]
    # The picture's paths belong to the version of matplotlib, not to us.
    text = INLINE_PICTURE.sub("<svg/>", chosen.render(make(case)))
    path = GOLDEN / f"{case}{chosen.extension}"
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    approved = path.read_text(encoding="utf-8")
    if name == "json":
        assert_alike(json.loads(text), json.loads(approved))
    elif name == "csv":
        assert_alike(rows(text), rows(approved))
    else:
        assert text == approved


def assert_alike(actual, approved):
    """Compare structure and texts exactly, and numbers to nine digits: the last ones belong to the platform."""
    if isinstance(approved, dict):
        assert list(actual) == list(approved)
        for key, value in approved.items():
            assert_alike(actual[key], value)
    elif isinstance(approved, list):
        assert len(actual) == len(approved)
        for one, other in zip(actual, approved, strict=True):
            assert_alike(one, other)
    elif isinstance(approved, float):
        assert actual == pytest.approx(approved, rel=1e-9)
    else:
        assert actual == approved


def rows(text):
    return [{key: number(cell) for key, cell in row.items()} for row in csv.DictReader(io.StringIO(text, newline=""))]


def number(cell):
    try:
        return float(cell)
    except ValueError:
        return cell


def test_every_module_is_a_format_of_its_own_name():
    names = [info.name for info in pkgutil.iter_modules(_across.__path__) if not info.name.startswith("_")]

    for name in names:
        module = importlib.import_module(f"{_across.__name__}.{name}")
        assert [key for key, value in vars(module).items() if isinstance(value, AcrossFormat)] == ["FORMAT"]
        assert module.FORMAT.name == name
    assert sorted(names) == list(across_formats())


@pytest.mark.parametrize("case", CASES)
def test_json_is_the_comparison_number_by_number(case):
    text = across_formats()["json"].render(make(case))

    assert json.loads(text) == json.loads(json.dumps(make(case).across.to_dict()))
    assert text.isascii()
    assert "NaN" not in text


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_line_is_wider_than_the_terminal(case, width):
    text = render(make(case), width=width)

    assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize("width", [40, 200])
def test_numbers_are_never_broken(width):
    text = render(make("three"), width=width)

    for mode in make("three").modes:
        for pair in mode.pairs:
            assert pair.ratio in text


def test_the_matrix_says_the_same_from_both_sides():
    [xla] = [mode for mode in make("upgrade").modes if mode.mode == "xla"]

    assert xla.matrix[0][0] == xla.matrix[1][1] == ""
    assert xla.matrix[1][0].startswith("> 1.1")
    assert xla.matrix[0][1].startswith("< 0.9")


def test_what_was_not_measured_is_a_dash_in_the_times_and_in_the_matrix():
    [xla] = [mode for mode in make("three").modes if mode.mode == "xla"]

    assert xla.medians[1] == "–"
    assert (xla.matrix[0][1], xla.matrix[1][0], xla.matrix[1][2]) == ("–", "–", "–")


def test_text_from_outside_is_only_text():
    markdown = across_formats()["markdown"].render(make("hostile"))
    console = across_formats()["console"].render(make("hostile"))
    sheet = across_formats()["csv"].render(make("hostile"))

    assert "<img" not in markdown
    assert "\n# heading" not in markdown
    assert "\x1b" not in console + markdown + sheet
    assert all(len(line.split(" | ")) == 4 for line in markdown.splitlines() if line.startswith("| machine"))


@pytest.mark.parametrize("case", CASES)
def test_a_page_needs_nothing_from_outside_and_holds_no_script(case):
    page = across_formats()["html"].render(make(case))

    assert "<script" not in page
    assert "<img" not in page
    assert re.findall(r"(?:src|href)=[\"'](?!#)", page) == []
    assert page.count("<svg ") == 1
    assert "default-src 'none'" in page


def test_the_picture_says_what_its_table_says_and_is_well_formed():
    drawing = matrix_drawing(make("three"))

    assert drawing.heads == ("mode", "B over A", "C over A", "C over B")
    assert drawing.rows[3][0] == "xla"
    assert (drawing.rows[3][1], drawing.rows[3][3]) == ("–", "–")
    assert ET.fromstring(drawing.svg(prefix="p-")).tag.endswith("svg")
    assert drawing.png(heading="Three").startswith(b"\x89PNG")


def test_a_picture_that_nobody_could_read_is_left_out():
    recordings = [recording(letter, launches=2, rounds=1, calls=1) for letter in "abcdefg"]

    assert matrix_drawing(across_table(recordings, compare_across(recordings))) is None


def test_colour_is_only_for_terminals():
    assert "\x1b[" in render(make("upgrade"), color=True)
    assert "\x1b[" not in render(make("upgrade"))
