"""What a check is: a question to the facts, and answers that say what follows."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from mlflow_tfexec.diagnosis._facts import Facts

Status = Literal["ok", "note", "problem", "unknown"]
"""`ok`: works. `note`: works, and changes what a number means. `problem`: does not work. `unknown`: cannot be told."""

Group = Literal["TensorFlow", "GPU", "Machine", "Settings", "Results", "Start"]


@dataclass(frozen=True)
class Result:
    """One thing that was found."""

    status: Status
    found: str
    """What is the case, in one sentence with its values."""
    why: str | None = None
    """Why it matters to a benchmark. None: it goes without saying."""
    do: str | None = None
    """What to do. None: nothing needs doing."""
    blocks: bool = False
    """True: as things are, it is not shown that a benchmark can run."""


@dataclass(frozen=True)
class Check:
    """One question. Its name is its module's."""

    name: str
    group: Group
    position: int
    """Place in what is printed."""
    judge: Callable[[Facts], Iterable[Result]]
    """Facts → results, none where the question does not arise here. Pure."""
