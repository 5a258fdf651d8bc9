"""`runs` and `report` on a store with all that a shared one may hold: each shown for what it is, never a traceback."""

import json
import shutil
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from recordings import make_recording, to_text

from mlflow_tfexec.cli import app
from mlflow_tfexec.statistics.judge import judge
from mlflow_tfexec.tracking.writer import log_benchmark

pytestmark = pytest.mark.mlflow

NAMES = ("complete", "partial", "deleted", "later", "damaged")


@pytest.fixture
def shared(store, mine):
    """Fill a store with one benchmark of each kind and with runs of others; give the runs by kind."""
    from mlflow import MlflowClient

    client = MlflowClient(store)
    runs = {}
    for number, name in enumerate(NAMES):
        recording = make_recording(
            {"eager": 10.0, "xla": 5.0},
            model=f"a {name} <b>'model'</b>",
            benchmark_id=f"{number:032x}",
            **({"end": None} if name == "partial" else {}),
        )
        artifacts = {"recording.jsonl": to_text(recording).encode()}
        runs[name] = log_benchmark(recording, judge(recording), mine, artifacts=artifacts, note="").run_id
    shutil.rmtree(artifact(client, runs["deleted"]).parent)
    damaged = artifact(client, runs["damaged"])
    damaged.write_text(damaged.read_text(encoding="utf-8").splitlines()[0][:-20], encoding="utf-8")
    later = artifact(client, runs["later"])
    later.write_text(later.read_text(encoding="utf-8").replace('"version":1', '"version":99', 1), encoding="utf-8")
    client.set_tag(runs["later"], "tfexec.schema_version", "99")
    experiment_id = client.get_experiment_by_name("mine").experiment_id
    client.create_run(experiment_id, tags={"tfexec.kind": "sweep"})
    client.create_run(experiment_id, run_name="of another tool")
    return runs


def artifact(client, run_id):
    return Path(urlsplit(client.get_run(run_id).info.artifact_uri).path, "tfexec", "recording.jsonl")


@pytest.fixture
def command(store, capsys):
    def run(*arguments):
        code = app.run([*arguments, "--tracking-uri", store])
        return (code, *capsys.readouterr())

    return run


def test_runs_lists_every_benchmark_and_nothing_else(shared, command):
    code, out, err = command("runs", "--format", "json")

    assert (code, err) == (0, "")
    listed = {one["run_id"]: one for one in json.loads(out)["benchmarks"]}
    assert set(listed) == set(shared.values())
    assert listed[shared["partial"]]["status"] == "partial"
    assert listed[shared["later"]]["note"] == "schema 99, not 1"
    assert listed[shared["complete"]]["note"] is None


def test_report_shows_what_can_be_read_and_says_what_cannot(shared, command):
    code, out, err = command("report", "--experiment", "mine", "--format", "json")

    assert code == 0
    shown = {one["model"]: one for one in json.loads(out)["benchmarks"]}
    assert set(shown) == {f"a {name} <b>'model'</b>" for name in ("complete", "partial")}
    lines = err.splitlines()
    assert len(lines) == 3
    for name in ("deleted", "damaged", "later"):
        [line] = [line for line in lines if shared[name] in line]
        assert line.endswith("Left out.")


def test_a_query_in_report_gives_the_benchmark_that_was_meant(shared, command):
    code, out, err = command("report", "--model", "a complete <b>'model'</b>", "--mode", "xla", "--format", "json")

    assert (code, err) == (0, "")
    assert [one["benchmark_id"] for one in json.loads(out)["benchmarks"]] == [f"{0:032x}"]


def test_only_what_is_shown_is_downloaded(shared, command, monkeypatch):
    import mlflow.artifacts

    fetched = []
    plain = mlflow.artifacts.download_artifacts
    monkeypatch.setattr(
        "mlflow.artifacts.download_artifacts",
        lambda **named: fetched.append(named["artifact_uri"]) or plain(**named),
    )

    assert command("report", "--filter", "tags.`tfexec.status` = 'partial'")[0] == 0
    [uri] = fetched
    assert f"/{shared['partial']}/artifacts/tfexec/recording.jsonl" in uri


def test_a_benchmark_without_its_recording_alone_is_a_wrong_request_of_two_lines(shared, command):
    code, out, err = command("report", "--model", "a deleted <b>'model'</b>")

    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 2
    assert "Traceback" not in err
