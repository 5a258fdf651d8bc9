"""What limits a judgement as a whole, as findings: cut short, one launch, a control that differs, open pairs."""

from collections.abc import Iterator, Sequence

from mlflow_tfexec.records.findings import Finding
from mlflow_tfexec.records.judgement import Comparison
from mlflow_tfexec.records.recording import Recording
from mlflow_tfexec.statistics.noise_floor import smallest_claim
from mlflow_tfexec.units import count, ratio, significant, span


def extent_findings(recording: Recording, launches: int) -> Iterator[Finding]:
    """Warn of a benchmark that was cut short, and of one that rests on a single launch."""
    if recording.end is None or recording.end.status != "complete":
        yield Finding(
            code="partial",
            what="The benchmark was cut short." if recording.end is None else f"It ended as {recording.end.status}.",
            why="What is shown rests on the part that was measured.",
            what_to_try="Run it again for the whole.",
        )
    if launches == 1:
        yield Finding(
            code="one_launch",
            what="All figures come from this launch only.",
            why="A fresh launch often differs by a few percent; the intervals do not contain that.",
            what_to_try="Measure three launches or more.",
        )


def control_findings(
    claimed: Sequence[Comparison], granted: Sequence[Comparison], control: Comparison | None
) -> Iterator[Finding]:
    """Warn of a control that was found to differ from the mode that it repeats.

    Args:
        claimed: what the intervals say of each pair of ranked modes.
        granted: the same pairs in the same order, with verdicts withheld that the noise may have made.
        control: None where there was none.
    """
    smallest = smallest_claim(control)
    if control is None or smallest is None:
        return
    withheld = [f"{c.a} {c.verdict} {c.b}" for c, g in zip(claimed, granted, strict=True) if c.verdict != g.verdict]
    yield Finding(
        code="control_differs",
        what=f"This session is unstable: {control.a} against {control.b} is {_with_interval(control)}.",
        why="Both are the same mode, so this is noise that no interval knows of. "
        f"No difference below {significant(100 * smallest, digits=2)} % is claimed"
        + (f"; withheld: {', '.join(withheld)}." if withheld else "."),
        what_to_try="Measure again on a quieter machine.",
    )


def undecided_findings(comparisons: Sequence[Comparison], launch_s: float | None) -> Iterator[Finding]:
    """Warn of pairs left open; say what would probably decide them, and how long that takes."""
    undecided = [comparison for comparison in comparisons if comparison.verdict == "undecided"]
    if not undecided:
        return
    pairs = [f"{c.a} ? {c.b}{_foreseen(c.launches_needed, launch_s)}" for c in undecided]
    needed = [comparison.launches_needed for comparison in undecided if comparison.launches_needed is not None]
    yield Finding(
        code="undecided",
        what=f"Undecided: {', '.join(pairs)}.",
        why="The interval is too wide to say slower, faster or equivalent. Undecided does not mean the same.",
        what_to_try=f"Measure {max(needed)} launches (--launches {max(needed)})." if needed else None,
    )


def _foreseen(launches: int | None, launch_s: float | None) -> str:
    if launches is None:
        return ""
    time = f", {span(launches * launch_s)} here," if launch_s else ""
    return f" (about {count(launches, 'launch', 'launches')}{time} would decide)"


def _with_interval(comparison: Comparison) -> str:
    if comparison.ci95_low is None or comparison.ci95_high is None:
        return ratio(comparison.ratio)
    low, high = significant(comparison.ci95_low), significant(comparison.ci95_high)
    return f"{ratio(comparison.ratio)} [{low}, {high}]"
