"""One file = one kind of model reference. A module here exports `KIND`; nothing else needs to know of it."""

import difflib
from functools import cache

from mlflow_tfexec._registry import discover
from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.models._reference import LoadedModel, ReferenceKind
from mlflow_tfexec.models.applications import application_names
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
    by_lower_case = {name.lower(): name for name in application_names()}
    close = difflib.get_close_matches(reference.lower(), by_lower_case, n=3, cutoff=0.6)
    suggestion = f"Did you mean {' or '.join(by_lower_case[name] for name in close)}? " if close else ""
    raise RequestError(
        f"No model named {reference!r}. {suggestion}"
        "Give a name from keras.applications, or path/to/file.py:function that returns a model."
    )


def load_model(spec: Spec) -> LoadedModel:
    """Load the model that *spec* names and make its inputs. Imports TensorFlow."""
    for kind in reference_kinds():
        if kind.recognise(spec.model) is not None:
            return kind.load(spec)
    raise RequestError(f"No model named {spec.model!r}.")
