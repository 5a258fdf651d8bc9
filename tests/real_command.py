"""The real command in a process of its own, its workers as the system sees them, and what it leaves behind."""

import contextlib
import itertools
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import psutil

from mlflow_tfexec.records.recording import Recording
from mlflow_tfexec.spool import SpooledBenchmark, spooled

MODELS = Path(__file__).with_name("tf") / "models.py"

QUICK = ("--preset", "quick", "--rounds", "3", "--warmup", "0.2", "--block-ms", "5", "--device", "cpu")
"""As little as still is a benchmark."""

# A deadline decides only whether a test fails for good: a loaded machine may be slow.
DEADLINE_S = 240.0

T = TypeVar("T")


def model(name: str) -> str:
    """Give the reference of a model of `tf/models.py`."""
    return f"{MODELS}:{name}"


def eventually(condition: Callable[[], T], *, what: str, within_s: float = DEADLINE_S) -> T:
    """Ask until the answer is true, and return it."""
    until = time.monotonic() + within_s
    while True:
        answer = condition()
        if answer:
            return answer
        assert time.monotonic() < until, f"not within {within_s:.0f} s: {what}"
        time.sleep(0.02)


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    exit_code: int
    stdout: str
    stderr: str


@dataclass
class Lab:
    """A directory with a spool and an MLflow store of its own, in which commands run."""

    root: Path
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    @classmethod
    def make(cls, root: Path, template: Path) -> "Lab":
        """Furnish *root* with a copy of an empty store."""
        (root / "scratch").mkdir(parents=True)
        shutil.copy(template, root / "mlflow.db")
        return cls(root)

    @property
    def spool(self) -> Path:
        """Where the commands keep recordings."""
        return self.root / "spool"

    @property
    def store(self) -> str:
        """The tracking URI."""
        return f"sqlite:///{self.root / 'mlflow.db'}"

    def environment(self, more: Mapping[str, str]) -> dict[str, str]:
        """Give a command's environment: nothing of the caller's MLflow, Keras or TensorFlow settings."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("MLFLOW_", "KERAS_", "TF_", "XLA_"))}
        return {
            **kept,
            "MLFLOW_DISABLE_TELEMETRY": "true",
            "MLFLOW_TFEXEC_SPOOL": str(self.spool),
            "MLFLOW_TRACKING_URI": self.store,
            "MLFLOW_EXPERIMENT_NAME": "tests",
            "TMPDIR": str(self.root / "scratch"),
            **more,
        }

    @contextlib.contextmanager
    def start(self, *arguments: str, environment: Mapping[str, str] | None = None) -> Iterator["Command"]:
        """Start a command; whatever of it still runs at the end of the block is ended."""
        place = self.root / f"command-{next(self._numbers)}"
        place.mkdir()
        with (place / "stdout").open("wb") as out, (place / "stderr").open("wb") as err:
            process = subprocess.Popen(
                [sys.executable, "-m", "mlflow_tfexec", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=self.root,
                env=self.environment(environment or {}),
            )
        command = Command(process, place)
        try:
            yield command
        finally:
            command.end_all()

    def run(self, *arguments: str, environment: Mapping[str, str] | None = None) -> Outcome:
        """Run a command to its end."""
        with self.start(*arguments, environment=environment) as command:
            return command.wait()

    def benchmarks(self) -> list[SpooledBenchmark]:
        """Everything in the spool that holds a recording, oldest first."""
        return list(spooled(self.spool))

    def recording(self) -> Recording:
        """Read the one recording of the spool."""
        (benchmark,) = self.benchmarks()
        return benchmark.load()

    def worker_log(self, mode: str) -> str:
        """Read what the worker of *mode* printed in the first launch of the one benchmark."""
        (benchmark,) = self.benchmarks()
        return benchmark.worker_log(0, mode).read_text(encoding="utf-8", errors="replace")

    def runs(self) -> list[Any]:
        """Every run of the store."""
        from mlflow import MlflowClient

        client = MlflowClient(self.store)
        return list(client.search_runs([client.get_experiment_by_name("tests").experiment_id]))

    def run_names(self) -> list[str]:
        """Name every run of the store without MLflow: quick, and possible while somebody else writes."""
        with contextlib.closing(sqlite3.connect(f"file:{self.root / 'mlflow.db'}?mode=ro", uri=True)) as connection:
            return [name for (name,) in connection.execute("select name from runs")]


@dataclass
class Command:
    """A command that may still be running."""

    process: subprocess.Popen[bytes]
    place: Path
    _seen: set[psutil.Process] = field(default_factory=set)

    @property
    def stderr(self) -> str:
        """What it has said so far."""
        return (self.place / "stderr").read_text(encoding="utf-8", errors="replace")

    def wait_for(self, text: str) -> None:
        """Wait until the command has said *text* on standard error."""

        def said() -> bool:
            ended = self.process.poll() is not None
            assert text in self.stderr or not ended, f"ended without {text!r}: {self.stderr}"
            return text in self.stderr

        eventually(said, what=f"{text!r} in {self.stderr!r}")

    def worker(self, mode: str) -> psutil.Process:
        """Wait for the worker of *mode* to be there."""
        return eventually(lambda: self.workers().get(mode), what=f"a worker for {mode}")

    def workers(self) -> dict[str, psutil.Process]:
        """Find the workers by mode: each has its own log open as standard error."""
        found = {}
        with contextlib.suppress(psutil.NoSuchProcess):
            for child in psutil.Process(self.process.pid).children():
                with contextlib.suppress(psutil.Error):
                    mode = _mode(child) if "mlflow_tfexec.worker" in child.cmdline() else None
                    if mode is not None:
                        found[mode] = child
        self._seen.update(found.values())
        return found

    def wait(self) -> Outcome:
        """Wait for the end."""
        code = self.process.wait(timeout=2 * DEADLINE_S)
        return Outcome(code, (self.place / "stdout").read_text(encoding="utf-8"), self.stderr)

    def survivors(self) -> list[psutil.Process]:
        """Name the workers, of those that were ever seen, that still run."""
        return [worker for worker in self._seen if is_running(worker)]

    def end_all(self) -> None:
        """End the command and its workers."""
        self.workers()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for worker in self.survivors():
            with contextlib.suppress(psutil.Error):
                worker.kill()


def is_running(process: psutil.Process) -> bool:
    """Say whether a process still does anything. One whose end nobody has asked for yet does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _mode(worker: psutil.Process) -> str | None:
    names = [Path(file.path).name for file in worker.open_files()]
    matches = [re.fullmatch(r"launch-\d+-(\w+)\.log", name) for name in names]
    return next((match[1] for match in matches if match), None)
