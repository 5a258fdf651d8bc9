"""Holding one mode's answers to the baseline's, and the baseline's to its own."""

import dataclasses
from pathlib import Path

from mlflow_tfexec.measurement.call import PreparedCall
from mlflow_tfexec.models._keras_model import compute_dtype
from mlflow_tfexec.models._reference import LoadedModel
from mlflow_tfexec.models._rounding import few_roundings, rounded_inputs
from mlflow_tfexec.modes import all_modes
from mlflow_tfexec.records.answers import UNDETERMINED, OutputDifference
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

# A few roundings of a 16-bit float are nearly a hundredth by themselves.
_AMPLIFIED = 10.0

_TRIALS = 8


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
    reference = Reference(
        arrays=tuple(arrays),
        names=tuple(to_names(outputs)),
        rounding=relative_errors(arrays, to_arrays(model.rounded(call))) if model.rounded else (),
        seeds=relative_errors(arrays, to_arrays(model.reseeded(call))) if model.reseeded else (),
        float64=tuple(to_arrays(model.float64())) if model.float64 else (),
    )
    own = difference(reference, to_arrays(model.answer(call)), dtype=dtype, classes=classes)
    save_reference(dataclasses.replace(reference, repeats=own.within_tolerance is not False), directory)
    return own, spread(arrays) if classes else None


def allow_for_rounding(
    model: LoadedModel, call: PreparedCall, output: OutputDifference, spec: Spec, *, directory: Path
) -> OutputDifference:
    """Judge no answer of *output*, which differs, that a few roundings of the inputs decide in the baseline itself.

    Deep networks of random weights can make any answer of that: of EfficientNetV2M, another class at every change of
    the image's last digits. Another order of additions, which is all that another mode may be, then does the same. A
    softmax that says 1 to one class and 0 to all others changes wholly or not at all, hence several trials.
    """
    reference = load_reference(directory)
    # Where the baseline differs from itself nothing can be laid on roundings, and nothing on the mode either.
    if reference is None or not reference.repeats:
        return output
    dtype = model.compute_dtype or compute_dtype(spec.dtype)
    limit = max(UNDETERMINED, _AMPLIFIED * few_roundings(dtype))
    baseline = all_modes()[BASELINE].prepare(model.step)
    arrays = to_arrays(model.answer(call))
    worst = [0.0] * len(reference.arrays)
    for trial in range(_TRIALS):
        inputs = rounded_inputs(model.inputs(0), dtype, trial)
        if inputs is None:
            break
        answers = to_arrays(baseline.on(inputs).run())
        if len(answers) != len(worst):
            continue
        errors = relative_errors(reference.arrays, answers)
        worst = [max(one, error or 0.0) for one, error in zip(worst, errors, strict=True)]
        rounding = tuple(one if one > limit else None for one in worst)
        output = difference(dataclasses.replace(reference, rounding=rounding), arrays, dtype=dtype)
        if output.within_tolerance is not False:
            break
    return output
