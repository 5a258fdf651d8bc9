"""How often `compare` and `check` err: on simulated pairs of identical benchmarks, and on real ones of the same build.

    python benchmarks/across.py simulated 2000     # wrong verdicts and found tenths, by launches and noise
    python benchmarks/across.py real FOLDER        # of `real_verdicts.py same`: each recording against each

What is real is checked as it is, where every regression is false, and with the last mode made a tenth slower.
"""

import collections
import dataclasses
import itertools
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from mlflow_tfexec import Recording, load_recording
from mlflow_tfexec.records.recording import AnyLine, Block
from mlflow_tfexec.statistics import across
from mlflow_tfexec.statistics.gate import check_against
from mlflow_tfexec.statistics.rounds import Rounds

MODES = ("eager", "graph", "graph_nojit", "xla")
TENTH = 1.1


def simulated(pairs: int) -> None:
    """Print a table of wrong verdicts, and of found tenths in one mode of several, in % of pairs."""
    print(f"{pairs} pairs a cell; A has a launch noise of 1 %")
    print("| modes | launches of A and B | noise of B | different | slower | a tenth found at 1 % | at 2 % |")
    print("|---|---|---|---|---|---|---|")
    for modes, launches, times in itertools.product((1, 2, 4), ((3, 3), (3, 5), (5, 3), (5, 5)), (1, 4, 10)):
        # With no margin nothing is equivalent, which would hide a difference.
        verdicts = [outcomes(modes, launches, (0.01, 0.01 * times), seed=seed, margin=0.0) for seed in range(pairs)]
        different = np.mean([bool({"slower", "faster"} & set(of_pair)) for of_pair in verdicts])
        slower = np.mean(["slower" in of_pair for of_pair in verdicts])
        cells = [f"{power(modes, launches, noise, pairs // 4):.0%}" if times == 1 else "" for noise in (0.01, 0.02)]
        row = (modes, f"{launches[0]} and {launches[1]}", f"{times} ×", f"{different:.1%}", f"{slower:.1%}", *cells)
        print(f"| {' | '.join(map(str, row))} |")


def power(modes: int, launches: tuple[int, int], noise: float, pairs: int) -> float:
    """Share of pairs in which the one mode is found that is a tenth slower."""
    found = [outcomes(modes, launches, (noise, noise), seed=seed, factor=TENTH)[-1] for seed in range(pairs)]
    return float(np.mean([verdict == "slower" for verdict in found]))


def outcomes(
    modes: int,
    launches: tuple[int, int],
    noises: tuple[float, float],
    *,
    seed: int,
    factor: float = 1.0,
    margin: float = 0.05,
) -> list[str]:
    """Give the verdict on each mode of one simulated pair; in the second benchmark the last mode is slower."""
    generator = np.random.default_rng(seed)
    names = MODES[:modes]
    sides = [
        rounds(
            {
                name: 1e6 * (slower if name == names[-1] else 1.0) * np.exp(generator.normal(0, noise, (count, 1)))
                for name in names
            }
        )
        for count, noise, slower in zip(launches, noises, (1.0, factor), strict=True)
    ]
    places = dict.fromkeys(names, (0, 1))
    found = across._compare(sides, places, labels=("A", "B"), relative_to=None, error=0.05, margin=margin)  # noqa: SLF001 - a part
    return [comparison.verdict for comparison in found.values()]


def rounds(times_ns: dict[str, np.ndarray]) -> Rounds:
    return Rounds(
        medians_ns={mode: dict(enumerate(launches)) for mode, launches in times_ns.items()},
        calls_ns={mode: dict(enumerate(launches.astype(np.int64))) for mode, launches in times_ns.items()},
    )


def real(folder: Path) -> None:
    """Print how each recording of one build is checked against each earlier one."""
    found = (load_recording(path) for path in folder.glob("*/recording.jsonl"))
    recordings = sorted(found, key=lambda recording: recording.header.created)
    first, last = recordings[0].spec.modes[:2]
    print(f"{len(recordings)} recordings of {recordings[0].spec.model}, {recordings[0].header.created} to "
          f"{recordings[-1].header.created}")  # fmt: skip
    neighbours = list(itertools.pairwise(recordings))
    everyone = list(itertools.combinations(recordings, 2))
    for name, pairs in (("the one before", neighbours), ("every earlier one", everyone)):
        for relative_to in (None, first):
            for factor in (1.0, TENTH):
                counts = count(pairs, last, factor, relative_to)
                print(f"| {name} | {relative_to or 'as it is'} | {factor:.2f} | {counts} |")


def count(
    pairs: Iterable[tuple[Recording, Recording]], mode: str, factor: float, relative_to: str | None
) -> dict[str, int]:
    """Count the outcomes for *mode*, made *factor* times slower in the later recording of each pair."""
    gates = (
        check_against(slowed(new, mode, factor), base, modes=[mode], relative_to=relative_to) for base, new in pairs
    )
    return dict(collections.Counter(gate.outcome for gate in gates))


def slowed(recording: Recording, mode: str, factor: float) -> Recording:
    """Make every call of one mode slower, and its control's as well."""
    return dataclasses.replace(recording, lines=tuple(slower_lines(recording.lines, mode, factor)))


def slower_lines(lines: Sequence[AnyLine], mode: str, factor: float) -> Iterator[AnyLine]:
    for line in lines:
        if isinstance(line, Block) and line.mode in {mode, f"{mode}_control"} and line.calls_ns:
            yield line.model_copy(update={"calls_ns": tuple(round(ns * factor) for ns in line.calls_ns)})
        else:
            yield line


if __name__ == "__main__":
    command, argument = sys.argv[1:]
    if command == "simulated":
        simulated(int(argument))
    else:
        real(Path(argument))
