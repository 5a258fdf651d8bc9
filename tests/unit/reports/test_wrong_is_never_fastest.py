"""A mode whose outputs are wrong is by far the quickest, and no format calls it fastest."""

import csv
import dataclasses
import io
import json
import re

import pytest
from jsonschema import Draft202012Validator
from recordings import make_recording

from mlflow_tfexec.records.answers import OutputDifference, OutputFigures
from mlflow_tfexec.records.recording import ModeLine
from mlflow_tfexec.reports import formats, table
from mlflow_tfexec.reports import json as json_report
from mlflow_tfexec.statistics.judge import judge

PLANTED = OutputDifference(
    max_abs_error=1e-2,
    max_rel_error=1e-2,
    within_tolerance=False,
    rtol=1e-3,
    atol=1e-4,
    outputs=(
        OutputFigures(
            place=1,
            name="<b>size</b>",
            within_tolerance=False,
            max_abs_error=1e-2,
            max_rel_error=1e-2,
            cosine=0.9999,
            nan_count=1,
            baseline_nan_count=0,
            inf_count=0,
            baseline_inf_count=0,
            argmax_agreement=0.5,
            float64_error=1e-2,
        ),
        OutputFigures(place=0, name="scores", within_tolerance=True, max_abs_error=0.0, max_rel_error=0.0),
    ),
)


@pytest.fixture(scope="module")
def planted():
    recording = make_recording(
        {"eager": 20.0, "graph": 10.0, "xla": 1.0}, statuses={"xla": "outputs_differ"}, launches=5, round_noise=0.001
    )
    lines = tuple(
        line.model_copy(update={"output": PLANTED}) if isinstance(line, ModeLine) and line.mode == "xla" else line
        for line in recording.lines
    )
    recording = dataclasses.replace(recording, lines=lines)
    return table([(recording, judge(recording))])


def written(name, planted):
    return formats()[name].render(planted)


@pytest.mark.parametrize("name", sorted(formats()))
def test_it_is_in_no_ordering_and_marked_in_every_format(planted, name):
    text = written(name, planted)

    assert "outputs_differ" in text or "≠" in text
    orderings = re.findall(r"eager (?:>|&gt;|\\>) [^\n<\"]*", text)
    assert [ordering for ordering in orderings if "xla" in ordering] == []


def test_console_and_markdown_and_html_name_the_other_as_fastest(planted):
    assert re.search(r"^fastest: graph$", written("console", planted), re.MULTILINE)
    assert "- fastest: graph\n" in written("markdown", planted)
    assert "<dt>fastest</dt><dd>graph</dd>" in written("html", planted)


def test_the_row_that_html_marks_as_fastest_is_another(planted):
    (row,) = re.findall(r'<tr class="fastest">\s*<th scope="row">(\w+)', written("html", planted))
    assert row == "graph"


def test_json_says_so_number_by_number_and_keeps_to_its_schema(planted):
    document = json.loads(written("json", planted))

    Draft202012Validator(json_report.schema()).validate(document)
    (benchmark,) = document["benchmarks"]
    assert benchmark["fastest"] == "graph"
    assert benchmark["best_set"] == ["graph"]
    assert {side for one in benchmark["comparisons"] for side in (one["a"], one["b"])} == {"eager", "graph"}
    (xla,) = [mode for mode in benchmark["modes"] if mode["mode"] == "xla"]
    assert (xla["outputs"][0]["name"], xla["outputs"][0]["argmax_agreement"]) == ("<b>size</b>", 0.5)


def test_csv_says_the_status_beside_the_times(planted):
    (xla,) = [row for row in csv.DictReader(io.StringIO(written("csv", planted))) if row["mode"] == "xla"]
    assert xla["status"] == "outputs_differ"


def test_html_shows_output_by_output_how_far_off_it_is(planted):
    text = written("html", planted)

    assert "Outputs of xla against those of eager" in text
    assert "&lt;b&gt;size&lt;/b&gt; ≠" in text
    assert "<td>50.0%</td>" in text
    assert "1 (baseline 0)" in text
    assert "Outputs of graph" not in text
