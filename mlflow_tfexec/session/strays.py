"""Processes that a model has started and that have left its worker's group and session.

Two signs show that a process comes from a worker, and nothing else is ended. It descends from the worker, which can be
asked while that lives; or its environment holds the worker's mark, a random one, which is handed down from process to
process, however far a daemon has gone from its parents. A process that has neither, because it daemonized itself and
cleared its environment, is not found.
"""

import contextlib
import time
import uuid
from collections.abc import Iterable, Iterator

import psutil

MARK = "MLFLOW_TFEXEC_WORKER"

# Between looking and ending a process can start another, so that it is looked again until none is there.
_MOST_LOOKS = 50
_PAUSE_S = 0.01


def new_mark() -> str:
    """Give a mark that no process has had."""
    return uuid.uuid4().hex


def descendants(pid: int) -> list[psutil.Process]:
    """Name the children of a process, theirs, and so on. The process has to be one whose end nobody has waited for."""
    try:
        found: list[psutil.Process] = psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []
    return found


def end(processes: Iterable[psutil.Process]) -> None:
    """End processes at once. One that has ended is left alone, whoever has its id by now."""
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.kill()


def end_marked(mark: str) -> None:
    """End every process that carries *mark*, until there is none."""
    for _ in range(_MOST_LOOKS):
        found = list(_marked(mark))
        if not found:
            return
        end(found)
        time.sleep(_PAUSE_S)


def _marked(mark: str) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        # Processes of others, and those that have just ended, show no environment.
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                yield process
