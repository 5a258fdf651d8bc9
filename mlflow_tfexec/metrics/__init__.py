"""One file = one metric. A module here exports `METRIC`; nothing else needs to know of it."""

import math
from functools import cache

from mlflow_tfexec._registry import discover
from mlflow_tfexec.metrics._metric import Metric
from mlflow_tfexec.records.judgement import Judgement
from mlflow_tfexec.records.recording import Recording


@cache
def all_metrics() -> tuple[Metric, ...]:
    """Every metric, by module name."""
    return tuple(discover(__name__, "METRIC"))


def measure(recording: Recording, judgement: Judgement, mode: str) -> dict[str, float]:
    """Collect every known figure of *mode* under its key, such as `latency_ms/median`.

    What is not known is absent; nothing is NaN or infinite.
    """
    known: dict[str, float] = {}
    for metric in all_metrics():
        for figure, value in metric.values(recording, judgement, mode).items():
            if value is not None and math.isfinite(value):
                known[f"{metric.name}/{figure}"] = float(value)
    return known
