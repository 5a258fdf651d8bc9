"""TensorFlow asked in a process of its own: a hang, a crash or chatter of its import costs nothing but the answer."""

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mlflow_tfexec.diagnosis._facts import TensorFlowAnswer
from mlflow_tfexec.diagnosis._steps import DOING
from mlflow_tfexec.protocol import Probed
from mlflow_tfexec.session.process import ModeFailed, WorkerProcess

COMMAND = (sys.executable, "-m", "mlflow_tfexec.worker.probe")

# Whatever the user has silenced: TensorFlow says only here what it does with oneDNN, and which CUDA libraries it lacks.
_VARIABLES = {"TF_CPP_MIN_LOG_LEVEL": "0", "TF_CPP_VMODULE": "dso_loader=1"}

_MOST_LOG_BYTES = 200_000


@contextmanager
def tensorflow_probe() -> Iterator["TensorFlowProbe"]:
    """Start the process; it ends with the `with` block. Nobody waits until `answer` is called."""
    with tempfile.TemporaryDirectory(prefix="mlflow-tfexec-doctor-") as scratch:
        log = Path(scratch) / "tensorflow.log"
        process = WorkerProcess("doctor", log, _VARIABLES, command=COMMAND)
        try:
            yield TensorFlowProbe(process, log)
        finally:
            process.kill()


class TensorFlowProbe:
    """A process that takes the steps of `worker.probe`."""

    def __init__(self, process: WorkerProcess, log: Path) -> None:
        self._process = process
        self._log = log

    def answer(self, timeout_s: float, said: Callable[[str], None]) -> TensorFlowAnswer:
        """Wait for every step, *timeout_s* for each, and tell *said* what is being waited for."""
        steps: dict[str, dict[str, Any]] = {}
        for step, doing in DOING.items():
            said(doing)
            try:
                probed = self._process.receive(Probed, deadline_s=timeout_s)
            except ModeFailed as failure:
                return TensorFlowAnswer(steps, unanswered=step, end=failure.reason, log=self._read_log())
            steps[probed.step] = probed.facts
            if "error" in probed.facts and step != "precision":
                break
        return TensorFlowAnswer(steps, log=self._read_log())

    def _read_log(self) -> str:
        try:
            with self._log.open("rb") as log:
                return log.read(_MOST_LOG_BYTES).decode("utf-8", errors="replace")
        except OSError:
            return ""
