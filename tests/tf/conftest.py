"""An empty MLflow store, places to run commands in, and TensorFlow in the test's own process."""

import os

import pytest
from real_command import Lab

# Before the first import of MLflow: tests report to nobody.
os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"


@pytest.fixture(scope="session")
def template(tmp_path_factory):
    """Give a database with one empty experiment: making one costs seconds, copying it does not."""
    from mlflow import MlflowClient

    directory = tmp_path_factory.mktemp("template")
    client = MlflowClient(f"sqlite:///{directory / 'mlflow.db'}")
    client.create_experiment("tests", artifact_location=(directory / "artifacts").as_uri())
    # MLflow may keep what it wrote last beside the database until all have closed it.
    client._tracking_client.store._dispose_engine()
    return directory / "mlflow.db"


@pytest.fixture(scope="module")
def make_lab(template, tmp_path_factory):
    """Give a function that makes a lab for as long as the module's tests run."""
    return lambda: Lab.make(tmp_path_factory.mktemp("lab"), template)


@pytest.fixture
def lab(template, tmp_path):
    """Give a lab for one test."""
    return Lab.make(tmp_path, template)


@pytest.fixture(scope="session")
def device_facts():
    """Make the CPU the one device of this process, as a worker does first, and give the facts it reports."""
    from mlflow_tfexec.worker.device import choose_device

    return choose_device("cpu")
