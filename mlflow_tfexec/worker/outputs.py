"""Are the answers still the same? Outputs are compared in the worker that made them; only figures travel."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from mlflow_tfexec.records.answers import UNDETERMINED, OutputDifference, OutputFigures
from mlflow_tfexec.worker.answers import Reference, largest_error


class Tolerance(NamedTuple):
    """An output may differ by `relative` of its own value plus `of_largest` of the largest value beside it."""

    relative: float
    of_largest: float


# By the dtype in which the model computes. A few hundred roundings may pile up over a deep network (float32 keeps
# 7 digits, TF32 and float16 keep 3, bfloat16 keeps 2), and no more.
_TOLERANCES = {
    "float64": Tolerance(1e-7, 1e-8),
    "float32": Tolerance(1e-3, 1e-4),
    "float16": Tolerance(1e-2, 2e-3),
    "bfloat16": Tolerance(5e-2, 1e-2),
}

# Training makes much of little, so each weight may also differ by this many times what a few roundings make of it in
# eager itself.
_ROUNDINGS = 10.0

# Of the same seed XLA draws other numbers. Such answers may differ by this many times what another seed makes of
# eager's, all weights together.
_SEEDS = 4.0

_MOST_OUTPUTS = 50
"""Figures of more outputs than this would fill the recording; those that differ least are left out."""

_ALWAYS_LISTED = 2


def difference(
    reference: Sequence[Any] | Reference, outputs: Sequence[Any], *, dtype: str, classes: bool = True
) -> OutputDifference:
    """Say how far *outputs* are from *reference*.

    Floats are compared within the tolerance of *dtype*, everything else must be equal. NaN equals NaN, and an
    infinity only itself.

    Args:
        reference: the baseline's outputs, alone or with what is known of them.
        outputs: the mode's.
        dtype: in which the model computes.
        classes: the last axis of an output is one of scores, so that the place of the largest is worth a look.
    """
    known = reference if isinstance(reference, Reference) else Reference(tuple(reference))
    tolerance = _TOLERANCES.get(dtype, _TOLERANCES["float32"])
    facts: dict[str, Any] = {"rtol": tolerance.relative, "atol": tolerance.of_largest}
    shapes = [array.shape for array in known.arrays]
    if shapes != [array.shape for array in outputs]:
        return OutputDifference(within_tolerance=False, **facts)
    pairs = [_compare(known, place, output, tolerance) for place, output in enumerate(outputs)]
    within = all(pair.within for pair in pairs)
    by_seed = not within and _differs_by_seed(known, pairs)
    is_judged = any(pair.judged for pair in pairs) or not pairs
    figures = _worst_first(known, outputs, pairs, classes=classes)
    return OutputDifference(
        max_abs_error=_largest(pair.absolute for pair in pairs if pair.judged),
        max_rel_error=_largest(pair.relative for pair in pairs if pair.judged),
        within_tolerance=within if is_judged and not by_seed else None,
        outputs=(kept := _kept(figures)),
        outputs_left_out=len(figures) - len(kept) or None,
        by_seed=True if by_seed else None,
        float64_error=_largest(one.float64_error for one in figures),
        baseline_float64_error=known.float64_error,
        **facts,
    )


def spread(arrays: Sequence[Any]) -> float | None:
    """Return the largest relative spread (standard deviation over largest value) among output arrays.

    Near zero, the outputs say little about what was computed. None: no output has two finite numbers.
    """
    import numpy as np

    spreads = []
    for array in arrays:
        values = array[np.isfinite(array)].astype(np.float64) if array.dtype.kind == "f" else array[:0]
        if values.size > 1 and np.abs(values).max() > 0:
            spreads.append(float(values.std() / np.abs(values).max()))
    return max(spreads, default=None)


@dataclass(frozen=True)
class _Pair:
    within: bool
    same_elsewhere: bool = True
    """NaN and infinities stand at the same places, and what is no number is equal."""
    absolute: float | None = None
    relative: float | None = None
    cosine: float | None = None
    judged: bool = True
    """False: the model does not determine these numbers."""


def _compare(known: Reference, place: int, output: Any, tolerance: Tolerance) -> _Pair:
    """Compare two arrays of one shape. The errors are None where there are no finite numbers to subtract."""
    import numpy as np

    reference = known.arrays[place]
    if reference.dtype.kind not in "fc" or output.dtype.kind not in "fc":
        same = bool(np.array_equal(reference, output))
        return _Pair(within=same, same_elsewhere=same)
    finite = np.isfinite(reference) & np.isfinite(output)
    same_elsewhere = bool(np.array_equal(reference[~finite], output[~finite], equal_nan=True))
    wide = np.complex128 if "c" in {reference.dtype.kind, output.dtype.kind} else np.float64
    a, b = reference[finite].astype(wide), output[finite].astype(wide)
    if a.size == 0:
        return _Pair(within=same_elsewhere, same_elsewhere=same_elsewhere)
    with np.errstate(over="ignore"):
        error = np.abs(a - b)
    largest = float(np.abs(a).max())
    rounding = known.rounding_of(place) or 0.0
    judged = rounding <= UNDETERMINED
    of_largest = tolerance.of_largest + _ROUNDINGS * rounding
    within = not judged or bool((error <= tolerance.relative * np.abs(a) + of_largest * largest).all())
    # Relative to the largest value: an element that should be zero has no relative error of its own.
    relative = float(error.max()) / largest if largest > 0 else None
    return _Pair(
        within and same_elsewhere, same_elsewhere, _finite(float(error.max())), _finite(relative), _cosine(a, b), judged
    )


def _worst_first(
    known: Reference, outputs: Sequence[Any], pairs: Sequence[_Pair], *, classes: bool
) -> list[OutputFigures]:
    """Give the figures of every output; what is not judged comes last, however far off it is."""
    figures = [
        _figures(known, place, output, pair, classes=classes)
        for place, (output, pair) in enumerate(zip(outputs, pairs, strict=True))
    ]
    return sorted(
        figures,
        key=lambda one: (
            one.within_tolerance,
            not pairs[one.place].judged,
            -(one.max_rel_error or 0.0),
            one.place,
        ),
    )


def _figures(known: Reference, place: int, output: Any, pair: _Pair, *, classes: bool) -> OutputFigures:
    import numpy as np

    baseline = known.arrays[place]
    counts: dict[str, int] = {}
    if baseline.dtype.kind in "fc" and output.dtype.kind in "fc":
        counts = {
            "nan_count": int(np.isnan(output).sum()),
            "inf_count": int(np.isinf(output).sum()),
            "baseline_nan_count": int(np.isnan(baseline).sum()),
            "baseline_inf_count": int(np.isinf(baseline).sum()),
        }
    return OutputFigures(
        place=place,
        name=known.name_of(place),
        within_tolerance=pair.within,
        max_abs_error=pair.absolute,
        max_rel_error=pair.relative,
        cosine=pair.cosine,
        argmax_agreement=_argmax_agreement(baseline, output) if classes else None,
        rounding=known.rounding_of(place),
        float64_error=largest_error(known.float64[place], output) if known.float64 else None,
        **counts,
    )


def _kept(shown: Sequence[OutputFigures]) -> tuple[OutputFigures, ...]:
    """List those that differ most, and in any case the first, which are the losses of `train`."""
    rest = (one for one in shown[_MOST_OUTPUTS:] if one.place < _ALWAYS_LISTED)
    return (*shown[:_MOST_OUTPUTS], *rest)


def _argmax_agreement(baseline: Any, output: Any) -> float | None:
    """Return the share of items with the largest element at the same place. None: nothing to choose from."""
    import numpy as np

    is_scores = baseline.ndim > 1 and baseline.shape[-1] > 1 and baseline.size > 0
    if not is_scores or baseline.dtype.kind != "f" or output.dtype.kind != "f":
        return None
    return float(np.mean(np.argmax(baseline, axis=-1) == np.argmax(output, axis=-1)))


def _cosine(a: Any, b: Any) -> float | None:
    import numpy as np

    # By their largest first: the squares of large numbers are beyond float64 as well.
    scales = [float(np.abs(one).max()) for one in (a, b)]
    if not all(scales):
        return None
    a, b = a / scales[0], b / scales[1]
    return float(np.clip(np.vdot(a, b).real / (np.linalg.norm(a) * np.linalg.norm(b)), -1, 1))


def _differs_by_seed(known: Reference, pairs: Sequence[_Pair]) -> bool:
    """Say whether another seed makes as much of a difference. False also where no seed is drawn from."""
    if not known.seeds or not all(pair.same_elsewhere for pair in pairs):
        return False
    judged = [place for place, pair in enumerate(pairs) if pair.judged]
    of_seeds = math.hypot(*(known.seeds[place] or 0.0 for place in judged))
    return math.hypot(*(pairs[place].relative or 0.0 for place in judged)) <= _SEEDS * of_seeds


def _largest(errors: Any) -> float | None:
    return max((error for error in errors if error is not None), default=None)


def _finite(error: float | None) -> float | None:
    """Give no figure for a difference beyond all numbers: a recording holds no infinities."""
    return error if error is not None and math.isfinite(error) else None
