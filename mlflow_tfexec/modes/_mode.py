"""What a mode is: a name, and how to make a call out of a model's step."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from mlflow_tfexec.measurement.call import ModelStep, PreparedCall

Prepare = Callable[[ModelStep], PreparedCall]


class NotApplicable(Exception):  # noqa: N818 - an outcome of one mode, not an error of anybody's
    """A mode has nothing to execute in this model. The text says why; the mode is then skipped."""


@dataclass(frozen=True)
class Mode:
    """One way of executing a model."""

    id: str
    title: str
    """What is called, in the reader's terms."""
    position: int
    """Place in lists and tables."""
    prepare: Prepare
    """Step → a call that has no inputs yet. Runs in the mode's own process, where TensorFlow is imported."""
    default: bool = True
    """Part of the set that is measured when no modes are named."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Environment variables that the mode's process starts with. Flags are added to those that are already set."""
    tasks: tuple[str, ...] = ("inference", "train")
    """Tasks that the mode can execute."""
