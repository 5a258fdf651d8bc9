"""What a kind of model reference is, and what comes out of one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mlflow_tfexec.records.recording import InputFacts
from mlflow_tfexec.records.spec import Spec


@dataclass(frozen=True)
class LoadedModel:
    """A model that has been called once, with inputs that fit it."""

    step: Callable[..., Any]
    """One call of the model in inference."""
    inputs: tuple[Any, ...]
    """Arguments of `step`: tensors, or structures of tensors, on the device."""
    input_facts: tuple[InputFacts, ...]
    weights_sha256: str | None
    """None: the model's variables cannot be found from outside."""


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
