import html
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mlflow_tfexec.reports import formats, table
from mlflow_tfexec.text import plain

ROOT = Path(__file__).parents[3]


def test_formats_are_found_by_name():
    assert {name: found.extension for name, found in formats().items()} == {
        "console": ".txt",
        "csv": ".csv",
        "html": ".html",
        "json": ".json",
        "markdown": ".md",
    }


@pytest.mark.parametrize("heavy", ["matplotlib", "jinja2", "rich", "pandas", "tensorflow", "mlflow"])
def test_finding_every_format_does_not_import(heavy):
    program = f"import sys, mlflow_tfexec.reports as r; r.formats(); print({heavy!r} in sys.modules)"

    assert run_fresh(program) == "False\n"


def test_picture_uses_no_global_state_of_pyplot():
    program = (
        "import sys; sys.path.insert(0, 'tests')\n"
        "from recordings import make_recording\n"
        "from mlflow_tfexec.reports import drawings\n"
        "from mlflow_tfexec.statistics.judge import judge\n"
        "recording = make_recording()\n"
        "[drawing.png(heading='') for drawing in drawings(recording, judge(recording))]\n"
        "print('matplotlib' in sys.modules, 'matplotlib.pyplot' in sys.modules)"
    )

    assert run_fresh(program) == "True False\n"


@pytest.mark.parametrize("name", ["console", "html", "json", "markdown"])
def test_every_finding_is_shown(name, case, report, rendered):
    text = readable(rendered(name, case), name)
    findings = [finding for benchmark in report.benchmarks for finding in benchmark.findings]

    missing = [finding.what for finding in findings if squeezed(finding.what) not in text]

    assert missing == []


@pytest.mark.parametrize("name", ["console", "html", "json", "markdown"])
def test_mode_that_failed_or_gives_other_answers_is_never_called_fastest(name, make):
    """In this report both the quickest and the next quickest mode are unfit."""
    text = readable(formats()[name].render(make("troubled")), name)

    claims = [f"fastest{between}{mode}" for between in ("", ":") for mode in ("xla", "graph_nojit")]

    assert [claim for claim in claims if claim in text] == []
    assert any(f"fastest{between}graph" in text for between in ("", ":"))


def test_no_format_fails_on_a_report_of_nothing():
    assert {name: bool(found.render(table([]))) for name, found in formats().items()} == {
        "console": False,
        "csv": True,
        "html": True,
        "json": True,
        "markdown": True,
    }


def run_fresh(program):
    """Run *program* in a fresh interpreter at the root of the repository and return what it printed."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout


def readable(text, name):
    """Undo what a format does to text, as its reader would, and drop all spaces."""
    if name == "json":
        return squeezed(" ".join(map(plain, strings(json.loads(text)))))
    if name == "html":
        text = html.unescape(re.sub(r"<[^>]*>", "", text))
    if name == "markdown":
        text = html.unescape(re.sub(r"\\([^\w\s])", r"\1", text))
    return squeezed(text)


def strings(tree):
    """Give every text of a JSON document, and every key before a text as `key:`."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield f"{key}:"
            yield from strings(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from strings(value)
    elif isinstance(tree, str):
        yield tree


def squeezed(text):
    return "".join(text.split())
