"""What the block loop times: a call without arguments, and a fence behind it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


def no_fence() -> None:
    """Do nothing: where a call returns only when its work is done, a fence would only add its own cost."""


@dataclass(frozen=True)
class PreparedCall:
    """One mode, ready to be called. Nothing is traced or compiled yet."""

    run: Callable[[], Any]
    """Calls the model once on inputs that are already on the device, and returns its outputs."""
    fence: Callable[[], None] = no_fence
    """Returns when the device has finished everything asked of it."""
    trace: Callable[[], Any] | None = None
    """Traces without running. None: this mode does not trace."""
    traces: Callable[[], int] = lambda: 0
    """How often the mode has been traced so far."""
