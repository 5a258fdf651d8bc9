from pathlib import Path

import pytest
from recordings import make_recording, to_text

from mlflow_tfexec.errors import LoggingFailed
from mlflow_tfexec.records.recording import End, Recording
from mlflow_tfexec.statistics.judge import judge
from mlflow_tfexec.tracking import keys
from mlflow_tfexec.tracking.destination import Destination
from mlflow_tfexec.tracking.writer import log_benchmark

pytestmark = pytest.mark.mlflow

MODES = ("eager", "graph", "graph_nojit", "xla", "graph_control")


def write(recording, destination, note="**xla** is fastest", artifacts=None):
    files = {"recording.jsonl": to_text(recording).encode(), "report.md": b"# report\n"}
    return log_benchmark(recording, judge(recording), destination, artifacts=artifacts or files, note=note)


def client(uri):
    from mlflow import MlflowClient

    return MlflowClient(uri)


def all_runs(uri):
    asked = client(uri)
    return asked.search_runs([one.experiment_id for one in asked.search_experiments()])


def test_one_parent_and_one_child_per_mode(mine, environment):
    recording = make_recording(environment=environment)
    logged = write(recording, mine)
    runs = {run.info.run_id: run for run in all_runs(mine.tracking_uri)}
    assert set(runs) == {logged.run_id, *logged.child_run_ids.values()}
    assert tuple(logged.child_run_ids) == MODES
    assert runs[logged.run_id].info.run_name == "tfexec EfficientNetV2S"
    for mode, run_id in logged.child_run_ids.items():
        assert runs[run_id].info.run_name == mode
        assert runs[run_id].data.tags["mlflow.parentRunId"] == logged.run_id
        assert runs[run_id].data.tags["tfexec.gpu.name"] == "NVIDIA T4"
        assert runs[run_id].info.experiment_id == logged.experiment_id
    assert logged.url is None


def test_parent_carries_verdict_note_speedups_and_the_marker_and_no_params(mine, environment):
    recording = make_recording(environment=environment)
    logged = write(recording, mine)
    run = client(mine.tracking_uri).get_run(logged.run_id)
    assert run.data.tags["tfexec.ordering"] == judge(recording).ordering
    assert run.data.tags["tfexec.fastest"] == "xla"
    assert run.data.tags["mlflow.note.content"] == "**xla** is fastest"
    assert run.data.tags["tfexec.logged"] == "1"
    assert run.data.tags["mlflow.source.type"] == "LOCAL"
    assert set(run.data.metrics) == {f"speedup/{mode}_vs_eager" for mode in MODES[1:]}
    assert run.data.params == {}
    assert (run.info.status, run.info.start_time, run.info.end_time) == ("FINISHED", 1769860800000, 1769861100000)


def test_child_carries_params_summary_series_and_who_ran_it(mine):
    recording = make_recording()
    logged = write(recording, mine)
    asked = client(mine.tracking_uri)
    run = asked.get_run(logged.child_run_ids["xla"])
    assert run.data.params["input_shape"] == "384,384,3"
    summary = set(run.data.metrics) - {keys.SAMPLES}
    assert summary <= set(keys.MODE_METRICS)
    assert {"latency_ms/median", "throughput/items_per_s", "speedup/vs_eager", "memory/peak_mb"} <= summary
    history = asked.get_metric_history(run.info.run_id, keys.SAMPLES)
    assert [point.step for point in history] == list(range(150))
    parent = asked.get_run(logged.run_id)
    for tag in ("mlflow.user", "mlflow.source.name", "mlflow.source.type"):
        assert run.data.tags[tag] == parent.data.tags[tag]
    assert (run.info.start_time, run.info.end_time) == (1769860800000, 1769860970000)


def test_equal_samples_are_all_kept(mine):
    made = make_recording({"eager": 10.0, "graph": 5.0})
    lines = tuple(
        line.model_copy(update={"calls_ns": (5_000_000,) * 5}) if getattr(line, "calls_ns", None) else line
        for line in made.lines
    )
    logged = write(Recording(header=made.header, lines=lines), mine)
    history = client(mine.tracking_uri).get_metric_history(logged.child_run_ids["graph"], keys.SAMPLES)
    assert [point.value for point in history] == [5.0] * 150


def test_artifacts_are_kept_under_tfexec(mine):
    logged = write(make_recording(), mine, artifacts={"report.md": "µs".encode(), "graphs/xla.txt": b"HLO"})
    asked = client(mine.tracking_uri)
    assert sorted(file.path for file in asked.list_artifacts(logged.run_id, "tfexec")) == [
        "tfexec/graphs",
        "tfexec/report.md",
    ]
    assert Path(asked.download_artifacts(logged.run_id, "tfexec/report.md")).read_bytes() == "µs".encode()


def test_a_failed_mode_is_failed_with_status_and_reason(mine):
    logged = write(make_recording(statuses={"xla": "oom", "graph": "outputs_differ"}), mine)
    asked = client(mine.tracking_uri)
    failed = asked.get_run(logged.child_run_ids["xla"])
    assert failed.info.status == "FAILED"
    assert failed.data.tags["tfexec.status"] == "oom"
    assert failed.data.tags["tfexec.reason"] == "xla ended as oom"
    assert keys.SAMPLES not in failed.data.metrics
    differs = asked.get_run(logged.child_run_ids["graph"])
    assert (differs.info.status, differs.data.tags["tfexec.status"]) == ("FINISHED", "outputs_differ")
    assert asked.get_run(logged.run_id).info.status == "FINISHED"


def test_an_interrupted_benchmark_leaves_nothing_running(mine):
    made = make_recording({"eager": 10.0}, end=End(status="interrupted", ended="2026-01-31T12:03:00Z"))
    spec = made.spec.model_copy(update={"modes": ("eager", "xla")})
    recording = Recording(header=made.header.model_copy(update={"spec": spec}), lines=made.lines)
    write(recording, mine)
    statuses = {run.info.run_name: run.info.status for run in all_runs(mine.tracking_uri)}
    assert statuses == {"tfexec EfficientNetV2S": "KILLED", "eager": "FINISHED", "xla": "KILLED"}


def test_no_tag_or_param_is_empty(mine):
    write(make_recording({"eager": 10.0}, environment={"tensorflow": {"version": ""}}), mine, note="")
    for run in all_runs(mine.tracking_uri):
        assert all(value.strip() for value in (*run.data.tags.values(), *run.data.params.values()))


def test_written_twice_is_written_once(mine, snapshot):
    recording = make_recording()
    first = write(recording, mine)
    before = snapshot(mine.tracking_uri, first.experiment_id, recording.header.benchmark_id)
    assert write(recording, mine) == first
    assert snapshot(mine.tracking_uri, first.experiment_id, recording.header.benchmark_id) == before


def test_another_benchmark_of_the_same_model_is_another_parent(mine):
    first = write(make_recording(), mine)
    second = write(make_recording(benchmark_id="b" * 32), mine)
    assert first.run_id != second.run_id
    assert len(all_runs(mine.tracking_uri)) == 12


def test_the_experiment_is_created_when_there_is_something_to_write(store):
    destination = Destination(tracking_uri=store, experiment_name="new")
    logged = write(make_recording({"eager": 10.0, "xla": 5.0}), destination)
    assert client(store).get_experiment(logged.experiment_id).name == "new"


def test_a_projects_run_is_resumed_and_never_a_second_parent(store, monkeypatch):
    asked = client(store)
    experiment = asked.get_experiment_by_name("mine").experiment_id
    other = asked.create_experiment("other")
    project = asked.create_run(experiment, run_name="polite-fox-1", tags={"mlflow.source.type": "PROJECT"})
    asked.log_param(project.info.run_id, "model", "'EfficientNetV2S'")
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "other")
    destination = Destination(tracking_uri=store, run_id=project.info.run_id)
    for _ in range(2):
        logged = write(make_recording(), destination)
    runs = all_runs(store)
    assert logged.run_id == project.info.run_id
    assert len(runs) == 6
    assert {run.info.experiment_id for run in runs} == {experiment} != {other}
    parent = asked.get_run(project.info.run_id)
    assert parent.info.run_name == "polite-fox-1"
    assert parent.data.params == {"model": "'EfficientNetV2S'"}
    assert parent.data.tags["tfexec.kind"] == "benchmark"
    assert parent.data.tags["mlflow.note.content"] == "**xla** is fastest"
    assert {run.data.tags["mlflow.source.type"] for run in runs} == {"PROJECT"}


def test_a_description_that_was_there_is_kept(store):
    asked = client(store)
    experiment = asked.get_experiment_by_name("mine").experiment_id
    project = asked.create_run(experiment, tags={"mlflow.note.content": "mine, hands off"})
    write(make_recording(), Destination(tracking_uri=store, run_id=project.info.run_id))
    assert asked.get_run(project.info.run_id).data.tags["mlflow.note.content"] == "mine, hands off"


def test_a_run_that_holds_another_benchmark_is_left_alone(mine):
    logged = write(make_recording(), mine)
    destination = Destination(tracking_uri=mine.tracking_uri, run_id=logged.run_id)
    with pytest.raises(LoggingFailed, match="already holds benchmark 0123456789abcdef"):
        write(make_recording(benchmark_id="b" * 32), destination)
    assert len(all_runs(mine.tracking_uri)) == 6


def test_a_deleted_run_is_an_error_of_one_line(store):
    asked = client(store)
    run_id = asked.create_run(asked.get_experiment_by_name("mine").experiment_id).info.run_id
    asked.delete_run(run_id)
    with pytest.raises(LoggingFailed, match="is deleted") as caught:
        write(make_recording(), Destination(tracking_uri=store, run_id=run_id))
    assert "\n" not in str(caught.value)


def test_a_benchmark_id_that_would_change_the_query_is_refused(mine):
    with pytest.raises(LoggingFailed, match="damaged"):
        write(make_recording(benchmark_id="' OR '1"), mine)


def test_system_metrics_are_not_sampled(mine, monkeypatch):
    import threading

    monkeypatch.setenv("MLFLOW_ENABLE_SYSTEM_METRICS_LOGGING", "true")
    started = []
    monkeypatch.setattr(threading.Thread, "start", lambda thread: started.append(thread.name))
    write(make_recording({"eager": 10.0, "xla": 5.0}), mine)
    assert started == []
    assert not [key for run in all_runs(mine.tracking_uri) for key in run.data.metrics if key.startswith("system/")]


def test_an_active_run_of_the_caller_is_left_alone(mine):
    import mlflow

    mlflow.set_tracking_uri(mine.tracking_uri)
    experiment = client(mine.tracking_uri).get_experiment_by_name("mine").experiment_id
    try:
        with mlflow.start_run(experiment_id=experiment, run_name="callers") as active:
            logged = write(make_recording({"eager": 10.0, "xla": 5.0}), mine)
            assert mlflow.active_run().info.run_id == active.info.run_id
    finally:
        mlflow.set_tracking_uri(None)
    run = client(mine.tracking_uri).get_run(active.info.run_id)
    assert run.data.metrics == {}
    assert "mlflow.parentRunId" not in client(mine.tracking_uri).get_run(logged.run_id).data.tags


def test_every_name_passes_mlflows_own_checks_and_holds_no_colon(mine, environment):
    from mlflow.utils.validation import _validate_metric_name, _validate_param_name, _validate_tag_name

    write(make_recording(environment=environment, statuses={"graph": "oom"}), mine)
    for run in all_runs(mine.tracking_uri):
        for name in run.data.metrics:
            _validate_metric_name(name)
        for name in run.data.params:
            _validate_param_name(name)
        for name in run.data.tags:
            _validate_tag_name(name)
        assert ":" not in "".join((*run.data.metrics, *run.data.params, *run.data.tags))


def test_credentials_in_source_tags_are_stripped(mine, monkeypatch):
    monkeypatch.setenv("MLFLOW_RUN_CONTEXT", '{"mlflow.source.git.repoURL": "https://me:hunter22@git.example/a"}')
    logged = write(make_recording(), mine)
    tags = client(mine.tracking_uri).get_run(logged.run_id).data.tags
    assert tags["mlflow.source.git.repoURL"] == "https://git.example/a"
