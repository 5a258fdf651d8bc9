import shutil

import pytest
from recordings import make_recording, to_text

from mlflow_tfexec.errors import RecordingError, TrackingError
from mlflow_tfexec.statistics.judge import judge
from mlflow_tfexec.tracking.reader import find_recording
from mlflow_tfexec.tracking.writer import log_benchmark

pytestmark = pytest.mark.mlflow


@pytest.fixture
def recording():
    return make_recording({"eager": 10.0, "xla": 5.0})


@pytest.fixture
def logged(recording, mine):
    files = {"recording.jsonl": to_text(recording).encode()}
    return log_benchmark(recording, judge(recording), mine, artifacts=files, note="")


def test_a_benchmark_is_found_by_its_own_and_by_its_modes_run_ids(recording, logged, store):
    for reference in (logged.run_id, *logged.child_run_ids.values()):
        assert find_recording(reference, tracking_uri=store) == recording


def test_without_a_uri_the_environments_is_asked(recording, logged, store, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store)
    assert find_recording(logged.run_id, tracking_uri=None) == recording


@pytest.mark.parametrize("reference", ["0" * 32, "no such run", "'; --"])
def test_an_unknown_run_is_an_error_of_one_line(store, reference):
    with pytest.raises(RecordingError, match="does not exist") as caught:
        find_recording(reference, tracking_uri=store)
    assert repr(reference) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_run_of_something_else_is_no_benchmark(store):
    from mlflow import MlflowClient

    client = MlflowClient(store)
    run = client.create_run(client.get_experiment_by_name("mine").experiment_id)
    with pytest.raises(RecordingError, match="is no benchmark"):
        find_recording(run.info.run_id, tracking_uri=store)


def test_a_recording_that_was_deleted_is_an_error_of_one_line(logged, store, tmp_path):
    shutil.rmtree(tmp_path / "artifacts")
    with pytest.raises(RecordingError, match=r"has no readable tfexec/recording\.jsonl") as caught:
        find_recording(logged.run_id, tracking_uri=store)
    assert "\n" not in str(caught.value)


def test_a_damaged_recording_names_the_run(logged, store, tmp_path):
    (file,) = (tmp_path / "artifacts").rglob("recording.jsonl")
    file.write_text('{"kind":"header"\n')
    with pytest.raises(RecordingError, match=f"run {logged.run_id}.*damaged"):
        find_recording(logged.run_id, tracking_uri=store)


def test_a_store_that_cannot_be_opened_is_a_tracking_error():
    with pytest.raises(TrackingError, match="migrate-filestore"):
        find_recording("0" * 32, tracking_uri="./mlruns")
