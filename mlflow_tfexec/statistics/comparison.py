"""Two modes against each other: ratio, interval, verdict, and how many launches a verdict would take."""

import bisect
import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from mlflow_tfexec.records.judgement import Comparison, Verdict
from mlflow_tfexec.statistics.estimates import launch_log_times
from mlflow_tfexec.statistics.family import Claim, claim_together
from mlflow_tfexec.statistics.intervals import Spread, half_width, round_spread
from mlflow_tfexec.statistics.looks import ERROR
from mlflow_tfexec.statistics.moderation import Variance, launch_variance, moderate
from mlflow_tfexec.statistics.pairing import Pair, launch_log_ratios, paired_log_ratios
from mlflow_tfexec.statistics.rounds import Rounds

# Beyond this nobody waits, and the present spread says too little about so far a future.
MAX_LAUNCHES_FORESEEN = 100


def compare_all(rounds: Rounds, ranked: Sequence[str], *, error: float, margin: float) -> tuple[Comparison, ...]:
    """Compare every two of *ranked*, paired round by round, on the log scale; all verdicts hold together.

    Each launch gives one figure per pair: the median over rounds of log a - log b, in which the drift that both modes
    share cancels. The ratio is the exponential of the mean over launches. Its interval is Student's over launches
    with moderated variances (`moderation.moderate`) or, where the whole recording holds one launch, a block bootstrap
    over that launch's rounds. A pair seen together in one launch of several has no interval.

    Args:
        rounds: each mode must have at least one latency that counts.
        ranked: the modes; the first of two in this order is the one above the line.
        error: chance that any of the verdicts is wrong.
        margin: practical equivalence, as a fraction.
    """
    return _compare(rounds, list(itertools.combinations(ranked, 2)), error=error, margin=margin)


def compare_pair(rounds: Rounds, a: str, b: str, *, error: float, margin: float) -> Comparison:
    """Compare two modes that stand apart from the ranking, with an interval of their own that borrows from nobody."""
    (comparison,) = _compare(rounds, [(a, b)], error=error, margin=margin)
    return comparison


def decide(claim: Claim, *, margin: float) -> Verdict:
    """Read the verdict off what is claimed of a log ratio.

    `equivalent`: its interval lies inside ±log(1 + margin), which takes evidence: a wide interval around 0 does not.
    `slower`, `faster`: it differs from 0. `undecided`: neither, or there is no interval.
    """
    if claim.half_width is None:
        return "undecided"
    if abs(claim.center) + claim.half_width <= math.log(1 + margin):
        return "equivalent"
    if not claim.differs:
        return "undecided"
    return "slower" if claim.center > 0 else "faster"


def launches_needed(
    center: float, variance: Variance, launches: int, *, confidence: float, margin: float
) -> int | None:
    """Say how many launches, measured without a look in between, would decide, should all stay what it is.

    Args:
        center: log ratio of the pair.
        variance: of the log ratio over launches, moderated or not.
        launches: those that it rests on.
        confidence: of the pair's two-sided interval.
        margin: practical equivalence, as a fraction.

    Returns:
        None: more than 100 would be needed.
    """
    borrowed = variance.degrees_of_freedom - (launches - 1)

    def decides(future: int) -> bool:
        spread = Spread(math.sqrt(variance.value / future), future - 1 + borrowed)
        width = half_width(spread, confidence=confidence)
        return decide(Claim(center, width, differs=abs(center) > width), margin=margin) != "undecided"

    # More launches narrow the interval, and a narrower one decides whatever a wider one did.
    futures = range(launches + 1, MAX_LAUNCHES_FORESEEN + 1)
    enough = bisect.bisect_left(futures, True, key=decides)
    return futures[enough] if enough < len(futures) else None


def _compare(rounds: Rounds, pairs: Sequence[Pair], *, error: float, margin: float) -> tuple[Comparison, ...]:
    figures = launch_log_ratios(rounds, pairs)
    centers = {
        pair: float(np.mean(of_pair.medians)) if len(of_pair.medians) else _unpaired(rounds, *pair)
        for pair, of_pair in figures.items()
    }
    variances = moderate(
        {pair: launch_variance(of_pair) for pair, of_pair in figures.items() if len(of_pair.medians) > 1}
    )
    launches = {pair: len(of_pair.medians) for pair, of_pair in figures.items()}
    if rounds.launches == 1:
        spreads = {pair: _round_spread(rounds, pair) for pair in pairs}
    else:
        spreads = {pair: _launch_spread(variances.get(pair), launches[pair]) for pair in pairs}
    claims = claim_together(centers, spreads, error=error)
    return tuple(_comparison(pair, claims, variances, launches, margin=margin) for pair in pairs)


def _unpaired(rounds: Rounds, a: str, b: str) -> float:
    """Give the log ratio of two modes that were never measured in the same round: an estimate without an interval."""
    return float(np.mean(launch_log_times(rounds, a)) - np.mean(launch_log_times(rounds, b)))


def _round_spread(rounds: Rounds, pair: Pair) -> Spread | None:
    series = paired_log_ratios(rounds, *pair)
    return round_spread(series[0]) if series else None


def _launch_spread(variance: Variance | None, launches: int) -> Spread | None:
    if variance is None:
        return None
    return Spread(math.sqrt(variance.value / launches), variance.degrees_of_freedom)


def _comparison(
    pair: Pair,
    claims: Mapping[Pair, Claim],
    variances: Mapping[Pair, Variance],
    launches: Mapping[Pair, int],
    *,
    margin: float,
) -> Comparison:
    claim = claims[pair]
    interval = claim.interval
    verdict = decide(claim, margin=margin)
    foreseen = None
    if verdict == "undecided" and pair in variances:
        # A new benchmark of a fixed number of launches has the whole error to itself.
        confidence = 1 - ERROR / len(claims)
        foreseen = launches_needed(claim.center, variances[pair], launches[pair], confidence=confidence, margin=margin)
    return Comparison(
        a=pair[0],
        b=pair[1],
        ratio=math.exp(claim.center),
        ci95_low=interval[0] if interval else None,
        ci95_high=interval[1] if interval else None,
        verdict=verdict,
        launches_needed=foreseen,
    )
