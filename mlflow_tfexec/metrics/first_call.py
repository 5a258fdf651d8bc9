"""What the first call costs: tracing, compiling and running once."""

import statistics
from collections.abc import Mapping

from mlflow_tfexec.metrics._metric import Metric
from mlflow_tfexec.records.judgement import Judgement
from mlflow_tfexec.records.recording import Recording
from mlflow_tfexec.units import NS_PER_MS


def first_call_ms(recording: Recording, mode: str) -> float | None:
    """Median over launches of the whole first call of *mode*, in milliseconds. None: never recorded."""
    lines = recording.mode_lines.get(mode, {}).values()
    return _median_ms([line.first_call_ns for line in lines if line.first_call_ns is not None])


def _values(recording: Recording, _judgement: Judgement, mode: str) -> Mapping[str, float | None]:
    """Milliseconds, medians over launches: `trace` is Python tracing alone, `total` the whole first call."""
    lines = recording.mode_lines.get(mode, {}).values()
    return {
        "trace": _median_ms([line.trace_ns for line in lines if line.trace_ns is not None]),
        "total": first_call_ms(recording, mode),
    }


def _median_ms(values_ns: list[int]) -> float | None:
    return statistics.median(values_ns) / NS_PER_MS if values_ns else None


METRIC = Metric(name="first_call_ms", title="First call", unit="ms", better="lower", values=_values)
