"""What a benchmark from Python returns: printed, shown in a notebook, as data."""

import html
import json
import re
from pathlib import Path

import pytest
from recordings import make_recording

from mlflow_tfexec import Benchmark, judge
from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.reports import formats


def result(*, model="live:/net", **fields):
    recording = make_recording({"eager": 20.0, "graph": 5.0}, launches=3, rounds=5)
    header = recording.header.model_copy(update={"spec": recording.spec.model_copy(update={"model": model})})
    recording = type(recording)(header, recording.lines)
    return Benchmark(recording, judge(recording), Path("/spool/ab12/recording.jsonl"), **fields)


def test_printed_it_is_the_console_report():
    text = str(result(where=(("Recording", "/spool/ab12/recording.jsonl"),)))

    assert text.startswith("live:/net\n")
    assert "eager > graph" in text
    assert text.endswith("Recording: /spool/ab12/recording.jsonl")


def test_its_short_form_is_one_line_with_the_ordering():
    assert repr(result(run_id="r1")) == "<Benchmark live:/net: eager > graph; run r1>"


@pytest.mark.parametrize("name", sorted(formats()))
def test_it_gives_every_report(name):
    assert "net" in result().report(name)


def test_a_report_of_no_known_format_is_refused():
    with pytest.raises(RequestError, match="No format named 'pdf'"):
        result().report("pdf")


def test_its_dictionary_is_the_json_report_of_one_benchmark():
    one = result()

    [expected] = json.loads(one.report("json"))["benchmarks"]
    assert one.to_dict() == expected
    assert one.to_dict()["ordering"] == "eager > graph"


def test_in_a_notebook_it_is_the_html_report_in_a_frame_without_scripts():
    one = result()
    shown = one._repr_html_()
    [page] = re.findall(r'srcdoc="([^"]*)"', shown)

    assert html.unescape(page) == one.report("html")
    assert 'sandbox=""' in shown
    assert shown.count("<") == 2


def test_a_name_from_outside_does_not_break_out_of_the_frame():
    shown = result(model='live:/"><script>alert(1)</script>')._repr_html_()

    assert "<script" not in shown
    assert shown.count("<") == 2


def test_what_is_not_in_mlflow_names_the_command_that_brings_it_there():
    assert result().sync_command == "mlflow-tfexec sync /spool/ab12"
    assert result(run_id="r1").sync_command is None
