"""How many items a second pass when calls follow each other without a fence between them."""

import statistics
from collections.abc import Mapping

from mlflow_tfexec.metrics._metric import Metric
from mlflow_tfexec.records.judgement import Judgement
from mlflow_tfexec.records.recording import Recording
from mlflow_tfexec.statistics.rounds import counted_blocks
from mlflow_tfexec.units import NS_PER_S


def _values(recording: Recording, _judgement: Judgement, mode: str) -> Mapping[str, float | None]:
    """Items per second: per launch all items over all time of the blocks that count, then the median over launches."""
    calls: dict[int, int] = {}
    total_ns: dict[int, int] = {}
    for block in counted_blocks(recording, "throughput"):
        if block.mode == mode and block.calls and block.total_ns:
            calls[block.launch] = calls.get(block.launch, 0) + block.calls
            total_ns[block.launch] = total_ns.get(block.launch, 0) + block.total_ns
    if not calls:
        return {}
    batch_size = recording.spec.batch_size
    per_launch = [batch_size * calls[launch] * NS_PER_S / total_ns[launch] for launch in calls]
    return {"items_per_s": statistics.median(per_launch)}


METRIC = Metric(name="throughput", title="Throughput", unit="items/s", better="higher", values=_values)
