"""One file = one kind of model reference. A module here exports `KIND`; nothing else needs to know of it."""

import difflib
import os.path
import sys
from functools import cache

from mlflow_tfexec._registry import discover
from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.models._custom_objects import check_custom_object, unpickle_custom_objects
from mlflow_tfexec.models._files import check_path
from mlflow_tfexec.models._reference import LOADING_OPTIONS, LoadedModel, ReferenceKind
from mlflow_tfexec.models._task import for_task
from mlflow_tfexec.models._unpacking import load_live
from mlflow_tfexec.models.applications import application_names
from mlflow_tfexec.protocol import ModelSource
from mlflow_tfexec.records.spec import Spec


@cache
def reference_kinds() -> tuple[ReferenceKind, ...]:
    """Every kind of reference, in the order they are asked. Imports no TensorFlow."""
    return tuple(sorted(discover(__name__, "KIND"), key=lambda kind: kind.position))


def resolve_reference(reference: str) -> str:
    """Return the canonical form of a model reference.

    Raises:
        RequestError: no kind recognises it; close names are suggested.
    """
    for kind in reference_kinds():
        canonical = kind.recognise(reference)
        if canonical is not None:
            return canonical
    check_path(reference)
    by_lower_case = {name.lower(): name for name in application_names()}
    close = difflib.get_close_matches(reference.lower(), by_lower_case, n=3, cutoff=0.6)
    suggestion = f"Did you mean {' or '.join(by_lower_case[name] for name in close)}? " if close else ""
    raise RequestError(
        f"No model named {reference!r}. {suggestion}"
        "Give a name from keras.applications, a model's file, path/to/file.py:function, or models:/name/version."
    )


def check_loading_options(spec: Spec, heeds: frozenset[str] | None = None) -> None:
    """Make sure that what was asked for means something for this kind of model: nothing is passed over silently.

    Args:
        spec: what was asked for.
        heeds: fields that matter to the model. None: those of the kind of its reference.

    Raises:
        RequestError: an option has no effect on the model, or a custom object cannot be named so.
    """
    heeded = _kind_of(spec.model).heeds if heeds is None else heeds
    for name, (option, default) in LOADING_OPTIONS.items():
        value = getattr(spec, name)
        if value != default and name not in heeded:
            raise RequestError(f"{option} has no effect on {spec.model!r}: {_WHY[name]}. Leave it out.")
    for text in spec.custom_objects:
        check_custom_object(text)


_WHY = {
    "dtype": "a saved or live model keeps its own dtypes",
    "weights": "only the models of keras.applications get their weights so",
    "custom_objects": "only Keras's own files name their classes",
    "safe_mode": "only Keras's own files hold Python code",
    "endpoint": "only a SavedModel has endpoints",
}


def is_fetched(reference: str) -> bool:
    """Say whether the model of a canonical *reference* lies elsewhere, and has to be fetched before it is loaded."""
    return _kind_of(reference).is_fetched


def load_model(spec: Spec, source: ModelSource | None = None) -> LoadedModel:
    """Load the model that *spec* names, or that was fetched to *source*, and make a step of the task and its inputs.

    Imports TensorFlow.
    """
    return for_task(_load(spec, source), spec)


def _load(spec: Spec, source: ModelSource | None) -> LoadedModel:
    if source is not None and source.live_inputs is not None:
        spec = spec.model_copy(update={"inputs": source.live_inputs})
    if source is None or source.path is None:
        return _kind_of(spec.model).load(spec)
    if source.live is not None:
        return load_live(spec, source)
    if source.import_path is not None and (spec.custom_objects or not spec.safe_mode):
        # Last, and only where its modules are wanted: one named like a library would run in that library's place.
        sys.path.append(source.import_path)
    if source.pickles and not spec.safe_mode:
        unpickle_custom_objects(source.pickles)
    local = spec.model_copy(update={"model": os.path.abspath(source.path)})  # noqa: PTH100 - a text, not a Path
    if source.input_shape is not None and not (spec.input_shape or spec.input_shapes or spec.inputs):
        # For a model that leaves sizes open, or does not say at all what it takes.
        local = local.model_copy(update={"input_shape": source.input_shape})
    try:
        return _kind_of(local.model).load(local)
    except ValueError as error:
        if source.pickles and spec.safe_mode and "--custom-objects" in str(error):
            raise ValueError(
                f"{error}; or let it open the pickle that came with the model, which may run any code: --no-safe-mode"
            ) from error
        raise


def _kind_of(reference: str) -> ReferenceKind:
    for kind in reference_kinds():
        if kind.recognise(reference) is not None:
            return kind
    raise RequestError(f"No model named {reference!r}.")
