"""What a case is: a model that has some kind of trouble, and what the tool is to say of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Expect:
    """How a mode is to end."""

    status: str = "ok"
    words: tuple[str, ...] = ()
    """Parts of the reason."""
    cause: str | None = None
    op: str | None = None
    layer: str | None = None
    source: str | None = None
    """Part of the line of code that is named."""


OK = Expect()

OPTIONS = ("--preset", "quick", "--rounds", "3", "--warmup", "0.2", "--block-ms", "5", "--device", "cpu", "--offline")
"""As little as still is a benchmark."""


@dataclass(frozen=True)
class Case:
    """One model, the options it is run with, and what is to come of it."""

    factory: str
    """`file:function` of this directory, without `.py`."""
    trouble: str
    """Kind of trouble, in a few words."""
    modes: Mapping[str, Expect] = field(default_factory=lambda: {"eager": OK, "graph": OK, "xla": OK})
    """mode → how it ends. These modes are run. Empty: the request is refused."""
    shape: str | None = None
    options: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    findings: frozenset[str] = frozenset()
    """`code` or `code mode` of every finding, beside those of the machine's noise and of statuses that are not ok."""
    exit_code: int = 0
    refusal: tuple[str, ...] = ()
    """Parts of the text on standard error, where the request is refused."""
    in_ci: bool = False

    @property
    def name(self) -> str:
        """Name the case by its function."""
        return self.factory.partition(":")[2]

    def command(self) -> list[str]:
        """Give the arguments of the command."""
        file, _, function = self.factory.partition(":")
        modes = ",".join(self.modes) or "eager,graph"
        shape = ("--input-shape", self.shape) if self.shape else ()
        reference = f"{HERE / file}.py:{function}"
        return ["run", reference, *OPTIONS, "--modes", modes, *shape, *self.options, "--format", "json"]
