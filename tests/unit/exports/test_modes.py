"""The table of modes with their metrics, as CSV and as Parquet."""

import io
import math

import pytest
from recordings import make_recording

from mlflow_tfexec.exports import formats
from mlflow_tfexec.metrics import measure
from mlflow_tfexec.statistics.judge import judge

RECORDING = make_recording(statuses={"xla": "crashed", "graph_nojit": "outputs_differ"}, model="=1+1")
OTHER = make_recording({"eager": 2.0, "graph": 1.0}, launches=1, benchmark_id="f" * 32)
NOTHING = make_recording({"eager": 2.0}, statuses={"eager": "oom"}, benchmark_id="e" * 32)


def frame(name, *recordings):
    import pandas as pd

    stream = io.BytesIO()
    formats()[name].write_modes(recordings, stream)
    return {"csv": pd.read_csv, "parquet": pd.read_parquet}[name](io.BytesIO(stream.getvalue()))


@pytest.mark.parametrize("name", ["csv", "parquet"])
def test_every_mode_is_a_row_that_says_how_it_ended(name):
    rows = frame(name, RECORDING, OTHER)

    assert list(zip(rows["mode"], rows["status"], strict=True)) == [
        ("eager", "ok"),
        ("graph", "ok"),
        ("graph_nojit", "outputs_differ"),
        ("xla", "crashed"),
        ("graph_control", "ok"),
        ("eager", "ok"),
        ("graph", "ok"),
    ]
    assert list(rows["benchmark_id"].unique()) == ["0123456789abcdef0123456789abcdef", "f" * 32]
    assert rows["reason"][3] == "xla ended as crashed"
    assert rows["created"][0] == "2026-01-31T12:00:00Z"


@pytest.mark.parametrize("name", ["csv", "parquet"])
def test_every_metric_is_a_column_to_the_last_digit(name):
    rows = frame(name, RECORDING)
    judgement = judge(RECORDING)

    for _, row in rows.iterrows():
        known = {key: value for key, value in row.items() if "/" in key and not math.isnan(value)}
        assert known == measure(RECORDING, judgement, row["mode"])


def test_text_that_is_a_formula_is_disarmed_for_spreadsheets_only():
    assert set(frame("csv", RECORDING)["model"]) == {"'=1+1"}
    assert set(frame("parquet", RECORDING)["model"]) == {"=1+1"}


@pytest.mark.parametrize("name", ["csv", "parquet"])
def test_a_benchmark_without_timings_has_its_rows(name):
    rows = frame(name, NOTHING)

    assert list(rows["status"]) == ["oom"]
    assert [column for column in rows.columns if "/" in column] == []


def test_documents_have_no_rows():
    assert {name for name, found in formats().items() if found.write_modes is None} == {"json", "pyperf"}
