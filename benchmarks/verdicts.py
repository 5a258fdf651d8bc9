"""How often verdicts are wrong, and how often right, in every kind of noise and for every number of modes.

Ours beside two tools' comparisons of the same simulated sessions, in which the first mode takes 1, 1.05 or 1.10 times
as long as each of the others. Of 2,000 sessions a row this takes some fifteen minutes of one core:

    python benchmarks/verdicts.py
    python benchmarks/verdicts.py --sessions 100 --modes 2,4 --processes 2 --markdown

Columns, in percent:

- `false >`: sessions in which some verdict of slower or faster is wrong; the largest of the three ratios.
- `covered`: sessions in which every interval holds its truth; the smallest of the three ratios.
- `false =`: sessions in which modes exactly 1.05 apart are called equivalent.
- `=`: pairs of identical modes that are called equivalent.
- `1.10`: pairs 1.10 apart that are found, in the right direction.
- `launches`: mean of those measured when our session ended, over the three ratios.
- `t false`, `t 1.10`: sessions of identical modes in which pyperf's test calls some pair different, and pairs 1.10
  apart that it finds. `compare_to` makes Student's t with pooled variance of all values of all processes, two-sided
  at 5 % a pair. Here a value is a block's median, and the quantile is exact where pyperf rounds it. Where numbers of
  values differ, pyperf fails inside and answers "significant"; here it is the ordinary t for unequal numbers.
- `U false`, `U 1.10`: the same of the Mann-Whitney U test over blocks, two-sided at 5 % a pair, as in
  `tools/compare.py` of google/benchmark.

Theirs always have every launch, also where our session ended earlier: that is the kindest to them.

A share that breaks our promise by more than three binomial standard errors is marked `!`, and the exit code is then 1.
"""

import argparse
import itertools
import math
import multiprocessing
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import ndtri, stdtrit

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from simulated_sessions import BEYOND_THE_PROMISE, FAMILIES, MARGIN, STANDARD, draw, outcomes, rates

IDENTICAL, AT_THE_MARGIN, APART = RATIOS = (1.0, 1 + MARGIN, 1.10)
NUMBERS = tuple(range(2, 9))
ALPHA = 0.05

# Takes two modes' times, each of shape (sessions, blocks) with NaN where a block is missing, and says per session
# whether the first is significantly slower (1), faster (-1) or neither (0).
Test = Callable[[np.ndarray, np.ndarray], np.ndarray]


def student(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Compare as pyperf does: all values of all processes are taken to be independent."""
    count_a, count_b = np.isfinite(a).sum(axis=1), np.isfinite(b).sum(axis=1)
    freedom = count_a + count_b - 2
    pooled = (count_a * np.nanvar(a, axis=1) + count_b * np.nanvar(b, axis=1)) / freedom
    t = (np.nanmean(a, axis=1) - np.nanmean(b, axis=1)) / np.sqrt(pooled * (1 / count_a + 1 / count_b))
    return np.sign(t) * (np.abs(t) >= stdtrit(freedom, 1 - ALPHA / 2))


def mann_whitney(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Compare as google/benchmark does, by SciPy's normal approximation with its correction for continuity."""
    count_a, count_b = np.isfinite(a).sum(axis=1), np.isfinite(b).sum(axis=1)
    # Ties do not occur, and NaN sorts last, so that it changes no rank.
    ranks = 1 + np.concatenate([a, b], axis=1).argsort(axis=1).argsort(axis=1)
    u = np.where(np.isfinite(a), ranks[:, : a.shape[1]], 0).sum(axis=1) - count_a * (count_a + 1) / 2
    excess = u - count_a * count_b / 2
    z = (np.abs(excess) - 0.5) / np.sqrt(count_a * count_b * (count_a + count_b + 1) / 12)
    return np.sign(excess) * (z > ndtri(1 - ALPHA / 2))


TESTS: Mapping[str, Test] = {"t": student, "U": mann_whitney}


@dataclass(frozen=True)
class Table:
    """Rows that are read together."""

    title: str
    families: tuple[str, ...]
    modes: tuple[int, ...]
    looks: tuple[int, ...]
    promised: bool = True


TABLES = (
    Table("Looks after 3 and 5 launches, the standard preset", tuple(FAMILIES), NUMBERS, STANDARD),
    Table(
        "Looks after 5, 10, 15 and 20 launches, the rigorous preset",
        ("typical", "noisy", "one 4 times noisier"),
        (2, 4),
        (5, 10, 15, 20),
    ),
    Table("Three launches", ("one 4 times noisier", "one 10 times noisier"), NUMBERS, (3,)),
    Table(
        "Not part of the promise: each process lands on one of two speeds", tuple(BEYOND_THE_PROMISE), NUMBERS, STANDARD
    ),
)


@dataclass(frozen=True)
class Cell:
    """What one row is made of."""

    table: Table
    family: str
    modes: int
    sessions: int


@dataclass(frozen=True)
class Figure:
    """A share of sessions or of pairs, and what was promised of it."""

    share: float
    at_most: float | None = None
    at_least: float | None = None

    def is_broken(self, sessions: int) -> bool:
        """Say whether the promise is missed by more than three binomial standard errors."""

        def slack(promised: float) -> float:
            return 3 * math.sqrt(promised * (1 - promised) / sessions)

        too_high = self.at_most is not None and self.share > self.at_most + slack(self.at_most)
        return too_high or (self.at_least is not None and self.share < self.at_least - slack(self.at_least))


@dataclass(frozen=True)
class Row:
    """What was seen in the sessions of one cell."""

    cell: Cell
    figures: Mapping[str, Figure]
    launches: float

    @property
    def broken(self) -> int:
        """How many promises are."""
        return sum(figure.is_broken(self.cell.sessions) for figure in self.figures.values())

    def texts(self) -> list[str]:
        """Give the columns in order."""
        shares = {
            name: f"{100 * figure.share:.1f}{'!' if figure.is_broken(self.cell.sessions) else ''}"
            for name, figure in self.figures.items()
        }
        ours = [text for name, text in shares.items() if name in OURS]
        theirs = [text for name, text in shares.items() if name not in OURS]
        return [self.cell.family, str(self.cell.modes), *ours, f"{self.launches:.1f}", *theirs]


OURS = ("false >", "covered", "false =", "=", "1.10")
THEIRS = tuple(f"{test} {what}" for test in TESTS for what in ("false", "1.10"))
HEADINGS = ("noise", "modes", *OURS, "launches", *THEIRS)


def measured(cell: Cell) -> Row:
    """Simulate the sessions of one cell."""
    looks = cell.table.looks
    drawn = {
        ratio: draw(cell.family, ratio, modes=cell.modes, launches=looks[-1], sessions=cell.sessions)
        for ratio in RATIOS
    }
    seen = {ratio: rates(list(outcomes(log_times, looks)), ratio) for ratio, log_times in drawn.items()}
    promised = cell.table.promised
    powerful = promised and cell.family == "typical" and looks == STANDARD
    figures = {
        "false >": Figure(max(of.false_difference for of in seen.values()), at_most=0.05 if promised else None),
        "covered": Figure(1 - max(of.missed for of in seen.values()), at_least=0.95 if promised else None),
        "false =": Figure(seen[AT_THE_MARGIN].false_equivalence, at_most=0.05 if promised else None),
        "=": Figure(seen[IDENTICAL].equivalent, at_least=0.80 if powerful else None),
        "1.10": Figure(seen[APART].found, at_least=0.95 if powerful else None),
    }
    for name, test in TESTS.items():
        figures[f"{name} false"] = Figure(called_different(test, drawn[IDENTICAL]))
        figures[f"{name} 1.10"] = Figure(found_slower(test, drawn[APART]))
    return Row(cell, figures, launches=sum(of.launches for of in seen.values()) / len(seen))


def called_different(test: Test, log_times: np.ndarray) -> float:
    """Give the share of sessions in which some pair is."""
    times = values(log_times)
    pairs = itertools.combinations(range(times.shape[1]), 2)
    return float(np.any([test(times[:, a], times[:, b]) != 0 for a, b in pairs], axis=0).mean())


def found_slower(test: Test, log_times: np.ndarray) -> float:
    """Give the share of pairs with the first mode in which it is found slower."""
    times = values(log_times)
    return float(np.mean([test(times[:, 0], times[:, other]) > 0 for other in range(1, times.shape[1])]))


def values(log_times: np.ndarray) -> np.ndarray:
    """Take all blocks of a mode together: shape (sessions, modes, launches x rounds)."""
    by_mode = np.exp(log_times).swapaxes(1, 2)
    return by_mode.reshape(*by_mode.shape[:2], -1)


def cells(numbers: Sequence[int], sessions: int) -> Iterator[Cell]:
    for table in TABLES:
        for family, modes in itertools.product(table.families, table.modes):
            if modes in numbers:
                yield Cell(table, family, modes, sessions)


def as_line(texts: Sequence[str], *, markdown: bool) -> str:
    if markdown:
        return f"| {' | '.join(texts)} |"
    first, *others = texts
    return f"{first:<22}" + "".join(
        f"{text:>{max(7, len(heading)) + 2}}" for text, heading in zip(others, HEADINGS[1:], strict=True)
    )


def print_heading(table: Table, *, markdown: bool) -> None:
    print(f"\n## {table.title}\n" if markdown else f"\n{table.title}")
    print(as_line(HEADINGS, markdown=markdown))
    if markdown:
        print("|---" * len(HEADINGS) + "|")


def numbers_of_modes(text: str) -> tuple[int, ...]:
    numbers = tuple(int(number) for number in text.split(","))
    if not set(numbers) <= set(NUMBERS):
        raise ValueError
    return numbers


def main() -> None:
    parser = argparse.ArgumentParser(description="How often verdicts are wrong, and how often right.")
    parser.add_argument("--sessions", type=int, default=2000, help="of each row and ratio")
    parser.add_argument("--modes", type=numbers_of_modes, default=NUMBERS, help="from 2 to 8, such as 2,3,4")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    todo = list(cells(options.modes, options.sessions))
    table, broken = None, 0
    with multiprocessing.Pool(options.processes) as pool:
        for done, row in enumerate(pool.imap(measured, todo), start=1):
            if row.cell.table != table:
                table = row.cell.table
                print_heading(table, markdown=options.markdown)
            print(as_line(row.texts(), markdown=options.markdown), flush=True)
            print(f"{done} of {len(todo)} rows", end="\r", file=sys.stderr, flush=True)
            broken += row.broken
    print(f"\n{options.sessions} sessions a row and ratio; {broken} promises broken")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
