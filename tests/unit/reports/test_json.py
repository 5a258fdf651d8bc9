import json
from dataclasses import replace

import pytest
from recordings import make_recording

from mlflow_tfexec.reports import json as json_report
from mlflow_tfexec.reports import table
from mlflow_tfexec.statistics.judge import judge

NUMBER = (int, float)
LATENCY = {
    "median": NUMBER,
    "mean": NUMBER,
    "std": (*NUMBER, type(None)),
    "min": NUMBER,
    "max": NUMBER,
    "p05": NUMBER,
    "p95": NUMBER,
    "p99": (*NUMBER, type(None)),
    "ci95_low": (*NUMBER, type(None)),
    "ci95_high": (*NUMBER, type(None)),
    "calls": int,
    "launches": int,
    "rounds": int,
    "intervals": dict,
    "autocorrelation": (*NUMBER, type(None)),
    "effective_rounds": (*NUMBER, type(None)),
}
STATUSES = {
    "ok",
    "outputs_differ",
    "trace_failed",
    "compile_failed",
    "run_failed",
    "oom",
    "timeout",
    "crashed",
    "skipped",
}


def test_document_has_the_promised_shape(report):
    document = json.loads(json_report.render(report))

    assert list(document) == ["benchmarks"]
    for benchmark in document["benchmarks"]:
        assert list(benchmark) == [
            "benchmark_id",
            "model",
            "ordering",
            "fastest",
            "best_set",
            "scope",
            "modes",
            "comparisons",
            "control",
            "unstable",
            "launch_s",
            "findings",
            "input",
        ]
        assert benchmark["scope"] in {"launches", "this launch only"}
        assert isinstance(benchmark["fastest"], str | None)
        for mode in benchmark["modes"]:
            check_mode(mode)
        for comparison in benchmark["comparisons"]:
            check_comparison(comparison)
        if benchmark["control"]:
            check_comparison(benchmark["control"])
        assert all({"code", "what"} <= finding.keys() for finding in benchmark["findings"])


def check_mode(mode):
    logs = ["log_tail"] if "log_tail" in mode else []
    assert list(mode) == ["mode", "status", "reason", "latency_ms", "speedup", *logs, "letters"]
    assert mode["status"] in STATUSES
    if mode["latency_ms"] is not None:
        assert list(mode["latency_ms"]) == list(LATENCY)
        assert all(isinstance(mode["latency_ms"][key], kind) for key, kind in LATENCY.items())
    if mode["speedup"] is not None:
        assert list(mode["speedup"]) == ["ratio", "ci95_low", "ci95_high"]


def check_comparison(comparison):
    assert list(comparison) == ["a", "b", "ratio", "ci95", "verdict", "launches_needed"]
    assert comparison["verdict"] in {"slower", "faster", "equivalent", "undecided"}
    assert comparison["ci95"] is None or comparison["ci95"] == sorted(comparison["ci95"])


def test_text_ends_with_a_line_break_and_is_ascii(report):
    text = json_report.render(report)

    assert text.endswith("}\n")
    assert text.isascii()


def test_not_a_number_is_refused_rather_than_written():
    recording = make_recording()
    judgement = judge(recording)
    comparison = replace(judgement.comparisons[0], ratio=float("nan"))
    broken = replace(judgement, comparisons=(comparison,))

    with pytest.raises(ValueError, match="not JSON compliant"):
        json_report.render(table([(recording, broken)]))
