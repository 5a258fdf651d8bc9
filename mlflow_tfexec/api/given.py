"""What a calling program gives: a model and inputs, as references or as live objects, and the spec that follows."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlflow_tfexec.benchmarking.request import AUTO, RunOptions, read_options
from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.records.spec import LIVE_PREFIX, Spec

if TYPE_CHECKING:
    from mlflow_tfexec.protocol import ModelSource
    from mlflow_tfexec.records.findings import Finding
    from mlflow_tfexec.records.origin import LiveObject
    from mlflow_tfexec.tracking.destination import Destination

_INPUTS = f"{LIVE_PREFIX}inputs"


@dataclass(frozen=True)
class Given:
    """One request of the calling program."""

    spec: Spec
    model: Any
    live: "LiveObject | None"
    """None: the model is a reference."""
    arrays: Any
    """Structure of NumPy arrays. None: there are no inputs, or they are a reference."""


def take(options: RunOptions, model: Any, inputs: Any, *, name: str | None) -> Given:
    """Check what is given and asked for. *options* are all but model and inputs.

    Raises:
        RequestError: something cannot be right.
    """
    from mlflow_tfexec.models import check_loading_options, resolve_reference
    from mlflow_tfexec.models._given import check_inputs
    from mlflow_tfexec.models._live_inputs import arrays_of

    is_reference, is_file = isinstance(model, str | os.PathLike), isinstance(inputs, str | os.PathLike)
    arrays = None if inputs is None or is_file else arrays_of(inputs)
    options = replace(options, inputs=os.fspath(inputs) if is_file else AUTO if arrays is None else _INPUTS)
    spec = read_options(options, count_items=check_inputs if arrays is None else lambda _: _items(arrays))
    if is_reference:
        if name is not None:
            raise RequestError(f"name {name!r} is for a live model, and {os.fspath(model)!r} is named already.")
        spec = spec.model_copy(update={"model": resolve_reference(os.fspath(model))})
        check_loading_options(spec)
        return Given(spec, model, None, arrays)
    from mlflow_tfexec.models._packing import describe, heeded_by, name_of

    live = describe(model)
    spec = spec.model_copy(update={"model": f"{LIVE_PREFIX}{_checked(name) or name_of(model, live)}"})
    check_loading_options(spec, heeds=heeded_by(live))
    return Given(spec, model, live, arrays)


@contextmanager
def brought(given: Given, root: Path, destination: "Destination") -> "Iterator[ModelSource | None]":
    """Put what is live, or lies in MLflow, into the spool at *root*, and remove it in the end, whatever happens.

    Yields:
        None: references say where all of it is.

    Raises:
        RequestError: it cannot be brought there.
        SpoolError: the disk is full.
    """
    from mlflow_tfexec.benchmarking.fetching import fetched
    from mlflow_tfexec.models._live_inputs import pack_inputs
    from mlflow_tfexec.models._packing import pack_model
    from mlflow_tfexec.protocol import ModelSource
    from mlflow_tfexec.spool import place_for_model

    with ExitStack() as stack:
        source: ModelSource | None = None
        if given.live is None:
            source = stack.enter_context(fetched(given.spec, root, lambda: destination))
        if given.live is not None or given.arrays is not None:
            directory = stack.enter_context(place_for_model(root))
            if given.live is not None:
                source = pack_model(given.model, given.live, directory, compiled=given.spec.task == "train")
            if given.arrays is not None:
                path = pack_inputs(given.arrays, directory)
                source = (source or ModelSource()).model_copy(update={"live_inputs": path})
        yield source


def find_caller_findings(spec: Spec) -> "tuple[Finding, ...]":
    """Say what of the calling process bends the result: it may hold the memory of the GPU."""
    from mlflow_tfexec.models._caller import holds_gpu_memory
    from mlflow_tfexec.session.findings import caller_holds_gpu

    return (caller_holds_gpu(),) if spec.device != "cpu" and holds_gpu_memory() else ()


def _items(arrays: Any) -> int | None:
    """Count the items of one call: the first dimension of the first array. None: it has none."""
    from mlflow_tfexec.models._inputs import leaves

    shape = next(leaf.shape for _, leaf in leaves(arrays))
    return int(shape[0]) if shape else None


def _checked(name: str | None) -> str | None:
    if name is not None and not name.strip():
        raise RequestError(f"name {name!r} says nothing. Leave it out, or give the model a name.")
    return name
