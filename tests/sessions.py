"""Whole sessions without TensorFlow: `run_session` with the processes of `fake_worker.py`."""

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mlflow_tfexec.records.findings import Finding
from mlflow_tfexec.records.recording import Look, Recording
from mlflow_tfexec.records.spec import Spec
from mlflow_tfexec.session.benchmark import run_session
from mlflow_tfexec.session.observer import Observer, Progress, Silence
from mlflow_tfexec.spool import SpooledBenchmark

REPOSITORY = Path(__file__).parents[1]
FAKE_WORKER = (sys.executable, str(Path(__file__).with_name("fake_worker.py")))
FAKE_LOADS = (sys.executable, str(Path(__file__).with_name("fake_loads.py")))


def make_spec(*modes: str, **fields: Any) -> Spec:
    """Ask for a benchmark that fake workers answer in well under a second."""
    return Spec(
        **{
            "model": "Fake",
            "modes": modes or ("eager", "graph"),
            "launches": 1,
            "rounds": 2,
            "timeout_s": 50.0,
            **fields,
        }
    )


@dataclass(frozen=True)
class Bench:
    """A place to measure in; `behave` says what the workers of each mode do."""

    root: Path
    monkeypatch: pytest.MonkeyPatch

    @property
    def starts(self) -> Path:
        """Where each worker leaves its process id."""
        return self.root / "starts"

    @property
    def loads(self) -> Path:
        """Where each process of reference loads leaves a file named by its id."""
        return self.root / "loads"

    @property
    def spool(self) -> SpooledBenchmark:
        """The one benchmark that is measured here."""
        return SpooledBenchmark(self.root / "spool" / "benchmark")

    def behave(self, **modes: dict[str, Any]) -> None:
        """Put fake workers in place of the real ones: mode → fields of `fake_worker.Behaviour`."""
        self.starts.mkdir(parents=True, exist_ok=True)
        self.monkeypatch.setattr("mlflow_tfexec.session.process.WORKER_COMMAND", FAKE_WORKER)
        self.monkeypatch.setenv("FAKE_WORKER", json.dumps(modes))
        self.monkeypatch.setenv("FAKE_WORKER_STARTS", str(self.starts))
        self.monkeypatch.setattr("mlflow_tfexec.session.reference_loads.COMMAND", FAKE_LOADS)
        self.loads.mkdir(exist_ok=True)
        self.monkeypatch.setenv("FAKE_LOADS_PIDS", str(self.loads))
        self.monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
        self.monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
        # Neither a GPU of the machine nor its library plays a part here.
        self.monkeypatch.setattr(
            "mlflow_tfexec.session.benchmark.describe_host", lambda: {"python": {"version": "3.11"}}
        )

    def measure(self, spec: Spec, observer: Observer | None = None, *, findings: tuple[Finding, ...] = ()) -> Recording:
        """Run a session and read what it wrote."""
        self.spool.create()
        run_session(spec, self.spool, observer or Silence(), variables={}, findings=findings)
        return self.spool.load()

    def pids(self) -> list[int]:
        """Name the process of every worker that was started."""
        return [int(path.read_text()) for path in self.starts.iterdir()]

    def started(self) -> list[str]:
        """Name every worker that was started, as `<mode>.<launch>`."""
        return sorted(path.name for path in self.starts.iterdir())

    def log(self, mode: str, launch: int = 0) -> str:
        """Return what a worker printed."""
        return self.spool.worker_log(launch, mode).read_text(encoding="utf-8")


@dataclass
class Witness:
    """An observer that keeps what it is told, and may raise at a certain step."""

    raises: BaseException | None = None
    at: tuple[str, int] = ("", 0)
    """(stage, how many times it has been told of before)."""
    steps: list[Progress] = field(default_factory=list)
    failures: list[tuple[str, str, str]] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)
    waits: list[tuple[float, float]] = field(default_factory=list)
    trials: list[tuple[str, int]] = field(default_factory=list)

    def progressed(self, progress: Progress) -> None:
        """Keep it; raise if the time has come."""
        self.steps.append(progress)
        if self.raises is not None and self.at == (progress.stage, self.stages.count(progress.stage) - 1):
            raise self.raises

    def waited(self, seconds: float, limit_s: float) -> None:
        """Keep it."""
        self.waits.append((seconds, limit_s))

    def failed(self, mode: str, status: str, reason: str) -> None:
        """Keep it."""
        self.failures.append((mode, status, reason))

    def looked(self, look: Look) -> None:
        """Keep it."""
        self.looks.append(look)

    def trying(self, mode: str, batch_size: int) -> None:
        """Keep it; raise if the time has come."""
        self.trials.append((mode, batch_size))
        if self.raises is not None and self.at == ("trying", len(self.trials) - 1):
            raise self.raises

    @property
    def stages(self) -> list[str]:
        """Name the stages in order."""
        return [step.stage for step in self.steps]
