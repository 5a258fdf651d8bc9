"""What one mode's latency is, from the rounds that count."""

import math

import numpy as np
from numpy.typing import NDArray

from mlflow_tfexec.records.judgement import Latency
from mlflow_tfexec.statistics.intervals import factors, launch_half_width, round_half_width
from mlflow_tfexec.statistics.rounds import Rounds
from mlflow_tfexec.units import NS_PER_MS

CONFIDENCE = 0.95

# Below this the 99 % quantile is the maximum or an interpolation towards it.
MIN_CALLS_FOR_P99 = 100


def launch_log_times(rounds: Rounds, mode: str) -> NDArray[np.float64]:
    """Log of the mode's time in ns, one per launch that has any: the median over rounds of its block medians."""
    return np.array([math.log(float(np.median(series))) for series in rounds.series_ns(mode)], dtype=np.float64)


def summarize_latency(rounds: Rounds, mode: str) -> Latency | None:
    """Summarize the latency of *mode* in milliseconds. None: nothing valid was timed.

    The median and its interval rest on launches and rounds; mean, spread and quantiles describe the single calls of
    all launches together.
    """
    series = rounds.series_ns(mode)
    if not series:
        return None
    calls_ms = rounds.calls_ns[mode] / NS_PER_MS
    p05, p95, p99 = (float(value) for value in np.quantile(calls_ms, [0.05, 0.95, 0.99]))
    log_time = float(np.mean(launch_log_times(rounds, mode)))
    interval = factors(log_time, _half_width(rounds, mode))
    return Latency(
        median=math.exp(log_time) / NS_PER_MS,
        mean=float(np.mean(calls_ms)),
        std=float(np.std(calls_ms, ddof=1)) if len(calls_ms) > 1 else None,
        min=float(np.min(calls_ms)),
        max=float(np.max(calls_ms)),
        p05=p05,
        p95=p95,
        p99=p99 if len(calls_ms) >= MIN_CALLS_FOR_P99 else None,
        ci95_low=interval[0] / NS_PER_MS if interval else None,
        ci95_high=interval[1] / NS_PER_MS if interval else None,
        calls=len(calls_ms),
        launches=len(series),
        rounds=sum(len(launch) for launch in series),
    )


def _half_width(rounds: Rounds, mode: str) -> float | None:
    """Of the log time. A mode seen in one launch of several has none, as its siblings' speak of launches."""
    if rounds.launches == 1:
        (series,) = rounds.series_ns(mode)
        return round_half_width(np.log(series), confidence=CONFIDENCE)
    return launch_half_width(launch_log_times(rounds, mode), confidence=CONFIDENCE)
