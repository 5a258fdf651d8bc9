"""Are the answers still the same? Outputs are compared in the worker that made them; only figures travel."""

import math
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mlflow_tfexec.records.recording import OutputDifference


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


def to_arrays(outputs: Any) -> list[Any]:
    """Flatten a structure of tensors into NumPy arrays; 16-bit floats become float32, which holds them exactly."""
    import keras
    import numpy as np

    arrays = [np.asarray(leaf) for leaf in keras.tree.flatten(outputs) if leaf is not None]
    return [a.astype(np.float32) if a.dtype.name in {"float16", "bfloat16"} else a for a in arrays]


def save_reference(arrays: Sequence[Any], directory: Path) -> None:
    """Keep the baseline's outputs where the other workers of this launch find them."""
    import numpy as np

    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    for index, array in enumerate(arrays):
        np.save(directory / f"{index:04}.npy", array)


def load_reference(directory: Path) -> list[Any] | None:
    """Map the baseline's outputs into memory. None: the baseline left none."""
    import numpy as np

    paths = sorted(directory.glob("*.npy"))
    return [np.load(path, mmap_mode="r") for path in paths] or None


def difference(reference: Sequence[Any], outputs: Sequence[Any], *, dtype: str) -> OutputDifference:
    """Say how far *outputs* are from *reference*.

    Floats are compared within the tolerance of *dtype*, everything else must be equal. NaN equals NaN, and an
    infinity only itself.
    """
    tolerance = _TOLERANCES.get(dtype, _TOLERANCES["float32"])
    facts = {"rtol": tolerance.relative, "atol": tolerance.of_largest}
    if len(reference) != len(outputs) or any(a.shape != b.shape for a, b in zip(reference, outputs, strict=True)):
        return OutputDifference(within_tolerance=False, **facts)
    pairs = [_compare(a, b, tolerance) for a, b in zip(reference, outputs, strict=True)]
    return OutputDifference(
        max_abs_error=max((pair.absolute for pair in pairs if pair.absolute is not None), default=None),
        max_rel_error=max((pair.relative for pair in pairs if pair.relative is not None), default=None),
        within_tolerance=all(pair.within for pair in pairs),
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


class _Pair(NamedTuple):
    within: bool
    absolute: float | None = None
    relative: float | None = None


def _compare(reference: Any, output: Any, tolerance: Tolerance) -> _Pair:
    """Compare two arrays of one shape. The errors are None where there are no finite numbers to subtract."""
    import numpy as np

    if reference.dtype.kind not in "fc" or output.dtype.kind not in "fc":
        return _Pair(within=bool(np.array_equal(reference, output)))
    finite = np.isfinite(reference) & np.isfinite(output)
    same_elsewhere = bool(np.array_equal(reference[~finite], output[~finite], equal_nan=True))
    wide = np.complex128 if "c" in {reference.dtype.kind, output.dtype.kind} else np.float64
    a, b = reference[finite].astype(wide), output[finite].astype(wide)
    if a.size == 0:
        return _Pair(within=same_elsewhere)
    with np.errstate(over="ignore"):
        error = np.abs(a - b)
    largest = float(np.abs(a).max())
    within = bool((error <= tolerance.relative * np.abs(a) + tolerance.of_largest * largest).all())
    # Relative to the largest value: an element that should be zero has no relative error of its own.
    relative = float(error.max()) / largest if largest > 0 else None
    return _Pair(within and same_elsewhere, _finite(float(error.max())), _finite(relative))


def _finite(error: float | None) -> float | None:
    """Give no figure for a difference beyond all numbers: a recording holds no infinities."""
    return error if error is not None and math.isfinite(error) else None
