"""Two modes against each other: ratio, interval, verdict, and how many launches a verdict would take."""

import math

import numpy as np
from numpy.typing import NDArray

from mlflow_tfexec.records.judgement import Comparison, Verdict
from mlflow_tfexec.statistics.estimates import CONFIDENCE, launch_log_times
from mlflow_tfexec.statistics.intervals import (
    factors,
    launch_half_width,
    round_half_width,
    sample_std,
    student_half_width,
)
from mlflow_tfexec.statistics.rounds import Rounds

# Beyond this nobody waits, and the present spread says too little about so far a future.
MAX_LAUNCHES_FORESEEN = 100


def simultaneous_confidence(pairs: int) -> float:
    """Confidence for each of *pairs* intervals so that all hold together with 95 % (Bonferroni)."""
    return 1 - (1 - CONFIDENCE) / max(1, pairs)


def compare(rounds: Rounds, a: str, b: str, *, confidence: float, margin: float) -> Comparison:
    """Compare the time of *a* with the time of *b*, paired round by round, on the log scale.

    Each launch gives one figure: the median over rounds of log a - log b, in which the drift that both modes share
    cancels. The ratio is the exponential of the mean over launches; its interval is Student's over launches or,
    where the whole recording holds one launch, a block bootstrap over that launch's rounds. A pair seen together in
    one launch of several has no interval.

    Args:
        rounds: both modes must have at least one latency that counts.
        a: the mode above the line.
        b: the mode below it.
        confidence: of this pair's two-sided interval.
        margin: practical equivalence, as a fraction.
    """
    series = _paired_log_ratios(rounds, a, b)
    launch_ratios = np.array([float(np.median(launch)) for launch in series], dtype=np.float64)
    if series:
        log_ratio = float(np.mean(launch_ratios))
    else:
        log_ratio = float(np.mean(launch_log_times(rounds, a)) - np.mean(launch_log_times(rounds, b)))
    if rounds.launches == 1 and series:
        half_width = round_half_width(series[0], confidence=confidence)
    else:
        half_width = launch_half_width(launch_ratios, confidence=confidence)
    interval = factors(log_ratio, half_width)
    verdict = decide(log_ratio, half_width, margin=margin)
    undecided = verdict == "undecided"
    return Comparison(
        a=a,
        b=b,
        ratio=math.exp(log_ratio),
        ci95_low=interval[0] if interval else None,
        ci95_high=interval[1] if interval else None,
        verdict=verdict,
        launches_needed=launches_needed(launch_ratios, confidence=confidence, margin=margin) if undecided else None,
    )


def decide(log_ratio: float, half_width: float | None, *, margin: float) -> Verdict:
    """Read the verdict off the interval of a log ratio.

    `equivalent`: it lies inside ±log(1 + margin), which takes evidence: a wide interval around 0 does not.
    `slower`, `faster`: it excludes 0. `undecided`: neither, or there is no interval.
    """
    if half_width is None:
        return "undecided"
    if abs(log_ratio) + half_width <= math.log(1 + margin):
        return "equivalent"
    if abs(log_ratio) <= half_width:
        return "undecided"
    return "slower" if log_ratio > 0 else "faster"


def launches_needed(launch_ratios: NDArray[np.float64], *, confidence: float, margin: float) -> int | None:
    """Say how many launches would decide, should their mean and spread stay what they are.

    None: one launch or none, so the spread is unknown; or more than 100 would be needed.
    """
    present = len(launch_ratios)
    if present < 2:  # noqa: PLR2004 - one value has no spread
        return None
    mean, std = float(np.mean(launch_ratios)), sample_std(launch_ratios)
    for launches in range(present + 1, MAX_LAUNCHES_FORESEEN + 1):
        half_width = student_half_width(std, launches, confidence=confidence)
        if decide(mean, half_width, margin=margin) != "undecided":
            return launches
    return None


def _paired_log_ratios(rounds: Rounds, a: str, b: str) -> list[NDArray[np.float64]]:
    """Give log a - log b of the rounds in which both have a valid block, one array per launch that has any."""
    of_a, of_b = rounds.medians_ns.get(a, {}), rounds.medians_ns.get(b, {})
    series = []
    for launch in sorted(of_a.keys() & of_b.keys()):
        differences = np.log(of_a[launch]) - np.log(of_b[launch])
        paired = differences[np.isfinite(differences)]
        if len(paired):
            series.append(paired)
    return series
