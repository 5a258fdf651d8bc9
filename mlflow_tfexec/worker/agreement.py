"""Holding one mode's answers to the baseline's, and the baseline's to its own."""

from pathlib import Path
from typing import Any

from mlflow_tfexec.measurement.call import PreparedCall
from mlflow_tfexec.models._keras_model import compute_dtype
from mlflow_tfexec.models._reference import LoadedModel
from mlflow_tfexec.records.answers import OutputDifference
from mlflow_tfexec.records.spec import BASELINE, Spec
from mlflow_tfexec.worker.answers import (
    Reference,
    load_reference,
    relative_errors,
    save_reference,
    to_arrays,
    to_names,
)
from mlflow_tfexec.worker.outputs import difference, spread


def compare_answers(
    model: LoadedModel, call: PreparedCall, spec: Spec, *, mode: str, directory: Path
) -> tuple[OutputDifference, float | None]:
    """Compare with the baseline's answers, which it leaves in *directory*; its own are compared with its next ones.

    Returns:
        The difference, and the relative spread of the baseline's answers (None in other modes, and of training).
    """
    dtype, classes = model.compute_dtype or compute_dtype(spec.dtype), spec.task == "inference"
    outputs = model.answer(call)
    arrays = to_arrays(outputs)
    if mode != BASELINE:
        reference = load_reference(directory)
        compared = None if reference is None else difference(reference, arrays, dtype=dtype, classes=classes)
        return compared or OutputDifference(), None
    reference = _reference(model, call, outputs, arrays)
    save_reference(reference, directory)
    again = to_arrays(model.answer(call))
    return difference(reference, again, dtype=dtype, classes=classes), spread(arrays) if classes else None


def _reference(model: LoadedModel, call: PreparedCall, outputs: Any, arrays: list[Any]) -> Reference:
    """Put the baseline's answers together with what makes them as uncertain as they are."""
    return Reference(
        arrays=tuple(arrays),
        names=tuple(to_names(outputs)),
        rounding=relative_errors(arrays, to_arrays(model.rounded(call))) if model.rounded else (),
        seeds=relative_errors(arrays, to_arrays(model.reseeded(call))) if model.reseeded else (),
        float64=tuple(to_arrays(model.float64())) if model.float64 else (),
    )
