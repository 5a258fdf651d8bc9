"""One worker process as the parent sees it: started, asked, waited for, ended."""

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from mlflow_tfexec.measurement.cgroup import oom_kills
from mlflow_tfexec.measurement.variables import mask
from mlflow_tfexec.protocol import Failure, Message, Request, read_reply, send
from mlflow_tfexec.session import strays

# Waiting is cut into pieces, since Windows delivers Ctrl-C only between two waits.
_WAIT_PIECE_S = 1.0

_END_S = 10.0
"""A worker that has said its last word gets this long to end; TensorFlow's own shutdown takes a second or two."""

_TAIL_LINES = 30
_TAIL_BYTES = 8_000

# Linux's out-of-memory killer shall take the worker, which costs one mode, and not the parent, which costs all.
_OOM_SCORE = "500"

WORKER_COMMAND = (sys.executable, "-m", "mlflow_tfexec.worker")

R = TypeVar("R", bound=Message)


class ModeFailed(Exception):  # noqa: N818 - an outcome of one mode, which the session records
    """A worker could not do what it was asked."""

    def __init__(self, status: str, reason: str, *, wrong_request: bool = False, **facts: Any) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.wrong_request = wrong_request
        self.facts = facts
        """What else the mode's line of the recording can tell: cause, operation, layer, line of code, peak memory."""


class WorkerProcess:
    """A fresh process for one mode of one launch."""

    def __init__(
        self, mode: str, log: Path, variables: Mapping[str, str], *, command: Sequence[str] | None = None
    ) -> None:
        self.mode = mode
        self._log = log
        self._oom_kills_before = oom_kills()
        self._is_ended = False
        self._mark = strays.new_mark()
        self._replies: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        with log.open("ab") as log_stream:
            self._process = subprocess.Popen(
                list(command or WORKER_COMMAND),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log_stream,
                env=_environment({**variables, strays.MARK: self._mark}),
                **_own_group(),
            )
        _prefer_for_oom(self._process.pid)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests: BinaryIO = self._process.stdin  # type: ignore[assignment]  # a pipe opened in binary mode
        threading.Thread(target=self._listen, args=(self._process.stdout,), daemon=True).start()

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    def send(self, request: Request) -> None:
        """Ask for something without waiting. A dead worker is noticed by the next `receive`."""
        with contextlib.suppress(OSError):
            send(self._requests, request)

    def receive(self, reply_type: type[R], *, deadline_s: float, waited: Callable[[float], None] = lambda _: None) -> R:
        """Wait for the answer to the last request.

        Args:
            reply_type: what is to come.
            deadline_s: longest wait.
            waited: told about once a second how long it has been.

        Raises:
            ModeFailed: the worker said so, died, or did not answer in time (it is then ended).
        """
        until = time.monotonic() + deadline_s
        was_dead = False
        while True:
            left_s = until - time.monotonic()
            if left_s <= 0:
                self.kill()
                raise ModeFailed("timeout", f"no answer within {deadline_s:g} s")
            try:
                reply = self._replies.get(timeout=min(left_s, _WAIT_PIECE_S))
            except queue.Empty:
                # A process that the model forked keeps the channel open after the worker's death. What the worker said
                # last may still be on its way, so it gets one more piece of waiting.
                if was_dead:
                    raise self._death() from None
                was_dead = self._process.poll() is not None
                waited(deadline_s - left_s)
                continue
            break
        if reply is None:
            raise self._death()
        if isinstance(reply, Failure):
            facts = reply.model_dump(exclude={"status", "reason", "wrong_request"}, exclude_none=True)
            raise ModeFailed(reply.status, mask(reply.reason), wrong_request=reply.wrong_request, **facts)
        if not isinstance(reply, reply_type):
            raise ModeFailed("crashed", f"answered {type(reply).__name__} where {reply_type.__name__} was due")
        return reply

    def log_tail(self) -> str | None:
        """Return the last lines of what the worker printed, credentials removed. None: it printed nothing."""
        try:
            with self._log.open("rb") as log:
                log.seek(0, os.SEEK_END)
                log.seek(max(0, log.tell() - _TAIL_BYTES))
                lines = log.read().decode("utf-8", errors="replace").splitlines()
        except OSError:
            return None
        return mask("\n".join(lines[-_TAIL_LINES:])).strip() or None

    def let_end(self) -> None:
        """Tell the worker that nothing more is coming, without waiting."""
        with contextlib.suppress(OSError):
            self._requests.close()

    def wait_end(self) -> None:
        """Wait until the worker has ended by itself, and end it if it does not, and what it started."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=_END_S)
        self.kill()

    def kill(self) -> None:
        """End the worker and what it started, at once."""
        if not self._is_ended:
            self._is_ended = True
            # Once its end has been noticed its id may be another's.
            family = strays.descendants(self._process.pid) if self._process.returncode is None else []
            with contextlib.suppress(OSError):
                if os.name == "posix":
                    # The group outlives a leader that has died by itself.
                    os.killpg(self._process.pid, signal.SIGKILL)
                else:  # pragma: no cover - Windows only
                    self._process.kill()
            strays.end(family)
            strays.end_marked(self._mark)
        self._process.wait()

    def _listen(self, stream: BinaryIO) -> None:
        """Pass replies on; None when the worker has closed its end."""
        try:
            for line in stream:
                reply = read_reply(line)
                if reply is not None:
                    self._replies.put(reply)
        finally:
            self._replies.put(None)

    def _death(self) -> ModeFailed:
        """Say how the worker died."""
        try:
            code = self._process.wait(timeout=_END_S)
        except subprocess.TimeoutExpired:
            self.kill()
            return ModeFailed("crashed", "closed its channel without a word")
        kills = oom_kills()
        if code == -signal.SIGKILL and kills is not None and kills > (self._oom_kills_before or 0):
            return ModeFailed("oom", "ended by the system's out-of-memory killer; try a smaller --batch-size")
        if code < 0:
            return ModeFailed("crashed", f"ended by signal {-code} ({_signal_name(-code)})")
        return ModeFailed("crashed", f"ended with exit code {code}")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Give the worker our environment, with what it must not share taken out."""
    environment = {**os.environ, "KERAS_BACKEND": "tensorflow", "PYTHONFAULTHANDLER": "1", **variables}
    # A model that logs to MLflow by itself must not write into our run.
    environment.pop("MLFLOW_RUN_ID", None)
    return environment


def _own_group() -> dict[str, Any]:
    """Keep Ctrl-C on the terminal from the workers: the parent ends them, after it has noted what happened."""
    if os.name == "posix":
        return {"start_new_session": True}
    return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}  # type: ignore[attr-defined]  # pragma: no cover


def _prefer_for_oom(pid: int) -> None:
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/oom_score_adj").write_text(_OOM_SCORE, encoding="ascii")
