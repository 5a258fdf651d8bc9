"""Smaller batches for a mode that ran out of memory: tried, not guessed, once nothing is measured any more."""

import time
from collections.abc import Sequence

from mlflow_tfexec.protocol import Action, Built, Finished, FirstCall, Hello, Message, Pilot, Request, Start
from mlflow_tfexec.records.findings import Finding
from mlflow_tfexec.session.process import ModeFailed, WorkerProcess
from mlflow_tfexec.session.state import BenchmarkState
from mlflow_tfexec.statistics.failure_advice import SMALLER_BATCH
from mlflow_tfexec.units import BYTES_PER_MB, memory

_MOST_TRIES = 10
_MOST_S = 300.0
"""For all modes together: to know a batch that fits is worth some minutes, and no more."""

_ALONE = "It was alone in a process of its own; in a benchmark all modes share the memory."

_STEPS: Sequence[tuple[Action, type[Message]]] = (
    ("build", Built),
    ("first_call", FirstCall),
    ("pilot", Pilot),
    ("finish", Finished),
)


def try_smaller_batches(state: BenchmarkState) -> None:
    """Record, for each mode that ran out of memory, the largest batch by halving that fits, or that none does."""
    modes = [mode for mode, status in state.failed.items() if status == "oom"]
    if not modes or state.header is None or state.header.spec.batch_size == 1:
        return
    until_s = time.monotonic() + _limit_s(state)
    with state.clock.phase("smaller_batch"):
        for mode in modes:
            if state.spec.inputs is not None:
                why = f"the inputs were given (--inputs {state.spec.inputs}), and their batch with them"
                what_to_try = "Give inputs of fewer items."
                finding = _finding(mode, f"Smaller batches were not tried: {why}.", what_to_try=what_to_try)
            else:
                finding = _halve(state, mode, state.header.spec.batch_size, until_s)
            state.add_finding(finding)


def _limit_s(state: BenchmarkState) -> float:
    """Say how long may be spent: nothing beyond the time budget, if there is one."""
    if state.spec.time_budget_s is None:
        return _MOST_S
    return min(_MOST_S, state.spec.time_budget_s - (time.perf_counter_ns() - state.start_ns) / 1e9)


def _halve(state: BenchmarkState, mode: str, batch: int, until_s: float) -> Finding:
    """Try half the batch, a quarter and so on, until one fits."""
    tried: list[int] = []
    while (batch := batch // 2) and len(tried) < _MOST_TRIES and until_s > time.monotonic():
        state.observer.trying(mode, batch)
        try:
            peak_bytes = _peak_bytes(state, mode, batch, until_s)
        except ModeFailed as failure:
            if failure.status != "oom":
                return _not_told(mode, tried, batch, failure)
            tried.append(batch)
        else:
            peak = f" (peak {memory(peak_bytes / BYTES_PER_MB)})" if peak_bytes is not None else ""
            fits = f"{_none_fits(tried)}Batch {batch} fits{peak}, tried."
            return _finding(mode, fits, why=_ALONE, what_to_try=f"Measure with --batch-size {batch}.")
    if batch == 0:
        return _finding(mode, f"No smaller batch fits, tried: {_listed(tried)}.", why=_ALONE)
    limit = f"{_MOST_TRIES} had been" if len(tried) == _MOST_TRIES else "the time for it had run out"
    return _finding(
        mode,
        f"{_none_fits(tried)}Batch {batch} and smaller ones were not tried: {limit}.",
        what_to_try=f"Measure with --batch-size {batch}.",
    )


def _not_told(mode: str, tried: Sequence[int], batch: int, failure: ModeFailed) -> Finding:
    """Say why a try shows neither that the batch fits nor that it does not."""
    reason = failure.reason.removeprefix("ValueError: ").rstrip(".")
    if failure.wrong_request:
        return _finding(mode, f"Smaller batches could not be tried: {reason}.")
    return _finding(mode, f"{_none_fits(tried)}Batch {batch} ended as {failure.status}: {reason}.")


def _peak_bytes(state: BenchmarkState, mode: str, batch: int, until_s: float) -> int | None:
    """Call the model on another batch in a fresh process, as often as a pilot does, and return the memory it held.

    Raises:
        ModeFailed: it did not come that far.
    """
    log = state.spool.trial_log(batch, mode)
    spec = state.spec.model_copy(update={"batch_size": batch, "batch_asked": True})
    start = Start(spec=spec, mode=mode, scratch=str(state.spool.scratch), log=str(log), source=state.source)
    worker = WorkerProcess(mode, log, state.variables.get(mode, {}))
    try:
        worker.send(Request(do="start", start=start))
        worker.receive(Hello, deadline_s=_deadline_s(state, until_s))
        for do, reply_type in _STEPS:
            worker.send(Request(do=do))
            reply = worker.receive(reply_type, deadline_s=_deadline_s(state, until_s))
        return reply.peak_memory_bytes if isinstance(reply, Finished) else None
    finally:
        worker.kill()
        state.spool.remove_scratch()


def _deadline_s(state: BenchmarkState, until_s: float) -> float:
    # Never negative, so that an answer which is there already is still taken.
    return min(state.spec.timeout_s, max(1.0, until_s - time.monotonic()))


def _none_fits(tried: Sequence[int]) -> str:
    return f"Out of memory with batch {_listed(tried)} as well. " if tried else ""


def _listed(batches: Sequence[int]) -> str:
    return ", ".join(map(str, batches))


def _finding(mode: str, what: str, *, why: str | None = None, what_to_try: str | None = None) -> Finding:
    return Finding(code=SMALLER_BATCH, what=what, why=why, what_to_try=what_to_try, mode=mode)
