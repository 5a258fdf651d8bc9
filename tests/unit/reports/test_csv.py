import csv
import io
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recordings import make_recording
from report_cases import CASES

from mlflow_tfexec.metrics import measure
from mlflow_tfexec.reports import csv as csv_report
from mlflow_tfexec.reports import table
from mlflow_tfexec.statistics.judge import judge

SMALL = make_recording({"eager": 2.0, "graph": 1.0}, launches=1, rounds=3, calls=1)
SMALL_JUDGEMENT = judge(SMALL)


def test_data_frame_reads_back_every_metric(case, report):
    import pandas as pd

    frame = pd.read_csv(io.StringIO(csv_report.render(report)))
    recordings = [build() for build in CASES[case]]
    pairs = zip(recordings, report.benchmarks, strict=True)
    expected = [measure(recording, b.judgement, row.mode) for recording, b in pairs for row in b.rows]

    metrics = [column for column in frame.columns if "/" in column]
    rows = (frame[metrics].iloc[number] for number in range(len(frame)))
    actual = [{key: value for key, value in row.items() if not pd.isna(value)} for row in rows]
    assert [row.keys() for row in actual] == [row.keys() for row in expected]
    assert all(row == pytest.approx(wanted, rel=1e-14) for row, wanted in zip(actual, expected, strict=True))


def test_one_row_per_benchmark_and_mode(make):
    rows = list(csv.DictReader(io.StringIO(csv_report.render(make("several")))))

    assert [row["mode"] for row in rows] == [
        "eager", "graph", "graph_nojit", "xla", "graph_control",
        "eager", "graph", "graph_nojit", "xla", "graph_control", "keras_predict",
    ]  # fmt: skip


def test_row_says_what_was_measured_where(make):
    [*_, xla, _] = csv.DictReader(io.StringIO(csv_report.render(make("normal"))))

    identity = {key: value for key, value in xla.items() if "/" not in key}
    assert identity == {
        "benchmark_id": "0123456789abcdef0123456789abcdef",
        "created": "2026-01-31T12:00:00Z",
        "model": "EfficientNetV2S",
        "task": "inference",
        "mode": "xla",
        "status": "ok",
        "reason": "",
        "scope": "launches",
        "inputs": "(1, 384, 384, 3) float32",
        "batch_size": "1",
        "dtype": "float32",
        "preset": "standard",
        "seed": "0",
        "device": "GPU:0",
        "gpu": "Example GPU 80GB",
        "gpu_driver": "550.54.15",
        "cpu": "Example CPU 9000",
        "tf_version": "2.19.0",
        "keras_version": "3.9.2",
        "cuda_version": "12.5.1",
        "cudnn_version": "9",
    }


def test_hostile_reason_and_processor_are_no_formulas(make):
    rows = list(csv.DictReader(io.StringIO(csv_report.render(make("hostile")))))

    [reason] = {row["reason"] for row in rows if row["mode"] == "xla"}
    assert reason.startswith("'=cmd|")
    assert {row["cpu"] for row in rows} == {"'=1+1 <b>|</b>"}


def test_negative_number_gets_no_apostrophe():
    header = SMALL.header.model_copy(update={"spec": SMALL.spec.model_copy(update={"seed": -1})})

    rows = csv.DictReader(io.StringIO(csv_report.render(table([(replace(SMALL, header=header), SMALL_JUDGEMENT)]))))
    assert {row["seed"] for row in rows} == {"-1"}


@settings(max_examples=60)
@given(name=st.text(min_size=1) | st.text("=+-@\t\r\n \x00＝＋－＠\u200b", min_size=1))  # noqa: RUF001 - full-width forms count as well
def test_no_model_name_begins_a_formula_or_a_row(name):
    header = SMALL.header.model_copy(update={"spec": SMALL.spec.model_copy(update={"model": name})})
    recording = replace(SMALL, header=header)

    rows = list(csv.DictReader(io.StringIO(csv_report.render(table([(recording, SMALL_JUDGEMENT)])))))
    assert len(rows) == 2
    assert all(not row["model"].startswith(tuple("=+-@＝＋－＠\t\r")) for row in rows)  # noqa: RUF001 - the same
