"""Judgements against second sources: a golden file, and the same figures worked out plainly."""

import json
import math
import statistics
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from recordings import make_recording, write_recording

import mlflow_tfexec
from mlflow_tfexec.statistics.judge import judge

GOLDEN = Path(__file__).parents[2] / "golden" / "statistics"


def test_judging_a_file_agrees_with_the_golden_judgement():
    """A recording of format version 1, kept for good: later versions may say more of it, not something else."""
    judgement = mlflow_tfexec.judge(mlflow_tfexec.load_recording(GOLDEN / "v1" / "recording.jsonl"))

    expected = json.loads((GOLDEN / "v1" / "judgement.json").read_text(encoding="utf-8"))
    assert rounded(judgement.to_dict()) == rounded(expected)


def rounded(value):
    """Keep nine digits: the last ones differ between mathematics libraries."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    return [rounded(inner) for inner in value] if isinstance(value, list | tuple) else value


def test_the_public_functions_judge_a_file(tmp_path):
    path = write_recording(make_recording(), tmp_path)

    assert mlflow_tfexec.judge(mlflow_tfexec.load_recording(path)) == judge(make_recording())


def latency_blocks(recording, mode, launch):
    return [
        block.calls_ns
        for block in recording.blocks
        if (block.mode, block.launch, block.metric, block.warmup) == (mode, launch, "latency", False)
    ]


def test_comparison_and_latency_agree_with_a_plain_recalculation():
    recording = make_recording(launches=4)
    judgement = judge(recording)

    def medians(mode, launch):
        return [statistics.median(calls) for calls in latency_blocks(recording, mode, launch)]

    differences = [
        statistics.median(
            math.log(e) - math.log(x) for e, x in zip(medians("eager", launch), medians("xla", launch), strict=True)
        )
        for launch in range(4)
    ]
    low, high = scipy.stats.t.interval(1 - 0.05 / 6, 3, np.mean(differences), scipy.stats.sem(differences))
    comparison = next(c for c in judgement.comparisons if (c.a, c.b) == ("eager", "xla"))
    assert comparison.ratio == pytest.approx(math.exp(np.mean(differences)))
    assert (comparison.ci95_low, comparison.ci95_high) == pytest.approx((math.exp(low), math.exp(high)))
    assert judgement.mode("xla").latency_ms.median == pytest.approx(
        statistics.geometric_mean(statistics.median(medians("xla", launch)) for launch in range(4)) / 1e6
    )
