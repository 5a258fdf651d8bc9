"""The reference loads of one launch: work of our own, timed once in every round beside the modes."""

import random
import sys
from typing import TypeVar

from mlflow_tfexec.protocol import Hello, LoadTimes, Request, Start
from mlflow_tfexec.records.reference_loads import LOADS, ReferenceLoad
from mlflow_tfexec.records.spec import Spec
from mlflow_tfexec.session import findings
from mlflow_tfexec.session.plan import block_deadline_s
from mlflow_tfexec.session.process import ModeFailed, WorkerProcess
from mlflow_tfexec.session.state import BenchmarkState

COMMAND = (sys.executable, "-m", "mlflow_tfexec.worker.reference_loads")

NAME = "reference_loads"
"""Of the process, in its log."""

# Of a block's timed work, for each load: enough for a median, and with all loads less than a mode's block.
_SHARE_OF_BLOCK = 0.2

R = TypeVar("R", Hello, LoadTimes)


class ReferenceLoads:
    """A process that no mode runs in. Whatever becomes of it costs the reference loads and nothing else."""

    def __init__(self, state: BenchmarkState, launch: int) -> None:
        self._state = state
        self._launch = launch
        self._process: WorkerProcess | None = None

    @property
    def pids(self) -> list[int]:
        """Name the process, if it is there."""
        return [] if self._process is None else [self._process.pid]

    def start(self) -> None:
        """Start the process, without waiting."""
        spool = self._state.spool
        log = spool.worker_log(self._launch, NAME)
        self._process = WorkerProcess(NAME, log, {}, command=COMMAND)
        start = Start(spec=self._state.spec, mode=NAME, scratch=str(spool.scratch))
        self._process.send(Request(do="start", start=start))

    def wait_started(self) -> None:
        """Wait until it could begin."""
        self._receive(Hello, self._state.spec.timeout_s)

    def time(self, *, round_: int, position: int) -> None:
        """Time every load once, before the mode that has *position* in the round's order, and write that down."""
        if self._process is None:
            return
        self._process.send(Request(do="block", duration_ns=load_ns(self._state.spec)))
        times = self._receive(LoadTimes, block_deadline_s(loads_ns(self._state.spec), 1, self._state.spec))
        for load, calls_ns in times.calls_ns.items() if times else ():
            line = ReferenceLoad(
                launch=self._launch, round=round_, position=position, load=load, calls_ns=tuple(calls_ns)
            )
            self._state.append(line)

    def end(self) -> None:
        """End the process at once. Harmless when it has ended."""
        if self._process is not None:
            self._process.kill()
            self._process = None

    def _receive(self, reply_type: type[R], deadline_s: float) -> R | None:
        if self._process is None:
            return None
        try:
            return self._process.receive(reply_type, deadline_s=deadline_s)
        except ModeFailed as failure:
            self.end()
            self._state.add_finding(findings.no_reference_loads(self._launch, failure.reason))
            return None


def load_ns(spec: Spec) -> int:
    """Return for how long one load is timed in a round."""
    return int(spec.block_ms * 1e6 * _SHARE_OF_BLOCK)


def loads_ns(spec: Spec) -> int:
    """Return about how long all loads take in a round."""
    return len(LOADS) * load_ns(spec)


def place_in_round(spec: Spec, launch: int, round_: int, modes: int) -> int:
    """Draw before which of so many modes of a round the loads are timed; *modes*: behind them all."""
    return random.Random(f"{spec.seed}/{launch}/{round_}/{NAME}").randint(0, modes)  # noqa: S311 - no secret
