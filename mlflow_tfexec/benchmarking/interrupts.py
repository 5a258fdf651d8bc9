"""Ctrl-C and termination, once as a request to stop in order, and after that as little as possible."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from mlflow_tfexec.errors import Interrupted

_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)]


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise Interrupted inside the block at the first signal; afterwards only Ctrl-C stops us.

    Whoever sends Ctrl-C to a group of processes often sends termination right behind it (`mlflow run` does), and
    the little time in between is needed to log what was measured. A second Ctrl-C means it: Interrupted is
    raised once more. A hangup that is ignored already, as `nohup` arranges, stays ignored.
    """

    def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the shape of a handler
        for other in _SIGNALS:
            signal.signal(other, signal.SIG_IGN if other != signal.SIGINT else stop)
        raise Interrupted(f"Interrupted by {signal.Signals(number).name}.")

    before = {number: signal.signal(number, stop) for number in _SIGNALS if not _is_ignored_hangup(number)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_ignored_hangup(number: int) -> bool:
    return number == getattr(signal, "SIGHUP", None) and signal.getsignal(number) is signal.SIG_IGN
