"""The page on the recording format names all that the code reads and writes, and nothing else."""

import re
from pathlib import Path

import pytest

from mlflow_tfexec.records.codec import _KINDS as KINDS
from mlflow_tfexec.records.codec import FORMAT, FORMAT_VERSION
from mlflow_tfexec.records.recording import STOP_REASONS, Header
from mlflow_tfexec.records.spec import Spec

PAGE = (Path(__file__).parents[3] / "docs" / "recording-format.md").read_text(encoding="utf-8")
ROWS = {row.split("`")[1]: row for row in PAGE.splitlines() if row.startswith("| `")}
TYPES = {"header": Header, **KINDS}

# Read and kept, and written by no version so far.
NEVER_WRITTEN = {("mode", "weights_sha256")}


def named(text):
    return set(re.findall(r"`(\w+)`", text))


def paragraph(start):
    (found,) = (part for part in PAGE.split("\n\n") if part.startswith(start))
    return found


def test_the_page_is_on_the_present_format():
    assert PAGE.startswith(f"# The recording, format {FORMAT_VERSION}\n")
    assert f"`{FORMAT}`" in ROWS["header"]


def test_the_page_has_a_row_for_every_kind_of_line_and_no_other():
    assert set(ROWS) == set(TYPES)


@pytest.mark.parametrize("kind", TYPES)
def test_a_row_names_every_field_of_its_kind(kind):
    fields = {field for field in TYPES[kind].model_fields if (kind, field) not in NEVER_WRITTEN}

    assert fields - {"kind"} <= named(ROWS[kind])


def test_the_page_names_every_field_of_the_spec():
    assert set(Spec.model_fields) | {"spec"} == named(paragraph("`spec` in the header")) - {"look"}


def test_the_page_explains_every_reason_to_stop():
    assert set(STOP_REASONS) <= named(paragraph("`stop` of a look"))
