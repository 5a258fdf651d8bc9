"""What `run` makes of a result and of its environment, without measuring anything."""

import pytest
from recordings import make_recording

from mlflow_tfexec.benchmarking.measuring import Measured
from mlflow_tfexec.benchmarking.measuring import _request_findings as request_findings
from mlflow_tfexec.cli.delivery import exit_code
from mlflow_tfexec.errors import LoggingFailed
from mlflow_tfexec.records.recording import End
from mlflow_tfexec.statistics.judge import judge


def code_of(recording, *, strict=False, failure=None):
    return exit_code(Measured(recording, judge(recording), [], failure), strict=strict)


@pytest.mark.parametrize(
    ("statuses", "code", "strict_code"),
    [
        ({}, 0, 0),
        ({"xla": "crashed"}, 0, 1),
        ({"graph": "outputs_differ"}, 0, 1),
        ({"graph": "outputs_differ", "xla": "oom"}, 0, 1),
        ({"graph": "timeout", "xla": "oom"}, 1, 1),
        ({"eager": "run_failed"}, 1, 1),
        # The control is not something to compare with.
        ({"graph": "trace_failed", "xla": "trace_failed", "graph_control": "ok"}, 1, 1),
        ({"graph_control": "crashed"}, 0, 1),
    ],
)
def test_the_exit_code_says_whether_there_is_something_to_compare(statuses, code, strict_code):
    times_ms = {"eager": 20.0, "graph": 5.0, "xla": 4.0, "graph_control": 5.0}
    recording = make_recording(times_ms, rounds=2, calls=1, statuses=statuses)

    assert code_of(recording, strict=False) == code
    assert code_of(recording, strict=True) == strict_code


@pytest.mark.parametrize("end", [None, End(status="interrupted"), End(status="failed")])
def test_a_benchmark_that_was_cut_short_is_not_done(end):
    recording = make_recording(rounds=2, calls=1, end=end)

    assert code_of(recording, strict=False) == 1


def test_a_benchmark_that_mlflow_did_not_take_is_not_done():
    assert code_of(make_recording(rounds=2, calls=1), failure=LoggingFailed("no")) == 1


@pytest.mark.parametrize(
    ("environ", "codes"),
    [
        ({}, []),
        ({"KERAS_BACKEND": "jax"}, ["keras_backend_overridden"]),
        ({"KERAS_BACKEND": "tensorflow"}, []),
        ({"TF_XLA_FLAGS": "--tf_xla_auto_jit=2"}, ["auto_jit"]),
        ({"TF_XLA_FLAGS": "--tf_xla_cpu_global_jit"}, []),
        (
            {"KERAS_BACKEND": "torch", "TF_XLA_FLAGS": "--tf_xla_auto_jit=fusible"},
            ["keras_backend_overridden", "auto_jit"],
        ),
    ],
)
def test_what_in_the_environment_bends_the_result_is_a_finding(monkeypatch, environ, codes):
    for variable in ("KERAS_BACKEND", "TF_XLA_FLAGS"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in environ.items():
        monkeypatch.setenv(variable, value)

    assert [finding.code for finding in request_findings()] == codes
