"""Stores and a server for the tracking tests, and one made-up benchmark."""

import os
import shutil
import uuid
from pathlib import Path

import postgresql_server
import pytest
from mlflow_server import serving

from mlflow_tfexec.tracking.destination import Destination

ENVIRONMENT = {
    "tensorflow": {
        "version": "2.21.0",
        "keras_version": "3.12.0",
        "cuda_version": "12.5.1",
        "cudnn_version": "9",
        "device": "GPU:0",
    },
    "gpus": [{"name": "NVIDIA T4", "uuid": "GPU-1234", "compute_capability": "7.5", "memory_mb": 15360}],
    "gpu_driver": {"version": "550.54"},
    "cpu": {"name": "Xeon"},
    "fingerprint": "f" * 64,
}


@pytest.fixture(autouse=True)
def _own_place(monkeypatch, tmp_path):
    """Keep the caller's MLflow settings out, and whatever MLflow writes in."""
    for name in list(os.environ):
        if name.startswith("MLFLOW_") and name != "MLFLOW_DISABLE_TELEMETRY":
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def template(tmp_path_factory):
    """Give a database with MLflow's tables and nothing in it: making one costs seconds, copying it does not."""
    from mlflow import MlflowClient

    path = tmp_path_factory.mktemp("template") / "mlflow.db"
    client = MlflowClient(f"sqlite:///{path}")
    # The default experiment would keep its artifacts wherever the template was made.
    client.delete_experiment("0")
    return path


@pytest.fixture
def store(sqlite_store):
    """Give the tracking URI of a store with one experiment, `mine`."""
    return sqlite_store


@pytest.fixture(params=["sqlite_store", "postgresql_store"], ids=["sqlite", "postgresql"])
def each_store(request):
    """Give a store of each kind, for claims that rest on what a database makes of them."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def sqlite_store(template, tmp_path):
    """Give a store in a file."""
    path = tmp_path / "store.db"
    shutil.copy(template, path)
    return _with_experiment(f"sqlite:///{path}", tmp_path)


@pytest.fixture
def postgresql_store(postgresql, tmp_path):
    """Give a store in a database of a PostgreSQL server."""
    name = uuid.uuid4().hex
    yield _with_experiment(postgresql.create(name, template="template"), tmp_path)
    postgresql.drop(name)


@pytest.fixture(scope="session")
def postgresql():
    """Give a PostgreSQL server whose database `template` has MLflow's tables and nothing in it."""
    from mlflow import MlflowClient

    absent = postgresql_server.missing()
    if absent is not None:
        # Where everything is to be checked, nothing is left out silently.
        (pytest.fail if os.environ.get("CI") else pytest.skip)(absent)
    with postgresql_server.running() as server:
        MlflowClient(server.create("template")).delete_experiment("0")
        server.disconnect("template")
        yield server


def _with_experiment(uri: str, directory: Path) -> str:
    from mlflow import MlflowClient

    MlflowClient(uri).create_experiment("mine", artifact_location=(directory / "artifacts").as_uri())
    return uri


@pytest.fixture
def mine(store):
    """Give the experiment `mine` of the store as a destination."""
    return Destination(tracking_uri=store, access_uri=store, experiment_name="mine")


@pytest.fixture
def environment():
    return ENVIRONMENT


@pytest.fixture(scope="session")
def server(template, tmp_path_factory):
    """Give the URI of a real tracking server with a database of its own."""
    directory = tmp_path_factory.mktemp("server")
    shutil.copy(template, directory / "server.db")
    with serving(directory, directory / "server.db") as uri:
        yield uri


@pytest.fixture
def snapshot(tmp_path):
    """Give a function that reads everything of a benchmark back, with nothing in it that differs between two stores."""
    return _snapshot


def _snapshot(uri: str, experiment_id: str, benchmark_id: str) -> dict:
    from mlflow import MlflowClient

    client = MlflowClient(uri)
    found = client.search_runs([experiment_id], f"tags.`tfexec.benchmark_id` = '{benchmark_id}'")
    parents = {run.info.run_id for run in found if run.data.tags["tfexec.kind"] == "benchmark"}
    assert len(parents) == 1
    names = [run.info.run_name for run in found]
    assert len(names) == len(set(names))
    return {run.info.run_name: _run_content(client, run, parents) for run in found}


def _run_content(client, run, parents: set[str]) -> dict:
    tags = {key: value for key, value in run.data.tags.items() if key != "tfexec.benchmark_id"}
    if "mlflow.parentRunId" in tags:
        assert tags.pop("mlflow.parentRunId") in parents
    history = client.get_metric_history(run.info.run_id, "samples/latency_ms")
    files = client.list_artifacts(run.info.run_id, "tfexec")
    return {
        "status": run.info.status,
        "times": (run.info.start_time, run.info.end_time),
        "tags": tags,
        "params": run.data.params,
        "metrics": run.data.metrics,
        "samples": sorted((point.step, point.value, point.timestamp) for point in history),
        "artifacts": sorted((file.path, file.file_size) for file in files),
    }
