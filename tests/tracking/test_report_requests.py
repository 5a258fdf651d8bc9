"""How often a report asks a tracking server."""

from collections import Counter

import pytest
import requests
from recordings import make_recording, to_text

from mlflow_tfexec.cli import app

pytestmark = pytest.mark.mlflow

TWENTY = 20


@pytest.fixture
def sent(monkeypatch):
    """Give the list of (method, path) of every HTTP request, filled as they are sent."""
    paths = []
    send = requests.Session.send

    def counted(session, request, **kwargs):
        paths.append((request.method, request.path_url.split("?")[0]))
        return send(session, request, **kwargs)

    monkeypatch.setattr(requests.Session, "send", counted)
    return paths


@pytest.fixture
def kept(server, tmp_path):
    """Put a benchmark more than is asked for on the server, with what a report reads of it; give all runs by age."""
    from mlflow import MlflowClient

    client = MlflowClient(server)
    experiment_id = client.create_experiment(tmp_path.name)
    runs = []
    for number in range(TWENTY + 1):
        benchmark_id = f"{number:032x}"
        tags = {"kind": "benchmark", "model": "M", "benchmark_id": benchmark_id, "schema_version": "1", "logged": "1"}
        named = {f"tfexec.{key}": text for key, text in tags.items()}
        run_id = client.create_run(experiment_id, start_time=1000 + number, tags=named).info.run_id
        recording = make_recording({"eager": 2.0, "xla": 1.0}, launches=1, rounds=3, calls=1, benchmark_id=benchmark_id)
        (tmp_path / "recording.jsonl").write_text(to_text(recording), encoding="utf-8")
        client.log_artifact(run_id, str(tmp_path / "recording.jsonl"), "tfexec")
        runs.append(run_id)
    return runs


def counted(sent):
    """Count requests by path, without the one that some releases of MLflow make once in the life of a process."""
    return Counter(path for _, path in sent if not path.endswith("/server-info"))


def test_a_report_of_twenty_asks_once_per_page_and_fetches_each_recording_once(server, kept, sent, capsys, tmp_path):
    sent.clear()

    query = ["--experiment", tmp_path.name, "--limit", str(TWENTY)]
    code = app.run(["report", *query, "--format", "csv", "--tracking-uri", server])

    assert (code, capsys.readouterr().err) == (0, "")
    asked = counted(sent)
    files = {path: number for path, number in asked.items() if path.endswith("/recording.jsonl")}
    assert sorted(files.values()) == [1] * TWENTY
    assert {path.split("/")[-4] for path in files} == set(kept[1:])
    assert {path: number for path, number in asked.items() if path not in files} == {
        "/api/2.0/mlflow/experiments/get-by-name": 1,
        "/api/2.0/mlflow/runs/search": 1,
        # Whether it is a file or a folder, which MLflow asks before it fetches anything.
        "/api/2.0/mlflow-artifacts/artifacts": TWENTY,
    }


def test_a_report_by_run_id_asks_for_the_run_once(server, kept, sent, capsys):
    sent.clear()

    assert app.run(["report", kept[0], "--format", "csv", "--tracking-uri", server]) == 0

    asked = counted(sent)
    assert asked["/api/2.0/mlflow/runs/get"] == 1
    assert sum(asked.values()) == 3
