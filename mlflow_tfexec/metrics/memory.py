"""How much memory a mode needs at its peak."""

from collections.abc import Mapping

from mlflow_tfexec.metrics._metric import Metric
from mlflow_tfexec.records.judgement import Judgement
from mlflow_tfexec.records.recording import Recording
from mlflow_tfexec.units import BYTES_PER_MB


def _values(recording: Recording, _judgement: Judgement, mode: str) -> Mapping[str, float | None]:
    """MiB, the highest of all launches: what must be free for the mode to run."""
    lines = recording.mode_lines.get(mode, {}).values()
    peaks = [line.peak_memory_bytes for line in lines if line.peak_memory_bytes is not None]
    return {"peak_mb": max(peaks) / BYTES_PER_MB} if peaks else {}


METRIC = Metric(name="memory", title="Peak memory", unit="MiB", better="lower", values=_values)
