"""The export that holds everything derived from a benchmark."""

import io
import json
from dataclasses import replace

import pytest
from recordings import make_recording

from mlflow_tfexec.exports import formats
from mlflow_tfexec.metrics import measure
from mlflow_tfexec.records.recording import Block, Health
from mlflow_tfexec.statistics.judge import judge

RECORDING = make_recording({"eager": 2.0, "graph": 1.0}, statuses={"graph": "outputs_differ"}, launches=2, rounds=6)


def exported(*recordings):
    stream = io.BytesIO()
    formats()["json"].write(recordings, stream)
    assert stream.getvalue().isascii()
    return json.loads(stream.getvalue())


def test_judgement_is_the_one_of_the_report():
    [benchmark] = exported(RECORDING)["benchmarks"]

    assert list(benchmark) == ["header", "judgement", "modes"]
    assert benchmark["judgement"] == json.loads(json.dumps(judge(RECORDING).to_dict()))


def test_header_says_what_was_asked_of_which_machine():
    header = exported(make_recording(environment={"cpu": {"name": "Example CPU 9000"}}))["benchmarks"][0]["header"]

    assert header["spec"]["model"] == "EfficientNetV2S"
    assert header["environment"] == {"cpu": {"name": "Example CPU 9000"}}
    assert header["inputs"] == [{"shape": [1, 384, 384, 3], "dtype": "float32"}]


def test_metrics_are_those_of_mlflow():
    modes = exported(RECORDING)["benchmarks"][0]["modes"]

    judgement = judge(RECORDING)
    assert {mode["mode"]: mode["metrics"] for mode in modes} == {
        name: measure(RECORDING, judgement, name) for name in ("eager", "graph")
    }
    assert [mode["status"] for mode in modes] == ["ok", "outputs_differ"]


def test_rounds_and_launches_are_these():
    def block(launch, round_, *calls_ns, **facts):
        place = {"launch": launch, "round": round_, "position": 0, "mode": "eager", "metric": "latency"}
        return Block(calls_ns=calls_ns, **(place | facts))

    lines = (
        block(0, 0, 9_000_000, warmup=True),
        block(0, 0, 1_000_000, 2_000_000, 9_000_000),
        *(block(0, round_, 4_000_000) for round_ in range(1, 6)),
        block(1, 0, 3_000_000),
        block(1, 1, 3_500_000, valid=False),
        Health(launch=0, round=5, bad="throttled"),
    )

    [mode] = exported(replace(make_recording({"eager": 1.0}), lines=lines))["benchmarks"][0]["modes"]

    assert mode["median_of_rounds_ms"] == 4.0
    assert mode["launches"] == [
        {
            "launch": 0,
            "median_ms": 4.0,
            "rounds": [{"round": 0, "median_ms": 2.0}, *({"round": n, "median_ms": 4.0} for n in range(1, 5))],
        },
        {"launch": 1, "median_ms": 3.0, "rounds": [{"round": 0, "median_ms": 3.0}]},
    ]


def test_a_mode_without_timings_has_none():
    modes = exported(make_recording({"eager": 2.0, "graph": 1.0}, statuses={"graph": "oom"}))["benchmarks"][0]["modes"]

    assert (modes[1]["median_of_rounds_ms"], modes[1]["launches"]) == (None, [])


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_is_no_number_is_null(number):
    odd = make_recording(environment={"cpu": {"load": [number, 1.5]}})

    assert exported(odd)["benchmarks"][0]["header"]["environment"] == {"cpu": {"load": [None, 1.5]}}


def test_judgement_follows_the_schema_of_the_report():
    from jsonschema import Draft202012Validator

    from mlflow_tfexec.reports.json import schema

    report = {"benchmarks": [benchmark["judgement"] for benchmark in exported(RECORDING)["benchmarks"]]}

    assert Draft202012Validator(schema()).is_valid(report)
