import math
import statistics

import pytest
from recordings import make_recording

from mlflow_tfexec.metrics import all_metrics, measure
from mlflow_tfexec.statistics.judge import judge

KEYS_OF_THE_SCHEMA = {
    "latency_ms": {"median", "mean", "std", "min", "max", "p05", "p95", "p99", "ci95_low", "ci95_high"},
    "throughput": {"items_per_s"},
    "dispatch_ms": {"median"},
    "first_call_ms": {"trace", "total"},
    "memory": {"peak_mb"},
    "speedup": {"vs_eager", "ci95_low", "ci95_high"},
    "break_even": {"calls"},
    "numerics": {"max_abs_error"},
}
ALL_KEYS = {f"{name}/{figure}" for name, figures in KEYS_OF_THE_SCHEMA.items() for figure in figures}
NOT_OF_THE_BASELINE = {key for key in ALL_KEYS if key.startswith(("speedup/", "break_even/"))} | {"first_call_ms/trace"}


@pytest.fixture(scope="module")
def recording():
    return make_recording()


@pytest.fixture(scope="module")
def judgement(recording):
    return judge(recording)


def test_a_faster_mode_has_exactly_the_keys_of_the_schema(recording, judgement):
    assert set(measure(recording, judgement, "xla")) == ALL_KEYS


def test_the_baseline_has_no_speedup_break_even_or_trace(recording, judgement):
    assert set(measure(recording, judgement, "eager")) == ALL_KEYS - NOT_OF_THE_BASELINE


def test_no_mode_has_more_than_thirty_keys(recording, judgement):
    assert all(len(measure(recording, judgement, summary.mode)) <= 30 for summary in judgement.modes)


def test_every_figure_is_a_finite_float(recording, judgement):
    for summary in judgement.modes:
        for value in measure(recording, judgement, summary.mode).values():
            assert type(value) is float
            assert math.isfinite(value)


def test_a_control_is_measured_like_any_mode(recording, judgement):
    assert set(measure(recording, judgement, "graph_control")) == ALL_KEYS


def test_a_failed_mode_has_no_figures_at_all():
    failed = make_recording(statuses={"xla": "oom"})

    assert measure(failed, judge(failed), "xla") == {}


def test_a_mode_never_reached_has_no_figures_at_all():
    recording = make_recording({"eager": 2.0, "graph": 1.0}, modes=("eager", "graph", "xla"))

    assert measure(recording, judge(recording), "xla") == {}


def test_few_calls_leave_out_what_they_cannot_tell():
    recording = make_recording({"eager": 2.0, "graph": 1.0}, launches=1, rounds=1, calls=1)

    known = set(measure(recording, judge(recording), "graph"))

    assert known.isdisjoint(
        {"latency_ms/std", "latency_ms/p99", "latency_ms/ci95_low", "latency_ms/ci95_high", "speedup/ci95_low"}
    )
    assert {"latency_ms/median", "speedup/vs_eager"} <= known


def test_a_mode_that_was_not_asked_for_is_an_error(recording, judgement):
    with pytest.raises(KeyError):
        measure(recording, judgement, "xlaa")


def test_every_metric_has_a_name_and_a_title_of_its_own():
    metrics = all_metrics()

    assert {metric.name for metric in metrics} == set(KEYS_OF_THE_SCHEMA)
    assert len({metric.title for metric in metrics}) == len(metrics)
    assert {metric.name: metric.better for metric in metrics if metric.better != "lower"} == {
        "throughput": "higher",
        "speedup": "higher",
    }


def test_latency_and_speedup_are_the_judgements_own(recording, judgement):
    known, summary = measure(recording, judgement, "xla"), judgement.mode("xla")

    assert known["latency_ms/median"] == summary.latency_ms.median
    assert known["latency_ms/p95"] == summary.latency_ms.p95
    assert known["speedup/vs_eager"] == summary.speedup.ratio
    assert known["speedup/ci95_high"] == summary.speedup.ci95_high


def test_dispatch_agrees_with_a_plain_median(recording, judgement):
    calls_ns = [
        ns
        for block in recording.blocks
        if (block.mode, block.metric, block.warmup) == ("xla", "dispatch", False)
        for ns in block.calls_ns
    ]

    assert measure(recording, judgement, "xla")["dispatch_ms/median"] == statistics.median(calls_ns) / 1e6
