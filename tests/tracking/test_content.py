import itertools
from dataclasses import replace

import pytest
from recordings import make_recording

from mlflow_tfexec.records.origin import ModelOrigin
from mlflow_tfexec.records.recording import Block, End, Health, ModeLine, Recording
from mlflow_tfexec.statistics.judge import judge
from mlflow_tfexec.tracking import content, keys

INTERRUPTED = End(status="interrupted", ended="2026-01-31T12:03:00Z")


def summary(recording, mode):
    return judge(recording).mode(mode)


def test_hardware_facts_become_tags_of_parent_and_child(environment):
    recording = make_recording(environment=environment)
    expected = {
        "tfexec.schema_version": "1",
        "tfexec.benchmark_id": "0123456789abcdef0123456789abcdef",
        "tfexec.model": "EfficientNetV2S",
        "tfexec.task": "inference",
        "tfexec.tf.version": "2.21.0",
        "tfexec.keras.version": "3.12.0",
        "tfexec.cuda.version": "12.5.1",
        "tfexec.cudnn.version": "9",
        "tfexec.device": "GPU:0",
        "tfexec.gpu.name": "NVIDIA T4",
        "tfexec.gpu.uuid": "GPU-1234",
        "tfexec.gpu.compute_capability": "7.5",
        "tfexec.gpu.memory_mb": "15360",
        "tfexec.gpu.driver": "550.54",
        "tfexec.cpu.name": "Xeon",
        "tfexec.host.fingerprint": "f" * 64,
    }
    parent = content.benchmark_tags(recording, judge(recording), "a *note*")
    assert parent == {
        **expected,
        "tfexec.kind": "benchmark",
        "tfexec.status": "complete",
        "tfexec.ordering": judge(recording).ordering,
        "tfexec.fastest": "xla",
        "mlflow.note.content": "a *note*",
    }
    child = content.mode_tags(recording, summary(recording, "xla"))
    assert child == {**expected, "tfexec.kind": "mode", "tfexec.mode": "xla", "tfexec.status": "ok"}


def test_what_is_not_known_is_no_tag():
    recording = make_recording({"eager": 10.0}, environment={"tensorflow": {"version": None}, "gpus": [], "cpu": ""})
    tags = content.benchmark_tags(recording, judge(recording), note="")
    assert set(tags) == {keys.SCHEMA, keys.KIND, keys.BENCHMARK_ID, keys.MODEL, keys.TASK, keys.STATUS}


def test_a_gpu_that_was_not_measured_on_is_no_tag(environment):
    on_cpu = {**environment, "tensorflow": {"version": "2.21.0", "device": "CPU"}}
    tags = content.mode_tags(make_recording(environment=on_cpu), summary(make_recording(), "xla"))
    assert tags[keys.DEVICE] == "CPU"
    assert not [tag for tag in tags if tag.startswith("tfexec.gpu.")]


def test_the_gpu_named_as_measured_goes_before_the_first_in_the_list(environment):
    measured = {**environment, "gpu": {"name": "NVIDIA H200", "memory_mb": 143771}}
    tags = content.mode_tags(make_recording(environment=measured), summary(make_recording(), "xla"))
    assert tags[keys.GPU_NAME] == "NVIDIA H200"
    assert keys.GPU_UUID not in tags


def test_long_values_are_cut_to_what_mlflow_takes():
    recording = make_recording(model="m" * 9000)
    tags = content.benchmark_tags(recording, judge(recording), "n" * 9000)
    assert tags[keys.NOTE] == "n" * 7999 + "…"
    assert content.mode_params(recording, "xla")["model"] == "m" * 5999 + "…"


def test_params_say_what_was_asked_for(environment):
    params = content.mode_params(make_recording(environment=environment), "xla")
    assert params == {
        "mode": "xla",
        "model": "EfficientNetV2S",
        "task": "inference",
        "batch_size": "1",
        "input_shape": "384,384,3",
        "dtype": "float32",
        "preset": "standard",
        "launches": "3",
        "rounds": "10",
        "seed": "0",
        "device": "GPU:0",
    }


def test_every_summary_metric_is_in_the_schema_and_there_are_at_most_30():
    recording = make_recording(calls=20)
    judgement = judge(recording)
    logged = {key for mode in recording.spec.modes for key in content.mode_metrics(recording, judgement, mode)}
    assert logged == set(keys.MODE_METRICS)
    assert len(keys.MODE_METRICS) <= 30


def test_parent_metrics_are_the_speedups_over_eager():
    metrics = content.benchmark_metrics(judge(make_recording()))
    assert set(metrics) == {f"speedup/{mode}_vs_eager" for mode in ("graph", "graph_nojit", "xla", "graph_control")}
    assert metrics["speedup/xla_vs_eager"] == pytest.approx(369 / 11.6, rel=0.05)


def test_samples_are_the_calls_that_count_in_measured_order():
    recording = make_recording({"eager": 10.0}, launches=1, rounds=0)
    place = {"launch": 0, "position": 0, "mode": "eager", "metric": "latency"}
    lines = (
        Block(round=0, calls_ns=(9_000_000,), warmup=True, **place),
        Block(round=0, calls_ns=(1_000_000, 2_000_000), **place),
        Block(round=1, calls_ns=(8_000_000,), valid=False, **place),
        *(Block(round=round_, calls_ns=(3_000_000,), **place) for round_ in range(2, 6)),
        Health(launch=0, round=5, bad="throttled"),
    )
    samples = content.latency_samples(Recording(header=recording.header, lines=lines), "eager")
    assert samples == [(0, 1.0), (1, 2.0), (2, 3.0), (3, 3.0), (4, 3.0)]


def test_a_long_series_is_thinned_to_1000_points_from_first_to_last():
    recording = make_recording({"eager": 1.0}, launches=1, rounds=10, calls=250)
    samples = content.latency_samples(recording, "eager")
    steps = [step for step, _ in samples]
    assert len(samples) == 1000
    assert (steps[0], steps[-1]) == (0, 2499)
    assert {later - earlier for earlier, later in itertools.pairwise(steps)} == {2, 3}
    assert samples == content.latency_samples(recording, "eager")


def test_exactly_1000_calls_are_all_kept():
    recording = make_recording({"eager": 1.0}, launches=1, rounds=10, calls=100)
    assert [step for step, _ in content.latency_samples(recording, "eager")] == list(range(1000))


@pytest.mark.parametrize(
    ("statuses", "end", "status"),
    [
        ({}, End(status="complete"), "FINISHED"),
        ({"xla": "oom"}, End(status="complete"), "FINISHED"),
        ({"graph": "crashed", "graph_nojit": "crashed", "xla": "oom"}, End(status="complete"), "FAILED"),
        ({"eager": "crashed"}, End(status="complete"), "FAILED"),
        ({}, INTERRUPTED, "KILLED"),
        ({}, None, "KILLED"),
    ],
)
def test_the_parent_is_finished_when_eager_and_one_more_ranked_mode_were_measured(statuses, end, status):
    recording = make_recording(statuses=statuses, end=end)
    assert content.benchmark_run_status(recording, judge(recording)) == status


def test_a_mode_that_differs_is_finished_and_one_that_failed_is_failed():
    recording = make_recording(statuses={"graph": "outputs_differ", "xla": "oom"})
    assert content.mode_run_status(recording, summary(recording, "graph")) == "FINISHED"
    assert content.mode_run_status(recording, summary(recording, "xla")) == "FAILED"


def test_an_interruption_kills_only_what_was_neither_measured_nor_failed():
    made = make_recording({"eager": 10.0, "graph": 5.0}, statuses={"graph": "oom"}, end=INTERRUPTED)
    spec = made.spec.model_copy(update={"modes": ("eager", "graph", "xla", "graph_nojit")})
    started = ModeLine(launch=0, mode="xla", status="ok", started="2026-01-31T12:02:00Z")
    recording = Recording(header=made.header.model_copy(update={"spec": spec}), lines=(*made.lines, started))
    statuses = {one.mode: content.mode_run_status(recording, one) for one in judge(recording).modes}
    assert statuses == {"eager": "FINISHED", "graph": "FAILED", "xla": "KILLED", "graph_nojit": "KILLED"}


def test_times_come_from_the_recording():
    recording = make_recording()
    assert content.benchmark_times(recording) == (1769860800000, 1769861100000)  # 12:00:00 and 12:05:00 UTC
    assert content.mode_times(recording, "xla") == (1769860800000, 1769860970000)  # 12:00:00 and 12:02:50 UTC


def test_a_recording_that_breaks_off_ended_when_it_last_told_the_time():
    assert content.benchmark_times(make_recording(end=None)) == (1769860800000, 1769860970000)


def test_a_mode_that_told_no_time_has_the_times_of_the_benchmark():
    assert content.mode_times(make_recording(), "keras_predict") == (1769860800000, 1769861100000)


def test_a_family_is_a_tag_and_tells_its_runs_apart_by_size():
    alone, member = make_recording(), make_recording(family="f" * 32, batch_size=8)

    assert "tfexec.family" not in content.benchmark_tags(alone, judge(alone), "")
    assert content.benchmark_tags(member, judge(member), "")["tfexec.family"] == "f" * 32
    assert content.mode_tags(member, judge(member).modes[0])["tfexec.family"] == "f" * 32
    assert content.run_name(alone) == "tfexec EfficientNetV2S"
    assert content.run_name(member) == "tfexec EfficientNetV2S batch 8 384,384,3"


def test_a_model_from_mlflow_is_tagged_with_what_its_reference_meant():
    recording = make_recording(model="models:/net@best")
    origin = ModelOrigin(uri="models:/net/3", flavor="keras")
    meant = replace(recording, header=recording.header.model_copy(update={"model_origin": origin}))

    assert content.mode_tags(meant, summary(meant, "xla"))["tfexec.model_uri"] == "models:/net/3"
    assert content.mode_tags(meant, summary(meant, "xla"))["tfexec.model"] == "models:/net@best"
    assert "tfexec.model_uri" not in content.mode_tags(recording, summary(recording, "xla"))
