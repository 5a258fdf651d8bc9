"""What a kind of model reference is, and what comes out of one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from mlflow_tfexec.measurement.call import ModelStep, PreparedCall
from mlflow_tfexec.records.answers import TrainingFacts
from mlflow_tfexec.records.findings import Finding
from mlflow_tfexec.records.recording import InputFacts
from mlflow_tfexec.records.spec import Spec

LOADING_OPTIONS: Mapping[str, tuple[str, Any]] = MappingProxyType(
    {
        "dtype": ("--dtype", "float32"),
        "weights": ("--weights", None),
        "custom_objects": ("--custom-objects", ()),
        "safe_mode": ("--no-safe-mode", True),
        "endpoint": ("--endpoint", None),
    }
)
"""Field of the spec → its option, and its value when nothing was asked for: what only some kinds heed."""


def call_once(call: PreparedCall) -> Any:
    """Answer as inference does: by one call."""
    return call.run()


def keep_state() -> None:
    """Do nothing: what a call leaves behind, the next may find."""


@dataclass(frozen=True)
class LoadedModel:
    """A model that has been called once, with inputs that fit it."""

    step: ModelStep
    inputs: Callable[[int], tuple[Any, ...]]
    """Number of an input set, from 0 → arguments of the step: tensors, or structures of tensors, on the device.

    Sets have the same structure, shapes and types, and other values; the same number gives the same values.
    """
    input_facts: tuple[InputFacts, ...]
    weights_sha256: str | None
    """None: the model's variables cannot be found from outside."""
    compute_dtype: str | None = None
    """The least precise dtype in which the model computes. None: it does not say, so what was asked for counts."""
    batch_size: int | None = None
    """Items per call, as the inputs have it. None: as asked."""
    inputs_sha256: str | None = None
    """Of the first set of inputs, or of all where they were given. None: it is not known."""
    input_sets: int | None = None
    """Sets of inputs that were given and are used in turn. None: they are made up."""
    findings: tuple[Finding, ...] = ()
    """What the reader must know of how the model was loaded and of its inputs."""
    answer: Callable[[PreparedCall], Any] = call_once
    """Calls a mode so that its answers can be held against the baseline's."""
    reset: Callable[[], None] = keep_state
    """Puts the model's state back to where it was loaded, before each block. Inference changes nothing."""
    text_layers: tuple[str, ...] = ()
    """Layers that the model's inputs of text go into. Empty: there are none, or the model does not show them."""
    subject: Any = None
    """The model itself, as it came from its file or function. None: there is nothing behind the step."""
    rounded: Callable[[PreparedCall], Any] | None = None
    """Answers once more, from weights that are changed by a few roundings. None: the tolerance alone counts."""
    reseeded: Callable[[PreparedCall], Any] | None = None
    """Answers once more, from another seed. None: nothing is drawn at random."""
    float64: Callable[[], Any] | None = None
    """Answers by the same model in float64. None: not asked for, or not possible."""
    training: TrainingFacts | None = None
    """What is minimised and how. None: the task is another."""

    def with_finding(self, finding: Finding) -> "LoadedModel":
        """Give the same model with one more finding."""
        return replace(self, findings=(*self.findings, finding))


@dataclass(frozen=True)
class ReferenceKind:
    """One way to say which model is meant."""

    title: str
    position: int
    """Kinds are asked in this order; the first that recognises a reference has it."""
    recognise: Callable[[str], str | None]
    """Reference → its canonical form, or None if it is of another kind. Imports no TensorFlow.

    Raises RequestError for a reference of this kind that cannot be right.
    """
    load: Callable[[Spec], LoadedModel]
    """Runs in the worker. Raises ValueError (or the model's own error) for what the model refuses."""
    heeds: frozenset[str] = frozenset()
    """Fields of the spec, of those that not every kind heeds, that matter here. See LOADING_OPTIONS."""
    is_fetched: bool = False
    """True: the parent brings the model to this machine first, and `load` is never asked for the reference itself."""
