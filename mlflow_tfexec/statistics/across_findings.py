"""What a comparison of benchmarks must warn of, as findings."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from mlflow_tfexec.records.across import ModeAcross, Side
from mlflow_tfexec.records.findings import Finding
from mlflow_tfexec.records.judgement import Comparison, Judgement
from mlflow_tfexec.records.recording import Recording
from mlflow_tfexec.records.spec import is_control
from mlflow_tfexec.statistics.across_request import mode_status
from mlflow_tfexec.statistics.noise_floor import smallest_claim
from mlflow_tfexec.units import ratio, significant, span

# With fewer modes, that all moved alike is no news.
_SEVERAL_MODES = 3

# Ratios that lie closer together than this factor have moved alike.
_ALIKE = 1.1


def across_findings(
    recordings: Sequence[Recording],
    judgements: Sequence[Judgement],
    sides: Sequence[Side],
    modes: Sequence[ModeAcross],
    loads: Mapping[str, Sequence[Comparison]],
    *,
    relative_to: str | None,
) -> Iterator[Finding]:
    """Warn of all that stands between the ratios and what they seem to say, the weightiest first."""
    yield from _extent(recordings, sides)
    yield from _controls(judgements, sides)
    yield from _left_out(judgements, sides, modes, relative_to)
    if relative_to is None and not loads:
        yield from _alike(modes)
    yield _unpaired(sides, relative_to, loads)
    yield from _undecided(modes, loads)


def _extent(recordings: Sequence[Recording], sides: Sequence[Side]) -> Iterator[Finding]:
    cut = [
        side.label
        for recording, side in zip(recordings, sides, strict=True)
        if recording.end is None or recording.end.status != "complete"
    ]
    if cut:
        yield Finding(
            code="partial",
            what=f"Cut short: {', '.join(cut)}.",
            why="What is compared rests on the part that was measured.",
        )
    single = [side.label for side in sides if side.launches == 1]
    if not single:
        return
    if len(single) == len(sides):
        why = "A fresh launch often differs by a few percent; the intervals do not contain that."
    else:
        why = "How much its launches differ is not known: against a benchmark of several launches it has no interval."
    yield Finding(
        code="one_launch",
        what=f"A single launch: {', '.join(single)}.",
        why=why,
        what_to_try="Measure three launches or more of each.",
    )


def _controls(judgements: Sequence[Judgement], sides: Sequence[Side]) -> Iterator[Finding]:
    for judgement, side in zip(judgements, sides, strict=True):
        smallest = smallest_claim(judgement.control)
        if judgement.control is not None and smallest is not None:
            yield Finding(
                code="control_differs",
                what=f"The session of {side.label} is unstable: {judgement.control.a} against {judgement.control.b} is "
                f"{ratio(judgement.control.ratio)}.",
                why="Both are the same mode, so this is noise that no interval knows of. "
                f"No difference below {significant(100 * smallest, digits=2)} % from {side.label} is claimed.",
                what_to_try=f"Measure {side.label} again on a quieter machine.",
            )


def _left_out(
    judgements: Sequence[Judgement], sides: Sequence[Side], modes: Sequence[ModeAcross], relative_to: str | None
) -> Iterator[Finding]:
    """Tell of modes that some benchmark was asked for and that are not compared in all."""
    asked = dict.fromkeys(summary.mode for judgement in judgements for summary in judgement.modes)
    compared = {mode.mode: set(mode.latencies) for mode in modes}
    labels = {side.label for side in sides}
    for name in asked:
        if is_control(name) or name == relative_to or compared.get(name) == labels:
            continue
        statuses = {side.label: mode_status(judgement, name) for side, judgement in zip(sides, judgements, strict=True)}
        missing = [f"{label} {status}" for label, status in statuses.items() if status != "ok"]
        if missing:
            yield Finding(code="mode_left_out", what=f"Is not compared everywhere: {', '.join(missing)}.", mode=name)


def _alike(modes: Sequence[ModeAcross]) -> Iterator[Finding]:
    """Warn where every mode moved the same way by about the same factor: the modes may not be the cause."""
    by_pair: dict[tuple[str, str], list[Comparison]] = {}
    for mode in modes:
        for comparison in mode.comparisons:
            by_pair.setdefault((comparison.a, comparison.b), []).append(comparison)
    for (a, b), comparisons in by_pair.items():
        least, most = (end(comparison.ratio for comparison in comparisons) for end in (min, max))
        verdicts = {comparison.verdict for comparison in comparisons}
        if len(comparisons) < _SEVERAL_MODES or verdicts not in ({"slower"}, {"faster"}):
            continue
        if most / least < _ALIKE:
            yield Finding(
                code="all_moved_alike",
                what=f"Every mode is {verdicts.pop()} in {a} than in {b}: {ratio(least)} to {ratio(most)}.",
                why="What all modes share may be the cause, such as clocks, other work on the machine, or the model.",
                what_to_try=f"Measure {b} once more, or compare relative to a mode (--relative-to eager).",
            )


def _unpaired(sides: Sequence[Side], relative_to: str | None, loads: Mapping[str, Sequence[Comparison]]) -> Finding:
    apart_s = _seconds_apart(sides)
    when = f", {span(apart_s)} apart" if apart_s else ""
    what = f"The benchmarks were measured one after another{when}."
    if relative_to is not None:
        return Finding(
            code="relative",
            what=f"{what} Every time was first divided by that of {relative_to} in the same round.",
            why=f"What changed on the machine in between cancels, and so does a slow-down that {relative_to} shares.",
        )
    if loads:
        return Finding(
            code="reference_loads",
            what=f"{what} Work of our own, the same in each, took {_moved(loads, sides[0].label)}.",
            why="What moves there is the machine and not the model. A verdict is given only where it holds relative to "
            "this work as well.",
        )
    return Finding(
        code="unpaired",
        what=what,
        why="What changed on the machine in between, such as its clocks or neighbours, is in the ratios and not in the "
        "intervals.",
        what_to_try="Compare relative to a mode that should not have changed (--relative-to eager).",
    )


def _moved(loads: Mapping[str, Sequence[Comparison]], first: str) -> str:
    """Say how many times as long each load took as in the first benchmark."""
    by_side: dict[str, list[str]] = {}
    for load, comparisons in loads.items():
        for comparison in comparisons:
            if comparison.b == first:
                by_side.setdefault(comparison.a, []).append(f"{ratio(comparison.ratio)} ({load})")
    return "; ".join(f"{', '.join(told)} as long in {side} as in {first}" for side, told in by_side.items())


def _seconds_apart(sides: Sequence[Side]) -> float | None:
    """Say how long lies between the first and the last beginning. None: a time is not readable."""
    try:
        times = [datetime.fromisoformat(side.created.replace("Z", "+00:00")) for side in sides]
        return (max(times) - min(times)).total_seconds()
    except (ValueError, TypeError):
        # A zone that is missing in one of them cannot be subtracted.
        return None


def _undecided(modes: Sequence[ModeAcross], loads: Mapping[str, Sequence[Comparison]]) -> Iterator[Finding]:
    pairs = [(mode.mode, c) for mode in modes for c in mode.comparisons if c.verdict == "undecided"]
    if not pairs:
        return
    needed = [comparison.launches_needed for _, comparison in pairs if comparison.launches_needed is not None]
    yield Finding(
        code="undecided",
        what=f"Undecided: {', '.join(f'{mode} in {c.a} and {c.b}' for mode, c in pairs)}.",
        why="The interval is too wide to say slower, faster or equivalent, or there is none"
        f"{', or the machine may have made the difference' if loads else ''}. Undecided does not mean the same.",
        what_to_try=f"Measure {max(needed)} launches of each (--launches {max(needed)})." if needed else None,
    )
