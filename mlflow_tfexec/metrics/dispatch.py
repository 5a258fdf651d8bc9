"""How long a call takes to return, before the device is done."""

import itertools
import statistics
from collections.abc import Mapping

from mlflow_tfexec.metrics._metric import Metric
from mlflow_tfexec.records.judgement import Judgement
from mlflow_tfexec.records.recording import Recording
from mlflow_tfexec.statistics.rounds import counted_blocks
from mlflow_tfexec.units import NS_PER_MS


def _values(recording: Recording, _judgement: Judgement, mode: str) -> Mapping[str, float | None]:
    """Milliseconds: the median of all calls in the blocks that count, all launches together."""
    blocks = (block.calls_ns or () for block in counted_blocks(recording, "dispatch") if block.mode == mode)
    calls_ns = list(itertools.chain.from_iterable(blocks))
    return {"median": statistics.median(calls_ns) / NS_PER_MS} if calls_ns else {}


METRIC = Metric(name="dispatch_ms", title="Dispatch", unit="ms", better="lower", values=_values)
