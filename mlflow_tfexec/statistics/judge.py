"""From a recording to all that is claimed of it."""

import dataclasses
import math
from collections.abc import Mapping, Sequence

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.records.judgement import Comparison, Judgement, Latency, ModeSummary, Ratio, Scope
from mlflow_tfexec.records.recording import ModeLine, Recording, can_be_ranked
from mlflow_tfexec.records.spec import BASELINE, controlled_mode, is_control
from mlflow_tfexec.statistics.answer_findings import answer_findings
from mlflow_tfexec.statistics.caveats import machine_findings, mode_findings
from mlflow_tfexec.statistics.comparison import compare_all, compare_pair
from mlflow_tfexec.statistics.compile_findings import compile_findings
from mlflow_tfexec.statistics.estimates import summarize_latency
from mlflow_tfexec.statistics.letters import group_letters
from mlflow_tfexec.statistics.limits import control_findings, extent_findings, undecided_findings
from mlflow_tfexec.statistics.looks import ERROR, error_at
from mlflow_tfexec.statistics.noise_floor import noise_floor, withhold
from mlflow_tfexec.statistics.ordering import best_set, fastest, ordering_line
from mlflow_tfexec.statistics.planning import launch_seconds
from mlflow_tfexec.statistics.rounds import Rounds, read_rounds
from mlflow_tfexec.statistics.stability_findings import stability_findings


def judge(recording: Recording, *, margin: float | None = None) -> Judgement:
    """Judge a benchmark: estimates, comparisons, ordering and findings. The same recording gives the same judgement.

    All verdicts on ranked modes hold together with 95 %, however many looks at the data the benchmark had, and so do
    the speed-ups; the control's interval is a plain 95 % one. Ranked are the modes asked for that ended as `ok` and
    are not controls. Where the control differs from the mode that it repeats, verdicts below twice its difference are
    withheld.

    Args:
        recording: whole or cut short.
        margin: two modes whose times differ by less than this fraction are equivalent. None: the recording's own.

    Raises:
        RequestError: the margin is negative, infinite or not a number.
    """
    margin = _checked(recording.spec.margin if margin is None else margin)
    rounds = read_rounds(recording)
    summaries = _summaries(recording, rounds)
    measured = [mode for mode, summary in summaries.items() if summary.is_measured]
    # Quick and wrong is not quick: a mode with other outputs computes something else, and has no place in the order.
    comparable = [mode for mode in measured if can_be_ranked(mode, summaries[mode].status)]
    ranked = slowest_first({mode: summaries[mode].latency_ms for mode in comparable})
    error = error_at(rounds.launches, recording.spec.looks)
    claimed = compare_all(rounds, ranked, error=error, margin=margin)
    control = _control(rounds, measured, margin=margin)
    comparisons = withhold(claimed, control, margin=margin)
    letters = group_letters(ranked, comparisons)
    speedups = _speedups(rounds, measured, claimed, error=error)
    modes = tuple(
        dataclasses.replace(summary, speedup=speedups.get(mode), letters=letters.get(mode))
        for mode, summary in summaries.items()
    )
    launch_s = launch_seconds(recording)
    scope: Scope = "this launch only" if rounds.launches <= 1 else "launches"
    return Judgement(
        benchmark_id=recording.header.benchmark_id,
        model=recording.spec.model,
        ordering=ordering_line(ranked, comparisons),
        fastest=fastest(ranked, comparisons),
        best_set=best_set(ranked, comparisons),
        scope=scope,
        modes=modes,
        comparisons=comparisons,
        control=control,
        unstable=noise_floor(control) is not None,
        launch_s=launch_s,
        findings=(
            *recording.findings,
            *extent_findings(recording, rounds.launches),
            *control_findings(claimed, comparisons, control),
            # A verdict that was withheld is told with the control; it is not for want of launches.
            *undecided_findings(
                [g for c, g in zip(claimed, comparisons, strict=True) if c.verdict == g.verdict], launch_s
            ),
            *machine_findings(recording),
            *stability_findings(rounds),
            *mode_findings(recording, modes),
            *answer_findings(recording, modes),
            *compile_findings(recording),
        ),
    )


def _summaries(recording: Recording, rounds: Rounds) -> dict[str, ModeSummary]:
    """Summarize each mode that was asked for, once, in the order asked for."""
    found = {}
    for mode in dict.fromkeys(recording.spec.modes):
        ending = recording.final_line(mode) or _not_reached(mode)
        found[mode] = ModeSummary(
            mode=mode,
            status=ending.status,
            reason=ending.reason,
            latency_ms=summarize_latency(rounds, mode),
            speedup=None,
            log_tail=ending.log_tail,
            outputs=ending.output.outputs if ending.output is not None else (),
        )
    return found


def slowest_first(latencies: Mapping[str, Latency | None]) -> list[str]:
    """Sort the modes that have a latency by its median, slowest first, ties by name."""
    medians = {mode: latency.median for mode, latency in latencies.items() if latency is not None}
    return sorted(medians, key=lambda mode: (-medians[mode], mode))


def _checked(margin: float) -> float:
    if not (math.isfinite(margin) and margin >= 0):
        raise RequestError(f"The margin {margin} is not a fraction. Give 0 or more, such as 0.05 for 5 %.")
    return margin


def _not_reached(mode: str) -> ModeLine:
    """Stand in for the line of a mode that was asked for and of which nothing is recorded."""
    return ModeLine(launch=0, mode=mode, status="skipped", reason="not reached")


def _control(rounds: Rounds, measured: Sequence[str], *, margin: float) -> Comparison | None:
    """Compare the first measured control with the mode it repeats. None: no such pair was measured."""
    for mode in measured:
        if is_control(mode) and controlled_mode(mode) in measured:
            return compare_pair(rounds, controlled_mode(mode), mode, error=ERROR, margin=margin)
    return None


def _speedups(
    rounds: Rounds, measured: Sequence[str], comparisons: Sequence[Comparison], *, error: float
) -> dict[str, Ratio]:
    """Give the baseline's time over each other measured mode's.

    A ranked mode's is that of its comparison. A mode that is not ranked gets an interval as wide as if it were one of
    the family.
    """
    if BASELINE not in measured:
        return {}
    ranked = {c.b: Ratio(c.ratio, c.ci95_low, c.ci95_high) for c in comparisons if c.a == BASELINE}
    ranked |= {c.a: _inverse(c) for c in comparisons if c.b == BASELINE}
    apart = [mode for mode in measured if mode != BASELINE and mode not in ranked]
    for mode in apart:
        # The margin decides a verdict only, and a speed-up has none.
        c = compare_pair(rounds, BASELINE, mode, error=error / max(1, len(comparisons)), margin=0)
        ranked[mode] = Ratio(c.ratio, c.ci95_low, c.ci95_high)
    return ranked


def _inverse(comparison: Comparison) -> Ratio:
    low, high = comparison.ci95_low, comparison.ci95_high
    return Ratio(1 / comparison.ratio, 1 / high if high else None, 1 / low if low else None)
