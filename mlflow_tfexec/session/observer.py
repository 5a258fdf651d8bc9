"""What a session tells whoever watches it."""

from dataclasses import dataclass
from typing import Literal, Protocol

from mlflow_tfexec.records.recording import Look

Stage = Literal["start", "build", "first_call", "pilot", "warmup", "rounds", "finish"]


@dataclass(frozen=True)
class Progress:
    """Where the session stands."""

    launch: int
    """From 0."""
    launches: int
    """After which the benchmark may end."""
    most_launches: int
    """After which it ends."""
    stage: Stage
    mode: str | None = None
    """None: all modes at once."""
    round: int | None = None
    """From 0."""
    rounds: int | None = None
    left_s: float | None = None
    """Time left until `launches` are done, as far as it can be foreseen. None before the first has been warmed up."""


class Observer(Protocol):
    """Somebody who watches; must return at once, since nothing is measured meanwhile."""

    def progressed(self, progress: Progress) -> None:
        """Take note that the next step begins."""

    def waited(self, seconds: float, limit_s: float) -> None:
        """Take note that the step still goes on after so long, and is given up after *limit_s*. Not while timing."""

    def failed(self, mode: str, status: str, reason: str) -> None:
        """Take note that a mode is lost."""

    def looked(self, look: Look) -> None:
        """Take note of what is known so far, and whether that is enough."""

    def trying(self, mode: str, batch_size: int) -> None:
        """Take note that a mode without enough memory is tried on a smaller batch. All measuring is over."""


class Silence:
    """An observer that says nothing."""

    def progressed(self, progress: Progress) -> None:
        """Ignore it."""

    def waited(self, seconds: float, limit_s: float) -> None:
        """Ignore it."""

    def failed(self, mode: str, status: str, reason: str) -> None:
        """Ignore it."""

    def looked(self, look: Look) -> None:
        """Ignore it."""

    def trying(self, mode: str, batch_size: int) -> None:
        """Ignore it."""
