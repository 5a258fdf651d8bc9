"""Judgements against second sources: a golden file, and the same figures worked out plainly."""

import itertools
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
    """A recording of format version 1, kept for good. Its estimates never change; its intervals and verdicts do where
    the method does, and then the golden judgement is written anew."""
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


class Plain:
    """A recording's ranked modes worked out with the standard library, one launch after another."""

    def __init__(self, recording, launches):
        self.recording, self.launches = recording, launches

    def medians(self, mode, launch):
        """Block medians in ns, round after round."""
        blocks = [
            block
            for block in self.recording.blocks
            if (block.mode, block.launch, block.metric, block.warmup) == (mode, launch, "latency", False)
        ]
        return [statistics.median(block.calls_ns) for block in sorted(blocks, key=lambda block: block.round)]

    def median_ms(self, mode):
        return statistics.geometric_mean(statistics.median(self.medians(mode, n)) for n in range(self.launches)) / 1e6

    def ratios(self, a, b):
        """Log ratios of the rounds, launch after launch."""
        return [
            [
                math.log(of_a) - math.log(of_b)
                for of_a, of_b in zip(self.medians(a, launch), self.medians(b, launch), strict=True)
            ]
            for launch in range(self.launches)
        ]

    def figures(self, a, b):
        """One log ratio per launch."""
        return [statistics.median(launch) for launch in self.ratios(a, b)]

    def variance(self, a, b):
        """What launches show, or what their rounds leave open where that is more."""
        return max(
            statistics.variance(self.figures(a, b)),
            statistics.fmean(self.half_middle(launch) ** 2 for launch in self.ratios(a, b)),
        )

    @staticmethod
    def half_middle(values):
        """Half of what lies between the values that are sqrt(n) / 2 places to either side of the middle one."""
        aside = math.sqrt(len(values)) / 2 / (len(values) - 1)
        return float(np.quantile(values, 0.5 + aside) - np.quantile(values, 0.5 - aside)) / 2

    def intervals(self, modes):
        """Bonferroni's intervals with Smyth's variances. The modes are of like noise, and lend half a degree each."""
        figures = {pair: self.figures(*pair) for pair in itertools.combinations(modes, 2)}
        own = {pair: self.variance(*pair) for pair in figures}
        prior, prior_degrees, degrees = statistics.fmean(own.values()), 0.5 * (len(modes) - 2), self.launches - 1
        total = prior_degrees + degrees
        found = {}
        for pair, of_pair in figures.items():
            moderated = (prior_degrees * prior + degrees * own[pair]) / total
            half = scipy.stats.t.ppf(1 - 0.05 / len(own) / 2, total) * math.sqrt(moderated / self.launches)
            center = statistics.fmean(of_pair)
            found[pair] = math.exp(center - half), math.exp(center + half)
        return found


RECORDINGS = {
    "made up": lambda: make_recording(launches=4),
    "golden": lambda: mlflow_tfexec.load_recording(GOLDEN / "v1" / "recording.jsonl"),
}


@pytest.mark.parametrize("name", RECORDINGS)
def test_comparison_and_latency_agree_with_a_plain_recalculation(name):
    recording = RECORDINGS[name]()
    judgement, plain = judge(recording), Plain(recording, launches=4)

    for summary in judgement.modes:
        assert summary.latency_ms.median == pytest.approx(plain.median_ms(summary.mode), rel=1e-12)
    ranked = sorted(("eager", "graph", "graph_nojit", "xla"), key=plain.median_ms, reverse=True)
    intervals = plain.intervals(ranked)
    assert [(c.a, c.b) for c in judgement.comparisons] == list(intervals)
    for comparison in judgement.comparisons:
        figures = plain.figures(comparison.a, comparison.b)
        assert comparison.ratio == pytest.approx(statistics.geometric_mean(map(math.exp, figures)), rel=1e-12)
        expected = intervals[comparison.a, comparison.b]
        assert (comparison.ci95_low, comparison.ci95_high) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", RECORDINGS)
def test_the_controls_interval_is_a_plain_paired_t(name):
    recording = RECORDINGS[name]()
    control = judge(recording).control

    plain = Plain(recording, launches=4)
    figures = plain.figures("graph", "graph_control")

    error = math.sqrt(plain.variance("graph", "graph_control") / 4)
    low, high = scipy.stats.t.interval(0.95, 3, statistics.fmean(figures), error)
    assert (control.ci95_low, control.ci95_high) == pytest.approx((math.exp(low), math.exp(high)), rel=1e-9)
