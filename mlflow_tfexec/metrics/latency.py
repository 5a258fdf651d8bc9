"""How long one call takes, fence included."""

from collections.abc import Mapping

from mlflow_tfexec.metrics._metric import Metric
from mlflow_tfexec.records.judgement import Judgement
from mlflow_tfexec.records.recording import Recording

FIGURES = ("median", "mean", "std", "min", "max", "p05", "p95", "p99", "ci95_low", "ci95_high")


def _values(_recording: Recording, judgement: Judgement, mode: str) -> Mapping[str, float | None]:
    """Milliseconds of one call, as judged. Empty where nothing valid was timed."""
    latency = judgement.mode(mode).latency_ms
    return {} if latency is None else {figure: getattr(latency, figure) for figure in FIGURES}


METRIC = Metric(name="latency_ms", title="Latency", unit="ms", better="lower", values=_values)
