"""When a mode has warmed up."""

from statistics import median

from mlflow_tfexec.protocol import BlockTimes
from mlflow_tfexec.records.spec import Spec
from mlflow_tfexec.statistics.steady_state import is_steady

# Clocks and caches need time, not only calls: half a second was seen to be too short for a GPU's clocks
# (triton-lang/triton issue 2306 reports 30 % too fast after 25 ms of warm-up).
_MIN_BUSY_S = 1.0
_MIN_BLOCKS = 3


class Warmup:
    """Follows every mode of one launch until it is steady, or has used up its time."""

    def __init__(self, spec: Spec) -> None:
        self._limit_s = spec.warmup_s
        self._medians_ns: dict[str, list[float]] = {}
        self._busy_ns: dict[str, int] = {}

    def take(self, mode: str, times: BlockTimes) -> None:
        """Add one block."""
        self._medians_ns.setdefault(mode, []).append(median(times.latency_ns))
        # A single call is measured once and stands for both figures.
        repeated_ns = times.throughput_total_ns if times.throughput_calls > 1 else 0
        self._busy_ns[mode] = self._busy_ns.get(mode, 0) + sum(times.latency_ns) + repeated_ns

    def busy_s(self, mode: str) -> float:
        """Return the time that *mode* has worked so far."""
        return self._busy_ns.get(mode, 0) / 1e9

    def is_steady(self, mode: str) -> bool:
        """Say whether the last blocks show neither a trend nor a step."""
        medians_ns = self._medians_ns.get(mode, [])
        return len(medians_ns) >= _MIN_BLOCKS and is_steady(medians_ns)

    def is_done(self, mode: str) -> bool:
        """True: steady, or out of time. A mode whose single call exceeds the limit is run once."""
        busy_s = self.busy_s(mode)
        return busy_s >= self._limit_s or (busy_s >= min(_MIN_BUSY_S, self._limit_s) and self.is_steady(mode))
