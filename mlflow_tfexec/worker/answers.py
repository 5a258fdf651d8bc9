"""The baseline's answers, with what is known of them, on their way from its worker to the others."""

import json
import math
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Reference:
    """What other modes are held to. Lists are by place; an empty one is not known."""

    arrays: tuple[Any, ...]
    names: tuple[str | None, ...] = ()
    rounding: tuple[float | None, ...] = ()
    """What a change of every weight by a few roundings makes of each, of its largest value."""
    seeds: tuple[float | None, ...] = ()
    """What another seed makes of each, of its largest value."""
    float64: tuple[Any, ...] = ()
    """The answers of the same model in float64."""
    repeats: bool = True
    """False: the baseline does not answer itself alike."""

    def name_of(self, place: int) -> str | None:
        """Name one answer. None: it is the only one, or has no name."""
        return self.names[place] if place < len(self.names) else None

    def rounding_of(self, place: int) -> float | None:
        """Give what a few roundings make of one answer. None: not known."""
        return self.rounding[place] if place < len(self.rounding) else None

    @property
    def float64_error(self) -> float | None:
        """Largest distance of the baseline itself from float64, of the largest value."""
        errors = [largest_error(exact, own) for exact, own in zip(self.float64, self.arrays, strict=False)]
        return max((error for error in errors if error is not None), default=None)


def to_arrays(outputs: Any) -> list[Any]:
    """Flatten a structure of tensors into NumPy arrays; 16-bit floats become float32, which holds them exactly."""
    import keras
    import numpy as np

    parts = [part for leaf in keras.tree.flatten(outputs) if leaf is not None for part in _parts(leaf)]
    return [_plain(np.asarray(part)) for part in parts]


def _parts(leaf: Any) -> list[Any]:
    """Take a ragged or sparse tensor apart into the tensors that it is made of."""
    import tensorflow as tf

    parts: list[Any] = tf.nest.flatten(leaf, expand_composites=True)
    return parts


def _plain(array: Any) -> Any:
    """Give an array in a dtype that a file can hold and another process can map."""
    import numpy as np

    if array.dtype.name in {"float16", "bfloat16"}:
        return array.astype(np.float32)
    return array.astype(np.bytes_) if array.dtype.kind == "O" else array


def to_names(outputs: Any) -> list[str | None]:
    """Name every tensor of a structure by its path in it, in the order of `to_arrays`. None: it stands alone."""
    import keras

    # Keras has had this since 3.5; before, answers have places only.
    flatten = getattr(keras.tree, "flatten_with_path", None)
    if flatten is None:
        return [None] * len(to_arrays(outputs))
    named = [("/".join(map(str, path)), _parts(leaf)) for path, leaf in flatten(outputs) if leaf is not None]
    return [_part_name(name, place, len(parts)) for name, parts in named for place in range(len(parts))]


def _part_name(name: str, place: int, parts: int) -> str | None:
    return name or None if parts == 1 else f"{name}/{place}".removeprefix("/")


def relative_errors(reference: Sequence[Any], outputs: Sequence[Any]) -> tuple[float | None, ...]:
    """Give the largest error of each output, of its largest value."""
    return tuple(largest_error(a, b) for a, b in zip(reference, outputs, strict=True))


def largest_error(reference: Any, output: Any) -> float | None:
    """Return the largest error of finite numbers, of the largest value. None: there is no such number."""
    import numpy as np

    if reference.dtype.kind not in "fc" or output.dtype.kind not in "fc" or reference.shape != output.shape:
        return None
    finite = np.isfinite(reference) & np.isfinite(output)
    wide = np.complex128 if "c" in {reference.dtype.kind, output.dtype.kind} else np.float64
    a, b = reference[finite].astype(wide), output[finite].astype(wide)
    largest = float(np.abs(a).max()) if a.size else 0.0
    if largest == 0:
        return None
    with np.errstate(over="ignore"):
        error = float(np.abs(a - b).max()) / largest
    return error if math.isfinite(error) else None


def save_reference(reference: Reference | Sequence[Any], directory: Path) -> None:
    """Keep the baseline's answers where the other workers of this launch find them."""
    import numpy as np

    known = reference if isinstance(reference, Reference) else Reference(tuple(reference))
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    for index, array in enumerate(known.arrays):
        np.save(directory / f"{index:04}.npy", array)
    for index, array in enumerate(known.float64):
        np.save(directory / f"{index:04}.float64.npy", array)
    facts = {"names": known.names, "rounding": known.rounding, "seeds": known.seeds, "repeats": known.repeats}
    (directory / "facts.json").write_text(json.dumps(facts), encoding="utf-8")


def load_reference(directory: Path) -> Reference | None:
    """Map the baseline's answers into memory. None: the baseline left none."""
    import numpy as np

    def arrays(pattern: str) -> tuple[Any, ...]:
        return tuple(np.load(path, mmap_mode="r") for path in sorted(directory.glob(pattern)))

    own = arrays("[0-9][0-9][0-9][0-9].npy")
    if not own:
        return None
    facts = json.loads((directory / "facts.json").read_text(encoding="utf-8"))
    lists = {name: tuple(facts[name]) for name in ("names", "rounding", "seeds")}
    return Reference(own, **lists, float64=arrays("*.float64.npy"), repeats=facts["repeats"])
