"""Is this benchmark slower than that one: the gate for continuous integration."""

from collections.abc import Mapping, Sequence

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.records.across import Across, ModeAcross
from mlflow_tfexec.records.differences import differences
from mlflow_tfexec.records.gate import Gate, ModeOutcome, Outcome
from mlflow_tfexec.records.judgement import Comparison, Judgement
from mlflow_tfexec.records.recording import Recording, can_be_ranked
from mlflow_tfexec.records.spec import is_control
from mlflow_tfexec.statistics.across import compare_across
from mlflow_tfexec.statistics.across_request import mode_status, refuse_repeated, refuse_unlike
from mlflow_tfexec.statistics.judge import judge
from mlflow_tfexec.statistics.reference_loads import about_as_close, closest, log_width
from mlflow_tfexec.units import ratio, significant

# What a mode that ran before can do now that is worse than to be slower.
_LOST = frozenset({"outputs_differ", "trace_failed", "compile_failed", "run_failed", "oom", "timeout", "crashed"})


def check_against(
    new: Recording,
    base: Recording,
    *,
    modes: Sequence[str] | None = None,
    margin: float | None = None,
    relative_to: str | None = None,
    allow_mixed: bool = False,
) -> Gate:
    """Say of each mode whether *new* is slower than *base* beyond the margin.

    All outcomes rest on the verdicts of `compare_across`, which hold together; no point estimate decides alone.

    - `regression`: the verdict is `slower` (the whole simultaneous interval of new over base lies above 1) and the
      ratio itself is above 1 + margin. Or the mode was `ok` in *base* and has failed in *new*, or its outputs differ.
    - `passed`: the upper end of the interval is at most 1 + margin, so that a slow-down beyond the margin is ruled
      out; this holds whenever the verdict is `equivalent` or `faster`.
    - `undecided`: all else. The interval is too wide or missing, or the mode is slower and perhaps within the margin,
      or a session is so unstable that the verdict was withheld.

    Where both benchmarks have timed the same reference loads, the first two must also hold relative to the load that
    follows the mode best. Where the interval relative to that is the narrower one, it is the one that counts, since the
    machine moved more than the mode. Of the times as they are, and of those relative to the other loads, none may say
    the opposite, and where their interval is about as narrow the ratio must lie on the same side of 1 + margin. What
    the machine's own change may explain is undecided.

    Args:
        new: the benchmark to check.
        base: the one to hold it against.
        modes: which to check. None: those that are `ok` in *base* and that *new* was asked for.
        margin: slow-downs up to this fraction are let through. None: the smaller of the two benchmarks' own.
        relative_to: mode by whose time in the same round every time is divided first, so that the machine's drift
            between the benchmarks cancels; what slows this mode as well is then not seen. None: times as they are.
        allow_mixed: True checks also benchmarks of unlike subjects or machines.

    Raises:
        RequestError: the same benchmark twice, benchmarks of unlike subjects or machines, or no mode to check.
    """
    refuse_repeated([base, new])
    if not allow_mixed:
        refuse_unlike(differences([base.header, new.header]))
    margin = min(base.spec.margin, new.spec.margin) if margin is None else margin
    before, now = judge(base, margin=margin), judge(new, margin=margin)
    names = _names(before, now, modes, relative_to)
    timed = [mode for mode in names if mode_status(now, mode) == "ok"]
    # What may differ was settled above.
    across = (
        compare_across([base, new], modes=timed, margin=margin, relative_to=relative_to, allow_mixed=True)
        if timed
        else None
    )
    outcomes = {mode: _untimed(mode, now) for mode in names if mode not in timed}
    if across is not None:
        outcomes |= {mode.mode: _timed(mode, across) for mode in across.modes}
    return Gate(
        model=new.spec.model,
        new_id=new.header.benchmark_id,
        base_id=base.header.benchmark_id,
        margin=margin,
        relative_to=relative_to,
        modes=tuple(outcomes[mode] for mode in names),
        findings=across.findings if across is not None else (),
    )


def _names(before: Judgement, now: Judgement, modes: Sequence[str] | None, relative_to: str | None) -> list[str]:
    """Name the modes to check, in the order asked for."""
    asked = {mode.mode for mode in now.modes}
    can_be = [
        mode.mode
        for mode in before.modes
        if can_be_ranked(mode.mode, mode_status(before, mode.mode)) and mode.mode in asked and mode.mode != relative_to
    ]
    names = can_be if modes is None else list(dict.fromkeys(modes))
    for mode in names:
        if mode not in can_be:
            raise RequestError(
                f"Mode {mode!r} cannot be checked (before: {_fared(before, mode)}, now: {_fared(now, mode)}). "
                f"Can be: {', '.join(can_be) or 'none'}."
            )
    if not names:
        raise RequestError("These benchmarks have no mode in common that the earlier one measured.")
    return names


def _fared(judgement: Judgement, mode: str) -> str:
    return "an A/A control" if is_control(mode) else mode_status(judgement, mode)


def _untimed(mode: str, now: Judgement) -> ModeOutcome:
    status, reason = mode_status(now, mode), now.mode(mode).reason
    told = f"{status} now{f' ({reason})' if reason else ''}"
    outcome: Outcome = "regression" if status in _LOST else "undecided"
    return ModeOutcome(mode=mode, outcome=outcome, reason=f"was ok before and is {told}", comparison=None)


def _timed(mode: ModeAcross, across: Across) -> ModeOutcome:
    (comparison,) = mode.comparisons
    relative = {load: comparisons[0] for load, comparisons in mode.relative_to_loads.items()}
    withholding = any(side.unstable for side in across.sides)
    outcome, word = rule(comparison, relative, margin=across.margin, withholding=withholding, launches=across.launches)
    leading, texts = comparison, [_with_interval(comparison)]
    following = closest(relative)
    if following is not None:
        beside = f"{_with_interval(relative[following])} relative to the {following} load"
        if _says_less(comparison, relative[following]):
            leading, texts = relative[following], [beside, f"{_with_interval(comparison)} as it is"]
        else:
            texts.append(beside)
    needed = leading.launches_needed if outcome == "undecided" else None
    more = f"; about {needed} launches of each would decide it" if needed else ""
    figures = texts[0] + "".join(f" ({text})" for text in texts[1:])
    return ModeOutcome(mode=mode.mode, outcome=outcome, reason=f"{word}, {figures}{more}", comparison=comparison)


def rule(
    comparison: Comparison, relative: Mapping[str, Comparison], *, margin: float, withholding: bool, launches: int
) -> tuple[Outcome, str]:
    """Turn a comparison of now over before into an outcome and the words for it; see `check_against`.

    Args:
        comparison: with its verdict as granted.
        relative: load → the same relative to this reference load. Empty: there is none.
        margin: as a fraction.
        withholding: True where a session is unstable: then the verdict counts, and no interval beside it.
        launches: of the benchmark that has fewer.
    """
    outcome, word = _as_it_is(comparison, margin=margin, withholding=withholding)
    following = closest(relative)
    if following is None:
        return outcome, word
    beside = relative[following]
    if outcome == "undecided" and _says_less(comparison, beside) and not withholding:
        outcome, word = _as_it_is(beside, margin=margin, withholding=False)
    if outcome == "undecided":
        by_machine = _above(comparison) and not _above(beside) and not withholding
        return outcome, "undecided, as the machine may have changed" if by_machine else word
    confirmed, _ = _as_it_is(beside, margin=margin, withholding=withholding)
    readings = (comparison, *relative.values())
    seen = {_as_it_is(one, margin=margin, withholding=withholding)[0] for one in readings}
    sides = {one.ratio > 1 + margin for one in about_as_close(readings, log_width(beside), launches=launches)}
    if confirmed == outcome and sides == {outcome == "regression"} and not {"regression", "passed"} <= seen:
        return outcome, word
    return "undecided", "undecided, as the machine may have changed"


def _as_it_is(comparison: Comparison, *, margin: float, withholding: bool) -> tuple[Outcome, str]:
    if comparison.verdict in {"equivalent", "faster"}:
        return "passed", comparison.verdict
    if comparison.verdict == "slower" and comparison.ratio > 1 + margin:
        return "regression", "slower"
    high = comparison.ci95_high
    if high is not None and high <= 1 + margin and not withholding:
        return "passed", f"not slower beyond {100 * margin:.6g} %"
    return "undecided", "slower, perhaps within the margin" if comparison.verdict == "slower" else "undecided"


def _says_less(comparison: Comparison, beside: Comparison) -> bool:
    """Say whether the machine moved more than the mode did relative to the load, so that the times say less."""
    return log_width(comparison) > log_width(beside)


def _above(comparison: Comparison) -> bool:
    return comparison.ci95_low is not None and comparison.ci95_low > 1


def _with_interval(comparison: Comparison) -> str:
    if comparison.ci95_low is None or comparison.ci95_high is None:
        return f"{ratio(comparison.ratio)} without an interval"
    low, high = significant(comparison.ci95_low), significant(comparison.ci95_high)
    return f"{ratio(comparison.ratio)} [{low}, {high}]"
