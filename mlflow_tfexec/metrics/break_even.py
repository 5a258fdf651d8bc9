"""After how many calls a mode's dearer first call has paid off."""

import math
from collections.abc import Mapping

from mlflow_tfexec.metrics._metric import Metric
from mlflow_tfexec.metrics.first_call import first_call_ms
from mlflow_tfexec.records.judgement import Judgement
from mlflow_tfexec.records.recording import Recording
from mlflow_tfexec.records.spec import BASELINE


def _values(recording: Recording, judgement: Judgement, mode: str) -> Mapping[str, float | None]:
    """Calls after the first until the mode has cost no more in total than the baseline; 0 where it is ahead at once.

    Empty for the baseline, and for a mode that is not shown to be faster: its gain per call may be none at all, and
    the count would be an accident of the noise.
    """
    speedup = judgement.mode(mode).speedup
    if speedup is None or speedup.ci95_low is None or speedup.ci95_low <= 1:
        return {}
    own, baseline = judgement.mode(mode).latency_ms, judgement.mode(BASELINE).latency_ms
    own_first, baseline_first = first_call_ms(recording, mode), first_call_ms(recording, BASELINE)
    if own is None or baseline is None or own_first is None or baseline_first is None:
        return {}
    gain_per_call = baseline.median - own.median
    if gain_per_call <= 0:
        return {}
    return {"calls": max(0, math.ceil((own_first - baseline_first) / gain_per_call))}


METRIC = Metric(name="break_even", title="Break-even", unit="calls", better="lower", values=_values)
