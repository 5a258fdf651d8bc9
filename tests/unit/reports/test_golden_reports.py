"""Every format against files that were read by a person. `UPDATE_GOLDEN=1` writes them anew; read them again then."""

import csv
import io
import json
import os
import re
from pathlib import Path

import pytest

from mlflow_tfexec.reports import formats

GOLDEN = Path(__file__).parents[2] / "golden" / "reports"
INLINE_DRAWING = re.compile(r"(<svg [^>]*>).*?</svg>", re.DOTALL)


@pytest.mark.parametrize("name", ["console", "csv", "html", "json", "markdown"])
def test_report_is_the_one_that_was_approved(name, case, rendered):
    chosen = formats()[name]
    # What is inside a picture belongs to the version of matplotlib, not to us.
    text = INLINE_DRAWING.sub(r"\1PICTURE</svg>", rendered(name, case))
    path = GOLDEN / f"{case}{chosen.extension}"
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    approved = path.read_text(encoding="utf-8")
    parse = {"json": json.loads, "csv": read_csv}.get(name)
    if parse is None:
        assert text == approved
    else:
        assert_alike(parse(text), parse(approved))


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


def read_csv(text):
    return [
        {column: number(cell) for column, cell in row.items()} for row in csv.DictReader(io.StringIO(text, newline=""))
    ]


def number(cell):
    return float(cell) if re.fullmatch(r"-?\d+\.\d+(e-?\d+)?", cell) else cell
