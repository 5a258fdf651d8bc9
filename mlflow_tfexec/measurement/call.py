"""What the block loop times: a function bound to its inputs, and a fence behind it."""

import dataclasses
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


def no_fence() -> None:
    """Do nothing: where a call returns only when its work is done, a fence would only add its own cost."""


@dataclass(frozen=True)
class ModelStep:
    """What every mode of a benchmark executes."""

    call: Callable[..., Any]
    """One step of the task on its inputs: tensors in, tensors out."""
    predict: Callable[..., Any] | None = None
    """Keras's own `predict` on the same inputs. None: the model has none, or the task is another."""


@dataclass(frozen=True)
class PreparedCall:
    """One mode, ready to be called. Nothing is traced or compiled yet."""

    function: Callable[..., Any]
    """Executes one step on the inputs that it is given, and returns its outputs."""
    inputs: tuple[Any, ...] = ()
    """Arguments of `function`: on the device, unless their way there is to be timed."""
    transfers: bool = False
    """True: the function itself brings arrays of the host to the device, as Keras's `predict` does."""
    fence: Callable[[], None] = no_fence
    """Returns when the device has finished everything asked of it."""
    trace: Callable[..., Any] | None = None
    """Traces for the inputs that it is given without running. None: this mode does not trace."""
    traces: Callable[[], int] = lambda: 0
    """How often the mode has been traced so far."""
    details: Callable[[], dict[str, Any]] = dict
    """What only the mode knows of itself, once it has been called, by name."""

    @functools.cached_property
    def run(self) -> Callable[[], Any]:
        """Call the function once on the inputs."""
        return functools.partial(self.function, *self.inputs)

    def behind_transfer(self, to_device: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> "PreparedCall":
        """Give the same mode taking arrays of the host, which in every call first go *to_device*."""
        function, trace = self.function, self.trace
        if self.transfers:
            return self
        return dataclasses.replace(
            self,
            function=lambda *inputs: function(*to_device(inputs)),
            trace=None if trace is None else lambda *inputs: trace(*to_device(inputs)),
            transfers=True,
        )

    def on(self, inputs: tuple[Any, ...]) -> "PreparedCall":
        """Give the same mode bound to other inputs of the same shapes and types."""
        return dataclasses.replace(self, inputs=inputs)
