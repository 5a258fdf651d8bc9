"""What one mode's latency is, from the rounds that count."""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlflow_tfexec.records.judgement import Latency
from mlflow_tfexec.statistics.dependence import autocorrelation, effective_rounds
from mlflow_tfexec.statistics.intervals import factors, launch_half_width, round_half_width
from mlflow_tfexec.statistics.rounds import Rounds
from mlflow_tfexec.units import NS_PER_MS

CONFIDENCE = 0.95

# Below this the 99 % quantile is the maximum or an interpolation towards it.
MIN_CALLS_FOR_P99 = 100

_Figure = Callable[[NDArray[Any]], float]

# What describes the single calls, beside the median.
_FIGURES: Mapping[str, _Figure] = MappingProxyType(
    {
        "mean": lambda calls: float(np.mean(calls)),
        "std": lambda calls: float(np.std(calls, ddof=1)),
        "p05": lambda calls: float(np.quantile(calls, 0.05)),
        "p95": lambda calls: float(np.quantile(calls, 0.95)),
        "p99": lambda calls: float(np.quantile(calls, 0.99)),
    }
)
_LEAST_CALLS: Mapping[str, int] = MappingProxyType({"std": 2, "p99": MIN_CALLS_FOR_P99})


def launch_log_times(rounds: Rounds, mode: str) -> NDArray[np.float64]:
    """Log of the mode's time in ns, one per launch that has any: the median over rounds of its block medians."""
    return np.array([math.log(float(np.median(series))) for series in rounds.series_ns(mode)], dtype=np.float64)


def summarize_latency(rounds: Rounds, mode: str) -> Latency | None:
    """Summarize the latency of *mode* in milliseconds. None: nothing valid was timed.

    The median and its interval rest on launches and rounds; mean, spread and quantiles describe the single calls of
    all launches together, and their intervals rest on the same figure of each launch.
    """
    series = rounds.series_ns(mode)
    if not series:
        return None
    calls_ms = rounds.all_calls_ns(mode) / NS_PER_MS
    log_time = float(np.mean(launch_log_times(rounds, mode)))
    interval = factors(log_time, _half_width(rounds, mode))
    logs = [np.log(launch) for launch in series]
    figures = {name: figure(calls_ms) for name, figure in _FIGURES.items() if len(calls_ms) >= _least_calls(name)}
    return Latency(
        median=math.exp(log_time) / NS_PER_MS,
        mean=figures["mean"],
        std=figures.get("std"),
        min=float(np.min(calls_ms)),
        max=float(np.max(calls_ms)),
        p05=figures["p05"],
        p95=figures["p95"],
        p99=figures.get("p99"),
        ci95_low=interval[0] / NS_PER_MS if interval else None,
        ci95_high=interval[1] / NS_PER_MS if interval else None,
        calls=len(calls_ms),
        launches=len(series),
        rounds=sum(len(launch) for launch in series),
        intervals=_intervals(rounds, mode),
        autocorrelation=autocorrelation(logs),
        effective_rounds=effective_rounds(logs),
    )


def _least_calls(name: str) -> int:
    return _LEAST_CALLS.get(name, 1)


def _intervals(rounds: Rounds, mode: str) -> dict[str, tuple[float, float]]:
    """Intervals of the figures of the calls in ms: Student's over the log of each launch's figure.

    A figure that some launch has too few calls for, or that is 0 in one, has none.
    """
    launches = [calls / NS_PER_MS for _, calls in sorted(rounds.calls_ns[mode].items())]
    found = {}
    for name, figure in _FIGURES.items():
        if min(map(len, launches)) < _least_calls(name):
            continue
        values = [figure(calls) for calls in launches]
        if min(values) <= 0:
            continue
        logs = np.log(values)
        interval = factors(float(np.mean(logs)), launch_half_width(logs, confidence=CONFIDENCE))
        if interval is not None:
            found[name] = interval
    return found


def _half_width(rounds: Rounds, mode: str) -> float | None:
    """Of the log time. A mode seen in one launch of several has none, as its siblings' speak of launches."""
    if rounds.launches == 1:
        (series,) = rounds.series_ns(mode)
        return round_half_width(np.log(series), confidence=CONFIDENCE)
    return launch_half_width(launch_log_times(rounds, mode), confidence=CONFIDENCE)
