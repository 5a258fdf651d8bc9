"""Everything that checks judge, gathered before any of them is asked. What is not known is None or absent."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class TensorFlowAnswer:
    """How far TensorFlow came in a process of its own, and what it said on the way."""

    steps: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Facts by step of `worker.probe`, in the order in which they came. `error` is among them where a step failed."""
    unanswered: str | None = None
    """The step that ended the process or outlasted its time. None: all were answered."""
    end: str | None = None
    """How it ended there, such as `ended by signal 6 (SIGABRT)`."""
    log: str = ""
    """What the process printed."""

    def fact(self, step: str, name: str) -> Any | None:
        """Look up one fact. None: not known."""
        return self.steps.get(step, {}).get(name)


@dataclass(frozen=True)
class CudaFiles:
    """What XLA needs to compile for an NVIDIA GPU, where it looks for it."""

    ptxas: str | None = None
    libdevice: str | None = None


@dataclass(frozen=True)
class Tracking:
    """Whether a benchmark could be written to MLflow."""

    uri: str | None = None
    """Where to, without credentials."""
    problem: str | None = None
    """Why not, in one or two lines."""
    is_new: bool = False
    """True: a local database that the first benchmark will create."""


@dataclass(frozen=True)
class Spool:
    """Where recordings are kept."""

    directory: str
    problem: str | None = None
    """Why it cannot be written to."""
    free_mb: int | None = None


@dataclass(frozen=True)
class Requirements:
    """What an installed distribution asks for and what is there."""

    distribution: str
    version: str | None = None
    """None: it is not installed, so that nobody says what it asks for."""
    met: int = 0
    unmet: tuple[str, ...] = ()
    """Such as `mlflow<4,>=3.1 (2.9.2 is installed)`."""


@dataclass(frozen=True)
class EnvironmentManager:
    """One of MLflow's ways to give a project its packages."""

    name: str
    """As `--env-manager` has it."""
    found: str | None = None
    """What was found of it, such as `uv 0.9.1`. None: nothing."""
    problem: str | None = None
    """Why it cannot be used. None: it can."""


@dataclass(frozen=True)
class Project:
    """How `mlflow run` can be called here."""

    directory: str | None = None
    """Where MLproject is. None: there is none, the package is installed without a clone."""
    is_here: bool = False
    """True: it is the working directory."""
    managers: tuple[EnvironmentManager, ...] = ()
    path_entry: str | None = None
    """Directory that must come first in PATH, so that `mlflow` and `python` are this environment's. None: they are."""


@dataclass(frozen=True)
class Facts:
    """All of it."""

    host: Mapping[str, Any]
    """As `measurement.environment.describe_host` gives it. Its `variables` are masked and without secrets."""
    tensorflow: TensorFlowAnswer = field(default_factory=TensorFlowAnswer)
    cuda_files: CudaFiles = field(default_factory=CudaFiles)
    cuda_wheels: Requirements | None = None
    """What TensorFlow's `and-cuda` asks for. None: it was not asked."""
    packages: Requirements | None = None
    """What this package asks for."""
    available_memory_mb: int | None = None
    load: float | None = None
    """Processes that wanted a core in the last minute, on average, before anything of ours was started."""
    default_modes: int = 5
    """Processes that a benchmark keeps alive side by side."""
    tracking: Tracking | None = None
    spool: Spool | None = None
    project: Project = field(default_factory=Project)

    @property
    def variables(self) -> Mapping[str, str]:
        """Environment variables that can change a result."""
        variables: Mapping[str, str] = self.host.get("variables", {})
        return variables

    @property
    def device(self) -> Mapping[str, Any]:
        """What TensorFlow says of itself and of the device it chose; empty when it did not come so far."""
        return self.tensorflow.steps.get("device", {})

    @property
    def has_nvidia_gpu(self) -> bool:
        """True: the driver shows a GPU, or TensorFlow uses one."""
        return bool(self.host.get("gpus")) or str(self.device.get("device", "")).startswith("GPU")
