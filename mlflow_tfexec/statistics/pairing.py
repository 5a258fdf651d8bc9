"""Two modes side by side: the log of the ratio of their times, round by round and launch by launch."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mlflow_tfexec.statistics.rounds import Rounds

Pair = tuple[str, str]


def paired_log_ratios(rounds: Rounds, a: str, b: str) -> list[NDArray[np.float64]]:
    """Give log a - log b of the rounds in which both have a valid block, one array per launch that has any.

    What disturbs both modes of a round alike, such as drift, is not in it.
    """
    of_a, of_b = rounds.medians_ns.get(a, {}), rounds.medians_ns.get(b, {})
    series = []
    for launch in sorted(of_a.keys() & of_b.keys()):
        differences = np.log(of_a[launch]) - np.log(of_b[launch])
        paired = differences[np.isfinite(differences)]
        if len(paired):
            series.append(paired)
    return series


@dataclass(frozen=True)
class LaunchFigures:
    """One figure of each launch that has any: a log ratio of two modes, or the log time of one."""

    medians: NDArray[np.float64]
    """Over rounds, one per launch."""
    round_variances: NDArray[np.float64]
    """Variance of each of the medians as far as its rounds tell; 0 for a single round."""


def launch_log_ratios(rounds: Rounds, pairs: Sequence[Pair]) -> dict[Pair, LaunchFigures]:
    """Give, for each pair, one figure per launch that has any: the median over rounds of log a - log b.

    The same as the medians of `paired_log_ratios`, for all pairs at once.
    """
    modes = list(dict.fromkeys(itertools.chain.from_iterable(pairs)))
    place = {mode: row for row, mode in enumerate(modes)}
    above, below = ([place[pair[side]] for pair in pairs] for side in (0, 1))
    medians, variances = [], []
    for launch in sorted({launch for mode in modes for launch in rounds.medians_ns.get(mode, {})}):
        logs = _launch_logs(rounds, modes, launch)
        ordered = np.sort(logs[above] - logs[below], axis=1)
        medians.append(_middles(ordered))
        variances.append(_median_variances(ordered))
    shape = (len(pairs), len(medians))
    tables = (np.array(columns).reshape(shape[::-1]).T for columns in (medians, variances))
    return {pair: _present(*rows) for pair, *rows in zip(pairs, *tables, strict=True)}


def median_variance(values: NDArray[np.float64]) -> float:
    """Variance of the median of *values*, of which there is at least one, as far as they tell; 0 for a single one."""
    return float(_median_variances(np.sort(values)[np.newaxis])[0])


def _present(medians: NDArray[np.float64], variances: NDArray[np.float64]) -> LaunchFigures:
    there = np.isfinite(medians)
    return LaunchFigures(medians[there], variances[there])


def _launch_logs(rounds: Rounds, modes: Sequence[str], launch: int) -> NDArray[np.float64]:
    """Log block medians of one launch, shape (modes, rounds); NaN where a mode has none."""
    series = [rounds.medians_ns.get(mode, {}).get(launch) for mode in modes]
    length = max(len(one) for one in series if one is not None)
    missing = np.full(length, np.nan)
    stacked: NDArray[np.float64] = np.stack([missing if one is None else one for one in series])
    return np.log(stacked)


def _middles(ordered: NDArray[np.float64]) -> NDArray[np.float64]:
    """Median of each row of *ordered*, in which NaN stands last and is left out; NaN where a row holds nothing else."""
    # For rows as short as these this is several times as quick as NumPy's own medians.
    present = np.isfinite(ordered).sum(axis=1)
    rows = np.arange(len(ordered))
    middle: NDArray[np.float64] = (ordered[rows, np.maximum(present - 1, 0) // 2] + ordered[rows, present // 2]) / 2
    return middle


def _median_variances(ordered: NDArray[np.float64]) -> NDArray[np.float64]:
    """Variance of the median of each row of *ordered*, in which NaN stands last and is left out.

    The number of values below the true median is binomial with standard deviation sqrt(n) / 2, so half the distance
    between the values that far to either side of the middle is the median's standard error, whatever the
    distribution: spikes do not widen it, two levels do. McKean and Schrader, "A comparison of methods for studentizing
    the sample median", Communications in Statistics: Simulation and Computation 13 (1984), take values further out.
    """
    present = np.isfinite(ordered).sum(axis=1)
    last = np.maximum(present - 1, 0)
    low = np.maximum(last / 2 - np.sqrt(present) / 2, 0)
    half = (_at(ordered, last - low) - _at(ordered, low)) / 2
    variances: NDArray[np.float64] = half * half
    return variances


def _at(ordered: NDArray[np.float64], places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the value of each row at a place between two values."""
    rows = np.arange(len(ordered))
    below = np.floor(places).astype(np.intp)
    above = np.ceil(places).astype(np.intp)
    share = places - below
    between: NDArray[np.float64] = (1 - share) * ordered[rows, below] + share * ordered[rows, above]
    return between
