"""How many times as fast as the baseline a mode is."""

from collections.abc import Mapping

from mlflow_tfexec.metrics._metric import Metric
from mlflow_tfexec.records.judgement import Judgement
from mlflow_tfexec.records.recording import Recording


def _values(_recording: Recording, judgement: Judgement, mode: str) -> Mapping[str, float | None]:
    """Baseline's time over this mode's, as judged. Empty for the baseline itself."""
    speedup = judgement.mode(mode).speedup
    if speedup is None:
        return {}
    return {"vs_eager": speedup.ratio, "ci95_low": speedup.ci95_low, "ci95_high": speedup.ci95_high}


METRIC = Metric(name="speedup", title="Speed-up", unit="×", better="higher", values=_values)
