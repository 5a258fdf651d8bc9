"""The noise of each pair of modes, steadied by what the other pairs say of it."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

import numpy as np
from scipy.special import fdtri

from mlflow_tfexec.statistics.intervals import sample_std
from mlflow_tfexec.statistics.pairing import LaunchFigures, Pair

# A mode whose noise is beyond this quantile of the F distribution of equal noises is one of its own kind.
_LIKE = 0.95

# Prior degrees of freedom for each further mode of the same noise. Found by simulation (docs/decisions/0006): at twice
# this, three launches of four modes of which one is 6 to 10 times noisier miss the truth in 7 % of benchmarks.
_PRIOR_PER_MODE = 0.5


@dataclass(frozen=True)
class Variance:
    """A variance over launches and what it rests on."""

    value: float
    degrees_of_freedom: float


def launch_variance(figures: LaunchFigures) -> Variance:
    """Variance of one launch's figure: what launches show, and no less than what their rounds leave open.

    Launches differ by what processes differ by and by what rounds leave open (Kalibera and Jones, "Rigorous
    benchmarking in reasonable time", ISMM 2013). On a machine with other work to do rounds are all over the place, and
    a few launches may agree by luck; taken at their word they would be believed.

    Args:
        figures: of two launches or more.
    """
    seen = sample_std(figures.medians) ** 2
    return Variance(max(seen, float(np.mean(figures.round_variances))), len(figures.medians) - 1)


def moderate(variances: Mapping[Pair, Variance]) -> dict[Pair, Variance]:
    """Shrink the variance of each pair's log ratio towards that of all pairs whose modes are equally noisy.

    With three launches a variance has two degrees of freedom and Student's quantile for six pairs is 10.9; borrowing
    what other pairs know brings it down by half. The moderated variance is (d0 s0² + d s²) / (d0 + d) with d0 + d
    degrees of freedom: Smyth, "Linear models and empirical Bayes methods for assessing differential expression in
    microarray experiments", Statistical Applications in Genetics and Molecular Biology 3 (2004). s0² is the pooled
    variance; d0, which Smyth estimates from thousands of genes, is fixed in advance: half a degree of freedom for
    each mode beyond the pair. Two modes alone have nobody to borrow from, and theirs is the plain variance.

    A mode much noisier than the others would make its own pairs look too certain and the others too uncertain. Such a
    mode neither lends nor borrows (compare Phipson et al., "Robust hyperparameter estimation protects against
    hypervariable genes", Annals of Applied Statistics 10, 2016): its pairs keep their plain variances. Only spreads
    are looked at for this, never the times themselves.

    Args:
        variances: of the log ratio over launches, of each pair that has two launches or more.

    Returns:
        A variance for each pair of *variances*.
    """
    alike = _equally_noisy(variances)
    pooled = {pair: variance for pair, variance in variances.items() if set(pair) <= alike}
    borrowed = borrowed_degrees(len(alike))
    if not borrowed or not pooled:
        return dict(variances)
    total = sum(variance.degrees_of_freedom for variance in pooled.values())
    prior = sum(variance.value * variance.degrees_of_freedom for variance in pooled.values()) / total
    return {
        pair: _shrunk(variance, prior, borrowed) if pair in pooled else variance for pair, variance in variances.items()
    }


def borrowed_degrees(modes: int) -> float:
    """Degrees of freedom that each pair of so many equally noisy modes borrows from the others."""
    return max(0.0, _PRIOR_PER_MODE * (modes - 2))


def _shrunk(variance: Variance, prior: float, borrowed: float) -> Variance:
    degrees = borrowed + variance.degrees_of_freedom
    return Variance(
        (borrowed * prior + variance.degrees_of_freedom * variance.value) / degrees, degrees_of_freedom=degrees
    )


def _equally_noisy(variances: Mapping[Pair, Variance]) -> set[str]:
    """Name the modes that are not much noisier than the middle one."""
    modes = sorted(set(itertools.chain.from_iterable(variances)))
    if not modes:
        return set()
    # The median over partners: one noisy partner must not make a quiet mode look noisy.
    noise = {mode: median(v.value for pair, v in variances.items() if mode in pair) for mode in modes}
    degrees = max(variance.degrees_of_freedom for variance in variances.values())
    limit = float(fdtri(degrees, degrees * max(1, len(modes) - 1), _LIKE)) * median(noise.values())
    return {mode for mode in modes if noise[mode] <= limit}
