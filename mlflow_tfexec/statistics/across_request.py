"""Which benchmarks and modes may be compared with one another."""

from collections.abc import Mapping, Sequence

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.records.differences import Difference
from mlflow_tfexec.records.judgement import Judgement
from mlflow_tfexec.records.recording import Recording
from mlflow_tfexec.records.spec import is_control

_LEAST = 2


def refuse_repeated(recordings: Sequence[Recording]) -> None:
    """Raise RequestError unless there are two benchmarks or more, each of them once."""
    if len(recordings) < _LEAST:
        raise RequestError(f"A comparison takes two benchmarks or more, not {len(recordings)}. Name another one.")
    seen = set()
    for recording in recordings:
        if recording.header.benchmark_id in seen:
            raise RequestError(
                f"Benchmark {recording.header.benchmark_id!r} is named twice. "
                "Compared with itself it tells nothing: name another benchmark."
            )
        seen.add(recording.header.benchmark_id)


def refuse_mixed(differing: Sequence[Difference]) -> None:
    """Raise RequestError where benchmarks differ in more than one of subject, machine and versions.

    Two machines, or two versions of TensorFlow, or two models are what a comparison is for. Of two at a time no ratio
    tells which of them made it.
    """
    weighty = [difference for difference in differing if difference.kind != "other"]
    if len({difference.kind for difference in weighty}) > 1:
        raise RequestError(
            f"These benchmarks differ in more than one thing: {named_by_kind(weighty)}. "
            "A ratio would not tell which of them made it; --allow-mixed compares them all the same."
        )


def refuse_unlike(differing: Sequence[Difference]) -> None:
    """Raise RequestError where benchmarks differ in subject or machine: a regression is of the same on the same."""
    weighty = [difference for difference in differing if difference.kind in {"subject", "machine"}]
    if weighty:
        raise RequestError(
            f"The two benchmarks are not of the same on the same machine: they differ in {named_by_kind(weighty)}. "
            "Name one that is, or give --allow-mixed."
        )


def named_by_kind(differing: Sequence[Difference]) -> str:
    """Write which facts differ, such as `machine (GPU, CPU), versions (TensorFlow)`."""
    labels: dict[str, list[str]] = {}
    for difference in differing:
        labels.setdefault(difference.kind, []).append(difference.label)
    return ", ".join(f"{kind} ({', '.join(of_kind)})" for kind, of_kind in labels.items())


def chosen_modes(
    judgements: Sequence[Judgement], labels: Sequence[str], modes: Sequence[str] | None, relative_to: str | None
) -> dict[str, tuple[int, ...]]:
    """Say for each mode to compare in which benchmarks it was measured as `ok`, by place.

    Where times are relative to a mode, only benchmarks that have this one count, and it is not compared itself.

    Raises:
        RequestError: a mode that was asked for is `ok` in fewer than two, or no mode is `ok` in two.
    """
    asked = dict.fromkeys(summary.mode for judgement in judgements for summary in judgement.modes)
    ranked = [mode for mode in asked if not is_control(mode) and mode != relative_to]
    names = ranked if modes is None else list(dict.fromkeys(modes))
    if relative_to is not None and relative_to in names:
        raise RequestError(f"Mode {relative_to!r} cannot be compared relative to itself. Leave it out.")
    within = range(len(judgements)) if relative_to is None else _places(judgements, relative_to)
    if len(within) < _LEAST:
        raise RequestError(_not_comparable(judgements, labels, str(relative_to)))
    places = {mode: tuple(place for place in _places(judgements, mode) if place in within) for mode in names}
    chosen = {mode: of_mode for mode, of_mode in places.items() if len(of_mode) >= _LEAST}
    for mode in names if modes is not None else ():
        if mode not in chosen:
            raise RequestError(_not_comparable(judgements, labels, mode))
    if not chosen:
        raise RequestError("These benchmarks have no mode in common that was measured in two of them.")
    return chosen


def mode_status(judgement: Judgement, mode: str) -> str:
    """Say in one word or two how *mode* fared: its status, `nothing timed`, or `not asked for`."""
    for summary in judgement.modes:
        if summary.mode == mode:
            return "nothing timed" if summary.status == "ok" and summary.latency_ms is None else summary.status
    return "not asked for"


def _places(judgements: Sequence[Judgement], mode: str) -> tuple[int, ...]:
    if is_control(mode):
        return ()
    return tuple(place for place, judgement in enumerate(judgements) if mode_status(judgement, mode) == "ok")


def _not_comparable(judgements: Sequence[Judgement], labels: Sequence[str], mode: str) -> str:
    if is_control(mode):
        return f"{mode!r} is an A/A control and is not compared. Name the mode that it repeats."
    found: Mapping[str, str] = {
        label: mode_status(judgement, mode) for label, judgement in zip(labels, judgements, strict=True)
    }
    fared = ", ".join(f"{label} {status}" for label, status in found.items())
    return f"Mode {mode!r} was not measured in two of the benchmarks ({fared}). Name another one."
