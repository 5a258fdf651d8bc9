"""The workers of one launch, one of them working at a time; a worker that fails costs its own mode only."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.protocol import Action, BlockTimes, Built, FirstCall, Hello, Message, Request, Start
from mlflow_tfexec.records.recording import Block, ModeLine
from mlflow_tfexec.session.clock import utc_now
from mlflow_tfexec.session.plan import block_deadline_s
from mlflow_tfexec.session.process import ModeFailed, WorkerProcess
from mlflow_tfexec.session.state import BenchmarkState
from mlflow_tfexec.statistics.failure_advice import place

R = TypeVar("R", bound=Message)

# What a worker does that does not answer in time.
_DOING: Mapping[type[Message], str] = {
    Hello: "importing TensorFlow",
    Built: "building the model",
    FirstCall: "tracing, compiling and calling for the first time",
    BlockTimes: "calling the model",
}


class Crew:
    """Starts, asks and loses workers, and writes down what they say."""

    def __init__(self, state: BenchmarkState, launch: int) -> None:
        self._state = state
        self._launch = launch
        self._workers: dict[str, WorkerProcess] = {}
        self._started: dict[str, str] = {}
        self._status: dict[str, tuple[str, str | None]] = {}

    @property
    def modes(self) -> list[str]:
        """Name the modes whose workers are alive, as far as is known."""
        return list(self._workers)

    @property
    def pids(self) -> list[int]:
        """Name the processes that may be on the device: the workers', and ours if its program has TensorFlow loaded."""
        mine = [os.getpid()] if "tensorflow" in sys.modules else []
        return [*mine, *(worker.pid for worker in self._workers.values())]

    def start(self, mode: str) -> None:
        """Start a worker and ask it to import TensorFlow, without waiting."""
        self._started[mode] = utc_now()
        log = self._state.spool.worker_log(self._launch, mode)
        worker = WorkerProcess(mode, log, self._state.variables.get(mode, {}))
        self._workers[mode] = worker
        state = self._state
        start = Start(spec=state.spec, mode=mode, scratch=str(state.spool.scratch), log=str(log), source=state.source)
        worker.send(Request(do="start", start=start))

    def request(self, do: Action, modes: Sequence[str]) -> None:
        """Ask several workers for the same, without waiting."""
        for mode in modes:
            self._workers[mode].send(Request(do=do))

    def receive(self, reply_type: type[R], modes: Sequence[str]) -> dict[str, R]:
        """Wait for the answers of several workers; those that fail are lost."""
        replies = {mode: self._receive(mode, reply_type) for mode in modes}
        return {mode: reply for mode, reply in replies.items() if reply is not None}

    def ask(self, mode: str, do: Action, reply_type: type[R]) -> R | None:
        """Ask one worker and wait. None: the mode is lost, and that is recorded."""
        self._workers[mode].send(Request(do=do))
        return self._receive(mode, reply_type)

    def ask_block(self, mode: str, *, input_set: int) -> BlockTimes | None:
        """Have one block measured on one set of inputs. None: the mode is lost, and that is recorded."""
        calls = self._state.calls[mode]
        deadline_s = block_deadline_s(self._state.call_ns[mode], calls, self._state.spec)
        self._workers[mode].send(Request(do="block", calls=calls, input_set=input_set))
        return self._receive(mode, BlockTimes, deadline_s=deadline_s)

    def write_mode(self, mode: str, status: str, reason: str | None = None, **facts: Any) -> None:
        """Record what is known of a mode; a later line adds to an earlier one."""
        self._status[mode] = (status, reason)
        self._state.append(
            ModeLine(launch=self._launch, mode=mode, status=status, reason=reason, started=self._started[mode], **facts)
        )

    def write_end(self, mode: str, **facts: Any) -> None:
        """Record a mode's last figures; its status stands."""
        status, reason = self._status[mode]
        self.write_mode(mode, status, reason, ended=utc_now(), **facts)

    def write_block(self, mode: str, times: BlockTimes, *, round_: int, position: int, warmup: bool) -> None:
        """Write a block's three figures before anything else happens."""
        place: dict[str, Any] = {
            "launch": self._launch,
            "round": round_,
            "position": position,
            "mode": mode,
            "warmup": warmup,
            "valid": times.again is None,
            **({} if times.again is None else {"again": times.again}),
        }
        self._state.append(Block(metric="latency", calls_ns=tuple(times.latency_ns), **place))
        self._state.append(Block(metric="dispatch", calls_ns=tuple(times.dispatch_ns), **place))
        self._state.append(
            Block(metric="throughput", calls=times.throughput_calls, total_ns=times.throughput_total_ns, **place)
        )

    def lose(self, mode: str, failure: ModeFailed) -> None:
        """Record that a mode has failed, and go on without it.

        Raises:
            RequestError: it failed because of what was asked, before anything was measured.
        """
        if failure.wrong_request and self._launch == 0:
            raise _refusal(failure, self._state.spec.model)
        worker = self._workers.pop(mode)
        worker.kill()
        self._state.failed[mode] = failure.status
        self.write_mode(
            mode, failure.status, failure.reason, log_tail=worker.log_tail(), ended=utc_now(), **failure.facts
        )
        self._state.observer.failed(mode, failure.status, failure.reason)

    def end_all(self) -> None:
        """Let workers that have said their last word end by themselves."""
        for worker in self._workers.values():
            worker.let_end()
        for worker in self._workers.values():
            worker.wait_end()
        self._workers.clear()

    def kill_all(self) -> None:
        """End every worker at once. Harmless when all have ended."""
        for worker in self._workers.values():
            worker.kill()

    def _receive(self, mode: str, reply_type: type[R], *, deadline_s: float | None = None) -> R | None:
        limit_s = deadline_s or self._state.spec.timeout_s
        try:
            return self._workers[mode].receive(reply_type, deadline_s=limit_s, waited=self._waited(reply_type, limit_s))
        except ModeFailed as failure:
            if failure.status == "timeout" and reply_type in _DOING:
                failure.reason += f" while {_DOING[reply_type]}"
            self.lose(mode, failure)
            return None

    def _waited(self, reply_type: type[Message], limit_s: float) -> Callable[[float], None]:
        """Tell the observer of a long step; never of a block, since nothing else may run while it is timed."""
        observer = self._state.observer
        if reply_type is BlockTimes:
            return lambda _: None
        return lambda seconds: observer.waited(seconds, limit_s)


def _refusal(failure: ModeFailed, model: str) -> RequestError:
    """Say why the model cannot be had, and on a second line, where it is known, at which place of its code."""
    # What a model or we ourselves say of a wrong value needs no name of an exception before it.
    reason = failure.reason.removeprefix("ValueError: ").removeprefix("RequestError: ")
    if reason.startswith("--inputs"):
        return RequestError(reason)
    found = place(*(failure.facts.get(part) for part in ("op", "layer", "source")))
    return RequestError(f"Cannot load model {model!r}: {reason}" + (f"\nWhere: {found}." if found else ""))
