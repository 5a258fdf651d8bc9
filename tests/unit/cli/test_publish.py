"""What of a benchmark goes to MLflow."""

import struct
from types import SimpleNamespace

import pytest
from recordings import make_recording, write_recording

from mlflow_tfexec.benchmarking.publish import publish
from mlflow_tfexec.statistics.judge import judge


@pytest.fixture
def artifacts(tmp_path, monkeypatch):
    """Publish a recording and return its artifacts."""

    def run(recording):
        taken = {}

        def log_benchmark(_recording, _judgement, _destination, *, artifacts, note):
            taken.update(artifacts, note=note)
            return SimpleNamespace(tracking_uri="sqlite:///mlflow.db", run_id="ab12")

        monkeypatch.setattr("mlflow_tfexec.benchmarking.publish.log_benchmark", log_benchmark)
        spooled = SimpleNamespace(recording_path=write_recording(recording, tmp_path), mark_logged=lambda _: None)
        publish(spooled, recording, judge(recording), None)
        return taken

    return run


def test_a_benchmark_has_its_recording_its_reports_and_its_pictures(artifacts):
    taken = artifacts(make_recording({"eager": 2.0, "graph": 1.0}, launches=1))

    assert set(taken) == {
        "recording.jsonl",
        "environment.json",
        "report.md",
        "report.html",
        "latency.png",
        "speedup.png",
        "order.png",
        "cost.png",
        "note",
    }
    for name in ("latency.png", "speedup.png", "order.png", "cost.png"):
        assert struct.unpack(">II", taken[name][16:24])[0] == 1200


def test_a_benchmark_without_timings_has_no_pictures(artifacts):
    taken = artifacts(make_recording({"eager": 2.0, "graph": 1.0}, statuses={"eager": "oom", "graph": "oom"}))

    assert [name for name in taken if name.endswith(".png")] == []
