"""What a metric is: a name, a unit, which way is better, and how to read it off a recording."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from mlflow_tfexec.records.judgement import Judgement
from mlflow_tfexec.records.recording import Recording

Better = Literal["lower", "higher", "neither"]
Values = Callable[[Recording, Judgement, str], Mapping[str, float | None]]


@dataclass(frozen=True)
class Metric:
    """One metric of one mode; its figures are logged as `<name>/<figure>`."""

    name: str
    """First part of the MLflow key, unit included, such as `latency_ms`."""
    title: str
    """For people, such as "Latency"."""
    unit: str
    better: Better
    values: Values
    """(recording, judgement, mode) → figure → value. A figure that is not known is None or left out."""
