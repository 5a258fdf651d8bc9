"""From a recording to all that is claimed of it."""

import itertools
import math
from collections.abc import Mapping, Sequence

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.records.judgement import Comparison, Judgement, Latency, ModeSummary, Ratio, Scope
from mlflow_tfexec.records.recording import MEASURED_STATUSES, ModeLine, Recording
from mlflow_tfexec.records.spec import BASELINE, controlled_mode, is_control
from mlflow_tfexec.statistics.caveats import benchmark_findings, machine_findings, mode_findings
from mlflow_tfexec.statistics.comparison import compare, simultaneous_confidence
from mlflow_tfexec.statistics.estimates import CONFIDENCE, summarize_latency
from mlflow_tfexec.statistics.ordering import fastest, ordering_line
from mlflow_tfexec.statistics.rounds import Rounds, read_rounds


def judge(recording: Recording, *, margin: float | None = None) -> Judgement:
    """Judge a benchmark: estimates, comparisons, ordering and findings. The same recording gives the same judgement.

    The comparisons of all ranked modes hold together with 95 %, and so do their speed-ups; the control's interval
    is a plain 95 % one. Ranked are the modes asked for that ended as `ok` and are not controls.

    Args:
        recording: whole or cut short.
        margin: two modes whose times differ by less than this fraction are equivalent. None: the recording's own.

    Raises:
        RequestError: the margin is negative, infinite or not a number.
    """
    margin = _checked(recording.spec.margin if margin is None else margin)
    rounds = read_rounds(recording)
    modes = tuple(dict.fromkeys(recording.spec.modes))
    latencies = {mode: summarize_latency(rounds, mode) for mode in modes}
    endings = {mode: recording.final_line(mode) or _not_reached(mode) for mode in modes}
    measured = [mode for mode in modes if endings[mode].status in MEASURED_STATUSES and latencies[mode] is not None]
    # Quick and wrong is not quick: a mode with other outputs computes something else, and has no place in the order.
    comparable = [mode for mode in measured if endings[mode].status == "ok" and not is_control(mode)]
    ranked = slowest_first({mode: latencies[mode] for mode in comparable})
    pairs = list(itertools.combinations(ranked, 2))
    confidence = simultaneous_confidence(len(pairs))
    comparisons = tuple(compare(rounds, a, b, confidence=confidence, margin=margin) for a, b in pairs)
    control = _control(rounds, measured, margin=margin)
    summaries = tuple(
        ModeSummary(
            mode=mode,
            status=endings[mode].status,
            reason=endings[mode].reason,
            latency_ms=latencies[mode],
            speedup=_speedup(rounds, mode, measured, confidence=confidence),
            log_tail=endings[mode].log_tail,
        )
        for mode in modes
    )
    scope: Scope = "this launch only" if rounds.launches <= 1 else "launches"
    return Judgement(
        benchmark_id=recording.header.benchmark_id,
        model=recording.spec.model,
        ordering=ordering_line(ranked, comparisons),
        fastest=fastest(ranked, comparisons),
        scope=scope,
        modes=summaries,
        comparisons=comparisons,
        control=control,
        findings=(
            *recording.findings,
            *benchmark_findings(recording, rounds.launches, comparisons, control),
            *machine_findings(recording),
            *mode_findings(recording, summaries),
        ),
    )


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
            return compare(rounds, controlled_mode(mode), mode, confidence=CONFIDENCE, margin=margin)
    return None


def _speedup(rounds: Rounds, mode: str, measured: Sequence[str], *, confidence: float) -> Ratio | None:
    """Baseline's time over this mode's. None for the baseline, and where either was not measured."""
    if mode == BASELINE or mode not in measured or BASELINE not in measured:
        return None
    # The margin decides a verdict only, and a speed-up has none.
    comparison = compare(rounds, BASELINE, mode, confidence=confidence, margin=0)
    return Ratio(ratio=comparison.ratio, ci95_low=comparison.ci95_low, ci95_high=comparison.ci95_high)
