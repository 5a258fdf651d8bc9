"""How much launches differ from each other and rounds within them, and what that says of where to spend time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Components:
    """Variances of the log ratio of one pair: launches drawn at random, rounds drawn at random within each."""

    within: float
    """Of one round around its launch's mean, T1²."""
    between: float
    """Of a launch's true mean around the pair's, T2². 0: launches differ no more than their rounds explain."""

    def variance_of_mean(self, launches: float, rounds: float) -> float:
        """Give the variance of the mean over *launches* launches of the mean over *rounds* rounds each."""
        return (self.between + self.within / rounds) / launches


def variance_components(series: Sequence[NDArray[np.float64]]) -> Components | None:
    """Split the variance of paired log ratios into the part within launches and the part between them.

    The estimators are those of Kalibera and Jones, "Rigorous benchmarking in reasonable time", ISMM 2013, for two
    levels: T1² = S1², the variance of the rounds around their launch's mean, and T2² = S2² - S1²/R, where S2² is the
    variance of the launches' means and R the number of rounds. (The first print subtracted T², not S², of the level
    below; with two levels the corrected formula is the same.) They are the ANOVA estimators of the one-way random
    effects model.

    Where launches differ in their number of rounds, S1² is pooled by degrees of freedom and R is the harmonic mean, so
    that both estimators stay unbiased while each launch weighs the same, as it does in a verdict: Thomas and
    Hultquist, "Interval estimation for the unbalanced case of the one-way random effects model", Annals of
    Statistics 6 (1978).

    Args:
        series: one array of log ratios per launch; empty ones do not count.

    Returns:
        None with fewer than two launches, or where no launch has two rounds. `between` is never below 0: where the
        unbiased estimate is, 0 stands for it, which makes it a little too large on average.
    """
    launches = [launch for launch in series if len(launch)]
    degrees_of_freedom = sum(len(launch) - 1 for launch in launches)
    if len(launches) < 2 or degrees_of_freedom == 0:  # noqa: PLR2004 - one launch does not differ from any
        return None
    # Differences from a value of their own keep equal values exactly equal; the mean of them may round away.
    centered = [launch - launch[0] for launch in launches]
    within = sum(len(launch) * float(np.var(launch)) for launch in centered) / degrees_of_freedom
    means = [float(np.mean(launch - launches[0][0])) for launch in launches]
    mean_share = float(np.mean([1 / len(launch) for launch in launches]))
    between = float(np.var(np.array(means) - means[0], ddof=1)) - within * mean_share
    return Components(within=within, between=max(0.0, between))


def optimal_rounds(components: Components, *, launch_cost_s: float, round_cost_s: float) -> int | None:
    """Say how many rounds per launch give the smallest variance of the mean for a given total time.

    The time of all launches is launches * (launch cost + rounds * round cost), and the variance of the mean is
    (T2² + T1²/rounds) / launches: their product is smallest at sqrt(launch cost / round cost * T1²/T2²), rounded up
    (Kalibera and Jones, "Rigorous benchmarking in reasonable time", ISMM 2013).

    Args:
        components: of the pair.
        launch_cost_s: seconds that a launch takes beside its rounds, 0 or more.
        round_cost_s: seconds that one more round takes, above 0.

    Returns:
        1 or more. None: launches do not differ beyond what their rounds explain, so no number of rounds is too many.
    """
    gain, price = launch_cost_s * components.within, round_cost_s * components.between
    if price == 0 or not math.isfinite(gain / price):
        return None
    return max(1, math.ceil(math.sqrt(gain / price)))
