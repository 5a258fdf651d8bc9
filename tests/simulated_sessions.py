"""Sessions drawn from known noise, by the thousand: how often do verdicts hold?"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from mlflow_tfexec.records.judgement import Comparison
from mlflow_tfexec.statistics.comparison import compare_all
from mlflow_tfexec.statistics.looks import error_at
from mlflow_tfexec.statistics.rounds import Rounds
from mlflow_tfexec.statistics.stopping import reason_to_stop

MARGIN = 0.05
ROUNDS = 10
STANDARD = (3, 5)

# Shape of every array of log times here: (sessions, launches, modes, rounds).
Shape = tuple[int, int, int, int]
Noise = Callable[[np.random.Generator, Shape], np.ndarray]


def process(generator, shape, scale=0.01):
    """Each process is a little quicker or slower than the next of its mode."""
    return generator.normal(scale=scale, size=(*shape[:3], 1))


def blocks(generator, shape, scale=0.01):
    """Each block is disturbed by itself."""
    return generator.normal(scale=scale, size=shape)


def machine(generator, shape, scale=0.02):
    """Each launch finds the machine quicker or slower, for all modes alike."""
    return generator.normal(scale=scale, size=(*shape[:2], 1, 1))


def typical(generator, shape):
    return machine(generator, shape) + process(generator, shape) + blocks(generator, shape)


def quiet(generator, shape):
    return process(generator, shape, 0.002) + blocks(generator, shape, 0.003)


def noisy(generator, shape):
    return machine(generator, shape) + process(generator, shape, 0.03) + blocks(generator, shape)


def ramp(generator, shape):
    """Within a launch the machine slows down, or speeds up, by a fifth."""
    return typical(generator, shape) + 0.2 * generator.choice([-1, 1], (*shape[:2], 1, 1)) * moments(generator, shape)


def step(generator, shape):
    """Somewhere within each launch the machine becomes slower by 15 %."""
    return typical(generator, shape) + 0.15 * (moments(generator, shape) > generator.random((*shape[:2], 1, 1)))


def moments(generator, shape):
    """When in its launch, from 0 to 1, each block is measured: the modes of a round stand in random order."""
    _, _, modes, rounds = shape
    places = generator.random((*shape[:2], rounds, modes)).argsort(axis=-1).swapaxes(2, 3)
    return (np.arange(rounds) * modes + places) / (rounds * modes)


def spikes(generator, shape, calls=5):
    """One call in twenty takes up to several times as long; a block has five, and is known by its median."""
    struck = generator.random((*shape, calls)) < 0.05
    slower = np.log1p(generator.exponential(size=struck.shape))
    single = generator.normal(scale=0.01, size=struck.shape) + struck * slower
    return machine(generator, shape) + process(generator, shape) + np.median(single, axis=-1)


def bimodal_clocks(generator, shape):
    """Each launch finds the clock at one of two rates, a tenth apart; each mode follows it not quite alike."""
    slow = generator.integers(0, 2, (*shape[:2], 1, 1))
    follows = 1 + generator.normal(scale=0.05, size=(*shape[:3], 1))
    return typical(generator, shape) + 0.1 * slow * follows


def autoregressive(rho):
    def noise(generator, shape):
        """Neighbouring rounds of a process resemble each other."""
        series = generator.normal(size=shape)
        for round_ in range(1, shape[-1]):
            series[..., round_] = rho * series[..., round_ - 1] + math.sqrt(1 - rho**2) * series[..., round_]
        return machine(generator, shape) + process(generator, shape) + 0.02 * series

    return noise


def one_noisier(times):
    def noise(generator, shape):
        """The last mode's processes scatter this many times as much as the others'."""
        scale = np.where(np.arange(shape[2]) == shape[2] - 1, times, 1.0)[:, np.newaxis]
        return machine(generator, shape) + process(generator, shape) * scale + blocks(generator, shape)

    return noise


def contended(generator, shape):
    """Other work on the machine holds up every other block, by up to twice its time."""
    struck = generator.random(shape) < 0.5
    return typical(generator, shape) + struck * np.log1p(2 * generator.random(shape))


def unequal_rounds(generator, shape):
    """Every second launch has half the rounds, and one block in ten is missing."""
    drawn = typical(generator, shape)
    drawn[:, 1::2, :, shape[-1] // 2 :] = np.nan
    drawn[generator.random(shape) < 0.1] = np.nan
    return drawn


def launch_lost(generator, shape):
    """The first mode has nothing valid in the second launch."""
    drawn = typical(generator, shape)
    drawn[:, 1, 0] = np.nan
    return drawn


def two_speeds(generator, shape):
    """Each process lands, by a coin, on one of two speeds 3 % apart, and there is little other noise."""
    return quiet(generator, shape) + 0.03 * generator.integers(0, 2, (*shape[:3], 1))


FAMILIES: Mapping[str, Noise] = MappingProxyType(
    {
        "quiet": quiet,
        "typical": typical,
        "noisy": noisy,
        "ramp": ramp,
        "step": step,
        "spikes": spikes,
        "bimodal clocks": bimodal_clocks,
        "AR(1) 0.5": autoregressive(0.5),
        "AR(1) 0.9": autoregressive(0.9),
        "one 4 times noisier": one_noisier(4),
        "one 10 times noisier": one_noisier(10),
        "contended": contended,
        "unequal rounds": unequal_rounds,
        "one launch lost": launch_lost,
    }
)

# Nothing is promised here: a few launches that happen to land alike look as certain as many that always would.
BEYOND_THE_PROMISE: Mapping[str, Noise] = MappingProxyType({"two speeds": two_speeds})


@dataclass(frozen=True)
class Outcome:
    """What was claimed of one session."""

    launches: int
    comparisons: tuple[Comparison, ...]


def draw(family: str, ratio: float, *, modes: int, launches: int, sessions: int, rounds: int = ROUNDS, seed: int = 1):
    """Draw log times in which the first mode takes *ratio* times as long as each of the others."""
    generator = np.random.default_rng([seed, *family.encode(), modes, round(1000 * ratio)])
    drawn = (FAMILIES | BEYOND_THE_PROMISE)[family](generator, (sessions, launches, modes, rounds))
    drawn[:, :, 0] += math.log(ratio)
    return drawn


def names(modes: int) -> list[str]:
    return [f"m{number}" for number in range(modes)]


def as_rounds(log_times: np.ndarray) -> Rounds:
    """Make of one session's log times, shape (launches, modes, rounds), what the statistics read."""
    found = {}
    for place, mode in enumerate(names(log_times.shape[1])):
        series = {launch: np.exp(16 + of_launch[place]) for launch, of_launch in enumerate(log_times)}
        found[mode] = {launch: one for launch, one in series.items() if np.isfinite(one).any()}
    return Rounds(medians_ns=found, calls_ns={})


def measure(log_times: np.ndarray, looks: Sequence[int]) -> Outcome:
    """Do with one session what a benchmark does: look after so many launches, and end once nothing is undecided."""
    for launches in looks:
        comparisons = compare_all(
            as_rounds(log_times[:launches]),
            names(log_times.shape[1]),
            error=error_at(launches, looks),
            margin=MARGIN,
        )
        if reason_to_stop(comparisons, margin=MARGIN):
            break
    return Outcome(launches, comparisons)


def outcomes(log_times: np.ndarray, looks: Sequence[int] = STANDARD) -> Iterator[Outcome]:
    return (measure(session, looks) for session in log_times)


def truth(comparison: Comparison, ratio: float) -> float:
    """Say by what factor the first of two modes truly takes longer, if the first of all takes *ratio* times as long."""
    return {"m0": ratio}.get(comparison.a, 1.0) / {"m0": ratio}.get(comparison.b, 1.0)


def is_false_difference(comparison: Comparison, ratio: float) -> bool:
    true = truth(comparison, ratio)
    return (comparison.verdict == "slower" and true <= 1) or (comparison.verdict == "faster" and true >= 1)


def is_false_equivalence(comparison: Comparison, ratio: float) -> bool:
    true = abs(math.log(truth(comparison, ratio)))
    return comparison.verdict == "equivalent" and true >= math.log(1 + MARGIN) - 1e-12


def is_missed(comparison: Comparison, ratio: float) -> bool:
    """Say whether the interval leaves out the truth. One that is not there, or is endless, does not.

    The interval of a pair called slower or faster may end at exactly 1, and then leaves 1 out.
    """
    if is_false_difference(comparison, ratio):
        return True
    if comparison.ci95_low is None or comparison.ci95_high is None:
        return False
    true = truth(comparison, ratio)
    return not comparison.ci95_low * (1 - 1e-12) <= true <= comparison.ci95_high * (1 + 1e-12)


@dataclass(frozen=True)
class Rates:
    """Shares of sessions in which something was claimed, or missed."""

    false_difference: float
    """Some verdict of slower or faster is wrong."""
    false_equivalence: float
    """Some verdict of equivalent is wrong."""
    missed: float
    """Some interval leaves out the truth."""
    found: float
    """Of the pairs that differ, the share called so, in the right direction."""
    equivalent: float
    """Of the pairs that do not differ, the share called equivalent."""
    launches: float
    """Mean."""


def rates(seen: Sequence[Outcome], ratio: float) -> Rates:
    def share(is_bad):
        return sum(any(is_bad(c, ratio) for c in outcome.comparisons) for outcome in seen) / len(seen)

    pairs = list(itertools.chain.from_iterable(outcome.comparisons for outcome in seen))
    differing = [c for c in pairs if truth(c, ratio) != 1]
    alike = [c for c in pairs if truth(c, ratio) == 1]
    right = [c for c in differing if c.verdict == ("slower" if truth(c, ratio) > 1 else "faster")]
    return Rates(
        false_difference=share(is_false_difference),
        false_equivalence=share(is_false_equivalence),
        missed=share(is_missed),
        found=len(right) / len(differing) if differing else math.nan,
        equivalent=sum(c.verdict == "equivalent" for c in alike) / len(alike) if alike else math.nan,
        launches=sum(outcome.launches for outcome in seen) / len(seen),
    )
