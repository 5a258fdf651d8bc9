"""The same mode in two benchmarks or more: ratios, intervals and verdicts that hold together."""

import functools
import itertools
import math
import string
from collections.abc import Mapping, Sequence

from mlflow_tfexec.records.across import Across, ModeAcross, Side
from mlflow_tfexec.records.differences import differences
from mlflow_tfexec.records.judgement import Comparison, Judgement, Scope
from mlflow_tfexec.records.recording import Recording
from mlflow_tfexec.statistics.across_findings import across_findings
from mlflow_tfexec.statistics.across_request import chosen_modes, refuse_mixed, refuse_repeated
from mlflow_tfexec.statistics.comparison import decide, launches_needed
from mlflow_tfexec.statistics.family import Claim, claim_together
from mlflow_tfexec.statistics.judge import judge
from mlflow_tfexec.statistics.looks import ERROR
from mlflow_tfexec.statistics.moderation import Variance
from mlflow_tfexec.statistics.noise_floor import noise_floor, withhold
from mlflow_tfexec.statistics.reference_loads import common_loads, load_name, with_loads, withhold_drift
from mlflow_tfexec.statistics.rounds import Rounds, read_rounds
from mlflow_tfexec.statistics.unpaired import Estimate, estimates, unpaired_spread

_Key = tuple[str, int, int]
"""Mode, place of the later benchmark, place of the earlier one."""


def compare_across(
    recordings: Sequence[Recording],
    *,
    modes: Sequence[str] | None = None,
    margin: float | None = None,
    relative_to: str | None = None,
    error: float = ERROR,
    allow_mixed: bool = False,
) -> Across:
    """Compare the same mode across benchmarks, every two of them; all verdicts hold together with 1 - *error*.

    Launches of different benchmarks have nothing in common that could cancel, so the comparison is unpaired: each
    launch gives one figure per mode, the log of its median over rounds, and the two means over launches are compared
    by Student's t with a variance for each side (Welch, "The generalization of Student's problem when several
    different population variances are involved", Biometrika 34, 1947). Degrees of freedom are those of the side that
    has fewer, which errs on the careful side whatever the two noises are (Scheffé, "Practical solutions of the
    Behrens-Fisher problem", Journal of the American Statistical Association 65, 1970); variances are no less than the
    rounds of a launch leave open (`moderation.launch_variance`), and steadied by those of the other modes of the same
    benchmark (`moderation.moderate`). Intervals are Bonferroni's over all modes
    and pairs, differences Holm's.

    How often identical benchmarks are called different in any mode (simulated; 3 or 5 launches each, one benchmark as
    noisy as the other, or 4 or 10 times noisier): in up to 4.9 % of one mode and 3.8 % of four, and in 0.1 to 2.5 %
    where both are equally noisy. Welch's and Satterthwaite's degrees of freedom would find more, and err in up to
    10.4 % (four modes, 5 launches against 3 noisier ones). A tenth is found in 97 % with 3 launches each and a launch
    noise of 1 %, and in 99 % with 5 and 2 %.

    What no interval over launches contains is drift of the machine between the benchmarks. Where both have timed the
    same reference loads, a verdict stands only if it also holds relative to them (`reference_loads.withhold_drift`);
    where they have not, a finding says so. With *relative_to* most of it cancels: every time is first divided by that
    of this mode in the same round, and what is compared is how many times as long a mode takes as it. A slow-down that
    both share is then not seen. Where a benchmark's own A/A control differs, verdicts below twice that difference are
    withheld.

    Args:
        recordings: two or more, each of a benchmark of its own. Nothing is ever pooled.
        modes: which to compare. None: all that were measured, as `ok`, in two of the benchmarks or more.
        margin: two times that differ by less than this fraction are equivalent. None: the smallest of the benchmarks'.
        relative_to: mode that stands for the machine's speed, such as `eager`. None: times as they are.
        error: chance that any of the verdicts is wrong.
        allow_mixed: True compares also what differs in more than one of subject, machine and versions.

    Raises:
        RequestError: fewer than two benchmarks, the same one twice, no such mode in two of them, a margin that is no
            fraction, or benchmarks that differ in more than one thing.
    """
    refuse_repeated(recordings)
    differing = differences([recording.header for recording in recordings])
    if not allow_mixed:
        refuse_mixed(differing)
    margin = min(recording.spec.margin for recording in recordings) if margin is None else margin
    judgements = [judge(recording, margin=margin) for recording in recordings]
    labels = side_labels(len(recordings))
    chosen = chosen_modes(judgements, labels, modes, relative_to)
    rounds = [with_loads(read_rounds(recording), recording) for recording in recordings]
    sides = tuple(map(_side, labels, recordings, judgements, rounds))
    # A mode of the same round knows of the machine what the loads know, and more.
    loads = common_loads(recordings, differing) if relative_to is None else ()
    compare = functools.partial(_compare, rounds, labels=labels, error=error, margin=margin)
    relative = {load: compare(chosen, relative_to=load_name(load)) for load in loads}
    launches = min(side.launches for side in sides)
    compared = {
        key: withhold_drift(comparison, {load: relative[load][key] for load in loads}, margin=margin, launches=launches)
        for key, comparison in compare(chosen, relative_to=relative_to).items()
    }
    granted = _withhold(compared, judgements, margin=margin)
    across = tuple(_mode_across(mode, chosen[mode], judgements, labels, granted, relative) for mode in chosen)
    of_loads = {
        load: tuple(compare({load_name(load): range(len(rounds))}, relative_to=None).values()) for load in loads
    }
    scope: Scope = "launches" if all(side.launches > 1 for side in sides) else "this launch only"
    return Across(
        sides=sides,
        differences=differing,
        margin=margin,
        relative_to=relative_to,
        scope=scope,
        modes=across,
        reference_loads=of_loads,
        findings=tuple(across_findings(recordings, judgements, sides, across, of_loads, relative_to=relative_to)),
    )


def side_labels(count: int) -> tuple[str, ...]:
    """Name so many benchmarks: `A` to `Z`, then `A2` and so on."""
    letters = string.ascii_uppercase
    return tuple(f"{letters[n % 26]}{n // 26 + 1 if n >= 26 else ''}" for n in range(count))  # noqa: PLR2004 - letters


def _side(label: str, recording: Recording, judgement: Judgement, rounds: Rounds) -> Side:
    return Side(
        label=label,
        benchmark_id=recording.header.benchmark_id,
        model=recording.spec.model,
        created=recording.header.created,
        launches=rounds.launches,
        unstable=judgement.unstable,
    )


def _compare(
    rounds: Sequence[Rounds],
    chosen: Mapping[str, Sequence[int]],
    *,
    labels: Sequence[str],
    relative_to: str | None,
    error: float,
    margin: float,
) -> dict[_Key, Comparison]:
    """Compare every two benchmarks that have a mode, for each mode; *chosen* names the places of those that do."""
    estimated = [
        estimates(of_side, [mode for mode, places in chosen.items() if place in places], relative_to=relative_to)
        for place, of_side in enumerate(rounds)
    ]
    keys = [
        (mode, later, earlier)
        for mode, places in chosen.items()
        for earlier, later in itertools.combinations(sorted(places), 2)
    ]
    pairs = {key: (estimated[key[1]][key[0]], estimated[key[2]][key[0]]) for key in keys}
    centers = {key: a.center - b.center for key, (a, b) in pairs.items()}
    claims = claim_together(centers, {key: unpaired_spread(*pair) for key, pair in pairs.items()}, error=error)
    confidence = 1 - error / len(keys)
    return {
        key: _comparison(key, claims[key], pairs[key], labels, confidence=confidence, margin=margin) for key in keys
    }


def _comparison(
    key: _Key,
    claim: Claim,
    pair: tuple[Estimate, Estimate],
    labels: Sequence[str],
    *,
    confidence: float,
    margin: float,
) -> Comparison:
    interval = claim.interval
    verdict = decide(claim, margin=margin)
    return Comparison(
        a=labels[key[1]],
        b=labels[key[2]],
        ratio=math.exp(claim.center),
        ci95_low=interval[0] if interval else None,
        ci95_high=interval[1] if interval else None,
        verdict=verdict,
        launches_needed=_foreseen(claim, *pair, confidence, margin) if verdict == "undecided" else None,
    )


def _foreseen(claim: Claim, a: Estimate, b: Estimate, confidence: float, margin: float) -> int | None:
    """Say how many launches of each side would probably decide. None: not to be foreseen."""
    if a.variance is None or b.variance is None:
        return None
    both = Variance(
        a.variance.value + b.variance.value, min(a.variance.degrees_of_freedom, b.variance.degrees_of_freedom)
    )
    fewer = min(a.launches, b.launches)
    return launches_needed(claim.center, both, fewer, confidence=confidence, margin=margin)


def _withhold(
    compared: Mapping[_Key, Comparison], judgements: Sequence[Judgement], *, margin: float
) -> dict[_Key, Comparison]:
    """Take back the verdicts that the noise of either benchmark's session may have made."""
    granted = {}
    for key, comparison in compared.items():
        controls = (judgements[key[1]].control, judgements[key[2]].control)
        worse = max(controls, key=lambda control: noise_floor(control) or 0.0)
        (granted[key],) = withhold([comparison], worse, margin=margin)
    return granted


def _mode_across(
    mode: str,
    places: Sequence[int],
    judgements: Sequence[Judgement],
    labels: Sequence[str],
    compared: Mapping[_Key, Comparison],
    relative: Mapping[str, Mapping[_Key, Comparison]],
) -> ModeAcross:
    summaries = {labels[place]: judgements[place].mode(mode).latency_ms for place in places}
    return ModeAcross(
        mode=mode,
        latencies={label: latency for label, latency in summaries.items() if latency is not None},
        comparisons=_of_mode(mode, compared),
        relative_to_loads={load: _of_mode(mode, of_load) for load, of_load in relative.items()},
    )


def _of_mode(mode: str, compared: Mapping[_Key, Comparison]) -> tuple[Comparison, ...]:
    return tuple(comparison for key, comparison in compared.items() if key[0] == mode)
