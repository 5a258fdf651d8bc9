"""What must be said of the modes' answers: those that differ, by how much, and which of two is nearer to the truth."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from mlflow_tfexec.records.answers import UNDETERMINED, OutputDifference
from mlflow_tfexec.records.findings import Finding
from mlflow_tfexec.records.judgement import ModeSummary
from mlflow_tfexec.records.recording import Recording
from mlflow_tfexec.records.spec import BASELINE

# Two distances from the same truth tell something where they are this many times apart.
_NEARER = 2.0

_WITH = {True: "through", False: "without"}


def answer_findings(recording: Recording, summaries: Iterable[ModeSummary]) -> Iterator[Finding]:
    """Warn of answers that differ from the baseline's, and tell how far all are from float64 where that is known."""
    differences = {summary.mode: _differences(recording, summary.mode) for summary in summaries}
    for summary in summaries:
        of_mode = differences[summary.mode]
        if summary.status == "outputs_differ":
            yield _outputs_differ(summary.mode, of_mode, recording.spec.task)
        elif any(output.by_seed for output in of_mode):
            yield _random_training(summary.mode, of_mode)
        yield from _details(recording, summary.mode)
    errors = {
        mode: error
        for mode, of_mode in differences.items()
        if (error := _largest(output.float64_error for output in of_mode)) is not None
    }
    if errors:
        yield _float64(errors)
    yield from _not_finite(differences.get(BASELINE, ()))
    if recording.spec.task == "train":
        sensitivity = _sensitivity(differences.get(BASELINE, ()))
        if sensitivity is not None and sensitivity > UNDETERMINED:
            yield _sensitive(sensitivity)
    else:
        yield from _undetermined(differences)


def _differences(recording: Recording, mode: str) -> list[OutputDifference]:
    return [line.output for line in recording.mode_lines.get(mode, {}).values() if line.output is not None]


def _outputs_differ(mode: str, outputs: Sequence[OutputDifference], task: str) -> Finding:
    answers = "losses and weights after a few steps" if task == "train" else "outputs"
    return Finding(
        code="outputs_differ",
        what=f"Its {answers} differ from {BASELINE}'s{_by_how_much(outputs)}." + _allowed(outputs),
        why="A quicker answer that is another answer is no gain, so this mode is not ranked." + _blame(mode, outputs),
        what_to_try="Check the model's accuracy in this mode before using it.",
        mode=mode,
    )


def _by_how_much(outputs: Sequence[OutputDifference]) -> str:
    absolute = _largest(output.max_abs_error for output in outputs)
    relative = _largest(output.max_rel_error for output in outputs)
    figures = [
        f"{value:.3g} {word}"
        for value, word in ((absolute, "absolute"), (relative, "of the largest value"))
        if value is not None
    ]
    return (f" by up to {', '.join(figures)}" if figures else "") + _where(outputs)


def _where(outputs: Sequence[OutputDifference]) -> str:
    """Name the output that differs most, where there are several."""
    worst = max(
        (output for output in outputs if output.outputs), key=lambda output: output.max_rel_error or 0.0, default=None
    )
    if worst is None or len(worst.outputs) + (worst.outputs_left_out or 0) < 2:  # noqa: PLR2004 - one needs no name
        return ""
    first = worst.outputs[0]
    differing = sum(not one.within_tolerance for one in worst.outputs)
    name = repr(first.name) if first.name else f"number {first.place}"
    return f", most in {name} ({differing} of {len(worst.outputs) + (worst.outputs_left_out or 0)} differ)"


def _allowed(outputs: Sequence[OutputDifference]) -> str:
    for output in outputs:
        if output.atol is not None and output.rtol is not None:
            return f" Allowed: {output.rtol:.3g} of a value plus {output.atol:.3g} of the largest."
    return ""


def _blame(mode: str, outputs: Sequence[OutputDifference]) -> str:
    """Say which of the two is nearer to the model in float64. Empty: not known, or they are about as near."""
    own = _largest(output.float64_error for output in outputs)
    baseline = _largest(output.baseline_float64_error for output in outputs)
    if own is None or baseline is None:
        return ""
    distances = f"{own:.2g} of the largest value, against {baseline:.2g}"
    if own > _NEARER * baseline:
        return f" The model in float64 sides with {BASELINE}: {mode} is farther from it ({distances})."
    if baseline > _NEARER * own:
        return f" The model in float64 sides with {mode}: {BASELINE} is farther from it ({distances})."
    return f" Both are about as far from the model in float64 ({distances})."


def _random_training(mode: str, outputs: Sequence[OutputDifference]) -> Finding:
    return Finding(
        code="random_training",
        what=f"Its losses and weights differ from {BASELINE}'s{_by_how_much(outputs)}, and no more than another seed "
        "makes them differ.",
        why="The model draws random numbers in training, as dropout does, and XLA draws others from the same seed. An "
        "error of this mode that is smaller than that would not be seen.",
        what_to_try="To compare answers closely, train the model once with its rates of dropout at 0.",
        mode=mode,
    )


def _float64(errors: dict[str, float]) -> Finding:
    figures = ", ".join(f"{mode} {error:.2g}" for mode, error in errors.items())
    return Finding(
        code="float64_reference",
        what=f"Largest distance from the same model in float64, of the largest value: {figures}.",
        why="Where two modes differ, the nearer one is the more exact.",
    )


def _not_finite(outputs: Sequence[OutputDifference]) -> Iterator[Finding]:
    """Warn of a baseline whose answers hold NaN or infinity."""
    figures = [one for output in outputs[:1] for one in output.outputs]
    nans = sum(one.baseline_nan_count or 0 for one in figures)
    infinities = sum(one.baseline_inf_count or 0 for one in figures)
    if nans or infinities:
        yield Finding(
            code="outputs_not_finite",
            what=f"{BASELINE}'s answers hold {nans} NaN and {infinities} infinite numbers.",
            why="Such numbers can be computed at another speed than others, and equal NaN prove little.",
            what_to_try="Look at the inputs and weights: random ones may overflow where trained ones do not.",
        )


def _undetermined(differences: Mapping[str, Sequence[OutputDifference]]) -> Iterator[Finding]:
    """Warn of answers of inference that nothing can be held to."""
    figures = [one for of_mode in differences.values() for output in of_mode for one in output.outputs]
    rounding = _largest(one.rounding for one in figures)
    if rounding is None:
        return
    places = {one.place: one.name for one in figures if one.rounding is not None}
    several = len({one.place for one in figures}) > 1
    which = ", ".join(repr(name) if name else f"number {place}" for place, name in sorted(places.items()))
    yield Finding(
        code="outputs_undetermined",
        what=f"A change of the inputs by a few roundings changes {BASELINE}'s own outputs by {rounding:.1%} of the "
        f"largest value{f' (in {which})' if several else ''}. So what another mode answers otherwise is not judged.",
        why="With these weights the model makes any answer of the last digits, as deep networks of random weights do; "
        "another order of additions does the same. That modes answer alike is neither shown nor refuted.",
        what_to_try="Measure with trained weights (--weights imagenet, or a file).",
    )


def _sensitivity(outputs: Sequence[OutputDifference]) -> float | None:
    """Say what a few roundings make of the losses. None: the task is not `train`."""
    return _largest(one.rounding for output in outputs for one in output.outputs if one.name == "loss")


def _sensitive(sensitivity: float) -> Finding:
    return Finding(
        code="sensitive_training",
        what=f"A change of every weight by a few roundings moves the losses of a few steps by {sensitivity:.1%}: modes "
        "cannot be compared by them, nor by most weights.",
        why="With few items in a batch, normalization makes much of little in a deep network. The first loss and "
        "whatever is determined better are compared.",
        what_to_try="Raise --batch-size to compare answers more closely.",
    )


def _details(recording: Recording, mode: str) -> Iterator[Finding]:
    """Tell what `jit_compile="auto"` became."""
    line = recording.final_line(mode)
    resolved = line.details.get("jit_compile") if line is not None and line.details else None
    if resolved is not None:
        yield Finding(
            code="predict_jit",
            what=f"Keras resolved jit_compile to {bool(resolved)}: predict ran {_WITH[bool(resolved)]} XLA.",
            why="By itself Keras takes XLA on a GPU only, and only where every layer supports it.",
            mode=mode,
        )


def _largest(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)
