"""One mode in one benchmark as an estimate that can be held against that of another benchmark."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlflow_tfexec.statistics.estimates import launch_log_times
from mlflow_tfexec.statistics.intervals import Spread, round_spread
from mlflow_tfexec.statistics.moderation import Variance, launch_variance, moderate
from mlflow_tfexec.statistics.pairing import LaunchFigures, launch_log_ratios, median_variance, paired_log_ratios
from mlflow_tfexec.statistics.rounds import Rounds


@dataclass(frozen=True)
class Estimate:
    """One mode in one benchmark, as the log of a time in ns or of a ratio of two times."""

    center: float
    """Mean over launches."""
    launches: int
    variance: Variance | None
    """Of one launch. None: there is but one."""
    rounds: Spread | None
    """Of the median of the only launch. None: there are several, or too few rounds."""


def estimates(rounds: Rounds, modes: Sequence[str], *, relative_to: str | None) -> dict[str, Estimate]:
    """Estimate each of *modes*, its noise steadied by that of the others (`moderation.moderate`).

    Args:
        rounds: of one benchmark; each mode has at least one latency that counts.
        modes: which.
        relative_to: mode by whose time in the same round every time is divided first. None: times as they are.
    """
    figures = {mode: _launch_figures(rounds, mode, relative_to) for mode in modes}
    # A mode that stands alone is a pair with itself: its noise is its own.
    variances = moderate(
        {(mode, mode): launch_variance(of_mode) for mode, of_mode in figures.items() if len(of_mode.medians) > 1}
    )
    return {
        mode: Estimate(
            center=float(np.mean(of_mode.medians)) if len(of_mode.medians) else _apart(rounds, mode, relative_to),
            launches=len(of_mode.medians),
            variance=variances.get((mode, mode)),
            rounds=_round_spread(rounds, mode, relative_to) if rounds.launches == 1 else None,
        )
        for mode, of_mode in figures.items()
    }


def unpaired_spread(a: Estimate, b: Estimate) -> Spread | None:
    """Spread of the difference of two independent estimates, with the degrees of freedom of the weaker one.

    None: one side has a single launch and the other several, so that the spread between launches is known of one only;
    or there are too few rounds.
    """
    if a.variance is not None and b.variance is not None:
        error = math.sqrt(a.variance.value / a.launches + b.variance.value / b.launches)
        return Spread(error, min(a.variance.degrees_of_freedom, b.variance.degrees_of_freedom))
    if a.rounds is not None and b.rounds is not None:
        error = math.hypot(a.rounds.standard_error, b.rounds.standard_error)
        return Spread(error, min(a.rounds.degrees_of_freedom, b.rounds.degrees_of_freedom))
    return None


def _launch_figures(rounds: Rounds, mode: str, relative_to: str | None) -> LaunchFigures:
    if relative_to is None:
        open_ = np.array([median_variance(np.log(series)) for series in rounds.series_ns(mode)])
        return LaunchFigures(launch_log_times(rounds, mode), open_)
    return launch_log_ratios(rounds, [(mode, relative_to)])[mode, relative_to]


def _round_spread(rounds: Rounds, mode: str, relative_to: str | None) -> Spread | None:
    if relative_to is None:
        return round_spread(np.log(rounds.series_ns(mode)[0]))
    series = paired_log_ratios(rounds, mode, relative_to)
    return round_spread(series[0]) if series else None


def _apart(rounds: Rounds, mode: str, relative_to: str | None) -> float:
    """Estimate a ratio of two modes that were never measured in the same round: it has no interval."""
    below = 0.0 if relative_to is None else float(np.mean(launch_log_times(rounds, relative_to)))
    return float(np.mean(launch_log_times(rounds, mode))) - below
