"""Where the wall time of a benchmark goes."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from mlflow_tfexec.records.recording import Phase
from mlflow_tfexec.spool import SpooledBenchmark

OTHER = "other"
"""Everything that is not one of the named phases: our own cost."""


class PhaseClock:
    """Adds up the time spent in named phases, which must not overlap."""

    def __init__(self) -> None:
        self._start_ns = time.perf_counter_ns()
        self._spent_ns: dict[tuple[str, int | None], int] = {}

    @contextmanager
    def phase(self, name: str, launch: int | None = None) -> Iterator[None]:
        """Count the time inside as phase *name* of *launch*. None: it belongs to no launch."""
        start_ns = time.perf_counter_ns()
        try:
            yield
        finally:
            key = (name, launch)
            self._spent_ns[key] = self._spent_ns.get(key, 0) + time.perf_counter_ns() - start_ns

    def write(self, spool: SpooledBenchmark) -> None:
        """Write every phase, and the rest of the time as `other`."""
        total_ns = time.perf_counter_ns() - self._start_ns
        for (name, launch), spent_ns in self._spent_ns.items():
            spool.append(Phase(name=name, launch=launch, duration_ns=spent_ns))
        spool.append(Phase(name=OTHER, duration_ns=max(0, total_ns - sum(self._spent_ns.values()))))
