"""What reference loads do for the gate on machines that drift: simulated pairs of benchmarks of five launches each.

    python benchmarks/drifting.py 2000

Each launch finds the machine quicker or slower, and each process, that of the loads too, is a little quicker or slower
by itself. Between the two benchmarks the machine becomes slower for good. The model follows the machine in full; of the
loads, one follows it in full, one by half, one not at all, as it may be for a model that hangs on memory.
"""

import itertools
import sys
from collections.abc import Mapping

import numpy as np

from mlflow_tfexec.statistics import across
from mlflow_tfexec.statistics.gate import rule
from mlflow_tfexec.statistics.reference_loads import load_name, withhold_drift
from mlflow_tfexec.statistics.rounds import Rounds

MODES = ("eager", "graph")
FOLLOWS = {"memory": 1.0, "compute": 0.5, "dispatch": 0.0}
LAUNCHES = 5
MARGIN = 0.05
TENTH = 1.1


def main(pairs: int) -> None:
    print(f"{pairs} pairs a cell, {LAUNCHES} launches each, modes {', '.join(MODES)}; regressions in any mode")
    print("| machine, per launch | drift | noise of a process | same, by times | same | tenth, by times | tenth |")
    print("|---|---|---|---|---|---|---|")
    for machine, drift, process in itertools.product((0.0, 0.05, 0.2), (1.0, 1.1), (0.005, 0.02)):
        shares = [regressions(pairs, machine, drift, process, factor) for factor in (1.0, TENTH)]
        cells = [f"{share:.1%}" for of_factor in shares for share in of_factor]
        print(f"| {machine:.0%} | {drift:g} × | {process:.1%} | {' | '.join(cells)} |", flush=True)


def regressions(pairs: int, machine: float, drift: float, process: float, factor: float) -> tuple[float, float]:
    """Return the share of pairs in which a regression is seen: by the times alone, and with the loads."""
    generator = np.random.default_rng(1)
    alone = held = 0
    for _ in range(pairs):
        sides = [side(generator, machine, process, moved, slower) for moved, slower in ((1.0, 1.0), (drift, factor))]
        places = dict.fromkeys(MODES, (0, 1))
        compared, *of_loads = (
            across._compare(sides, places, labels=("A", "B"), relative_to=name, error=0.05, margin=MARGIN)  # noqa: SLF001 - a part
            for name in (None, *map(load_name, FOLLOWS))
        )
        found = [outcomes(compared[key], {load: of[key] for load, of in zip(FOLLOWS, of_loads, strict=True)})
                 for key in compared]  # fmt: skip
        alone += any(without == "regression" for without, _ in found)
        held += any(with_loads == "regression" for _, with_loads in found)
    return alone / pairs, held / pairs


def outcomes(comparison: across.Comparison, relative: Mapping[str, across.Comparison]) -> tuple[str, str]:
    without, _ = rule(comparison, {}, margin=MARGIN, withholding=False, launches=LAUNCHES)
    granted = withhold_drift(comparison, relative, margin=MARGIN, launches=LAUNCHES)
    with_loads, _ = rule(granted, relative, margin=MARGIN, withholding=False, launches=LAUNCHES)
    return without, with_loads


def side(generator: np.random.Generator, machine: float, process: float, moved: float, slower: float) -> Rounds:
    """Draw one benchmark: one figure per launch, as if its rounds agreed."""
    launches = np.log(moved) + generator.normal(0, machine, LAUNCHES)
    own = generator.normal(0, process, (len(MODES) + len(FOLLOWS), LAUNCHES))
    follows = np.array([1.0] * len(MODES) + list(FOLLOWS.values()))[:, np.newaxis]
    logs = follows * launches + own
    logs[len(MODES) - 1] += np.log(slower)
    names = (*MODES, *map(load_name, FOLLOWS))
    medians = {
        name: {launch: np.array([1e6 * np.exp(value)]) for launch, value in enumerate(of_one)}
        for name, of_one in zip(names, logs, strict=True)
    }
    return Rounds(medians_ns=medians, calls_ns={name: {} for name in names})


if __name__ == "__main__":
    main(int(sys.argv[1]))
