import re
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from recordings import make_recording

from mlflow_tfexec.reports import markdown, table
from mlflow_tfexec.statistics.judge import judge

# As lenient as a reader may be: HTML is let through, tables and bare links are recognised.
READER = MarkdownIt("commonmark", {"html": True, "linkify": False}).enable("table")
OUR_TAGS = {"h1", "h2", "h3", "p", "pre", "code", "ul", "li", "strong", "table", "thead", "tbody", "tr", "th", "td"}


def tags(text):
    return set(re.findall(r"<(\w+)", READER.render(text)))


def test_reader_sees_only_our_own_markup(report):
    assert tags(markdown.render(report)) <= OUR_TAGS


def test_reader_would_see_hostile_markup_were_it_not_escaped():
    """The oracle of this file can fail."""
    assert tags("<img src=x> [link](javascript2:alert) `tick`") >= {"img", "a", "code"}


def test_every_row_of_a_table_has_as_many_cells_as_its_head(report):
    for found in re.findall(r"<table>.*?</table>", READER.render(markdown.render(report)), flags=re.DOTALL):
        cells = [len(re.findall(r"<t[hd]", row)) for row in found.split("<tr>")[1:]]

        assert len(set(cells)) == 1


def test_model_name_is_read_as_it_was_written(make):
    rendered = READER.render(markdown.render(make("hostile")))

    heading = "&lt;img src=x onerror=alert(1)&gt; |pipe| `tick` [link](javascript:alert(2)) # heading [2J"
    assert f"<h2>{heading}</h2>" in rendered


def test_reason_with_pipes_stays_in_its_cell(make):
    """A reader drops surplus cells, so that a broken row would look whole and lack the end of the reason."""
    rendered = READER.render(markdown.render(make("hostile")))

    [row] = [row for row in rendered.split("<tr>") if row.startswith("\n<td>xla</td>")]
    reason = "=cmd|' /C calc'!A0 | a | b | &lt;script&gt;alert(3)&lt;/script&gt; **bold** ![i](javascript:alert(4))"
    assert f"<td>crashed: {reason}</td>\n</tr>" in row


SMALL = make_recording({"eager": 2.0, "graph": 1.0}, launches=1, rounds=3, calls=1)
SMALL_JUDGEMENT = judge(SMALL)
OUTSIDE = st.text(st.one_of(st.sampled_from("|`<>[]()!*_#~\\&;:/\n\r\t{}$-=+ .a1"), st.characters()), min_size=1)


@settings(max_examples=60)
@example(name="__0__")
@given(name=OUTSIDE)
def test_no_model_name_makes_markup_or_breaks_a_table(name):
    judgement = replace(SMALL_JUDGEMENT, model=name)
    text = markdown.render(table([(SMALL, judgement)] * 2))

    rendered = READER.render(text)
    assert tags(text) <= OUR_TAGS
    assert rendered.count("<tr>") == 3 + 2 * (3 + 2)


@pytest.mark.parametrize("where", ["http://host:5000/#/experiments/0/runs/a_b_c", "https://example.org/a%20b?c=d"])
def test_web_address_is_left_whole_for_the_reader_to_link(where):
    recording = make_recording({"eager": 2.0, "graph": 1.0}, launches=1)
    text = markdown.render(
        table([(recording, judge(recording))], where={recording.header.benchmark_id: [("run", where)]})
    )

    assert f"- run: {where}\n" in text


def test_failed_mode_shows_its_status_and_reason_and_no_number(make):
    [row] = [row for row in rows(markdown.render(make("troubled"))) if row[0] == "xla"]

    assert row == ["xla", "–", "–", "–", "–", "–", "–", "crashed: xla ended as crashed"]


def test_undecided_pair_says_how_many_launches_would_decide(make):
    wanted = ["eager ? graph", "1.12× [0.80, 1.57]", "undecided; about 8 launches would decide it"]

    assert wanted in rows(markdown.render(make("undecided")))


def test_figure_stays_with_its_unit_and_off_the_next_column(report):
    """A narrow page may break a line at an ordinary space only, and may give a cell no room around it."""
    cells = [cell for row in raw_rows(markdown.render(report)) for cell in row if re.match(r"[\d.]+[× \u00a0]", cell)]

    assert [cell for cell in cells if " " in cell or not cell.endswith("\u00a0")] == []


def test_first_lines_are_the_ordering_and_what_is_fastest(make):
    """MLflow shows so many lines of a description and folds the rest away."""
    lines = [line for line in markdown.render(make("normal")).splitlines() if line]

    assert lines[1:3] == ["**eager &gt; graph = graph_nojit &gt; xla**", "- fastest: xla"]


def raw_rows(text):
    return [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]


def rows(text):
    return [[cell.replace("\u00a0", " ").strip() for cell in row] for row in raw_rows(text)]
