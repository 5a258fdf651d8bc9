"""How far a mode's outputs are from the baseline's."""

from collections.abc import Mapping

from mlflow_tfexec.metrics._metric import Metric
from mlflow_tfexec.records.judgement import Judgement
from mlflow_tfexec.records.recording import Recording


def _values(recording: Recording, _judgement: Judgement, mode: str) -> Mapping[str, float | None]:
    """Largest absolute difference of any output element, the worst of all launches.

    The baseline has one too where it was compared with itself: that is what repeating alone changes.
    """
    outputs = [line.output for line in recording.mode_lines.get(mode, {}).values() if line.output is not None]
    errors = [output.max_abs_error for output in outputs if output.max_abs_error is not None]
    return {"max_abs_error": max(errors)} if errors else {}


METRIC = Metric(name="numerics", title="Largest output difference", unit="", better="lower", values=_values)
