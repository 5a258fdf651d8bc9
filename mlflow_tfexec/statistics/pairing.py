"""Two modes side by side: the log of the ratio of their times, round by round and launch by launch."""

import itertools
from collections.abc import Sequence

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


def launch_log_ratios(rounds: Rounds, pairs: Sequence[Pair]) -> dict[Pair, NDArray[np.float64]]:
    """Give, for each pair, one figure per launch that has any: the median over rounds of log a - log b.

    The same as the medians of `paired_log_ratios`, for all pairs at once.
    """
    modes = list(dict.fromkeys(itertools.chain.from_iterable(pairs)))
    place = {mode: row for row, mode in enumerate(modes)}
    above, below = ([place[pair[side]] for pair in pairs] for side in (0, 1))
    columns = []
    for launch in sorted({launch for mode in modes for launch in rounds.medians_ns.get(mode, {})}):
        logs = _launch_logs(rounds, modes, launch)
        columns.append(_row_medians(logs[above] - logs[below]))
    table = np.stack(columns, axis=1) if columns else np.empty((len(pairs), 0))
    return {pair: row[np.isfinite(row)] for pair, row in zip(pairs, table, strict=True)}


def _launch_logs(rounds: Rounds, modes: Sequence[str], launch: int) -> NDArray[np.float64]:
    """Log block medians of one launch, shape (modes, rounds); NaN where a mode has none."""
    series = [rounds.medians_ns.get(mode, {}).get(launch) for mode in modes]
    length = max(len(one) for one in series if one is not None)
    missing = np.full(length, np.nan)
    stacked: NDArray[np.float64] = np.stack([missing if one is None else one for one in series])
    return np.log(stacked)


def _row_medians(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Median of each row, NaN left out; NaN where a row holds nothing else."""
    # NaN sorts last. For rows as short as these this is several times as quick as NumPy's own medians.
    ordered = np.sort(values, axis=1)
    present = np.isfinite(values).sum(axis=1)
    rows = np.arange(len(values))
    middle: NDArray[np.float64] = (ordered[rows, np.maximum(present - 1, 0) // 2] + ordered[rows, present // 2]) / 2
    return middle
