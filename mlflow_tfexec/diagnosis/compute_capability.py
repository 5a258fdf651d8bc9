"""Does this TensorFlow hold code for this GPU, or must the driver compile it first?

Source: CUDA C++ Programming Guide, "Binary compatibility" and "PTX compatibility": a binary runs on the same major and
the same or a later minor capability; PTX is compiled by the driver for the same or any later capability.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from mlflow_tfexec.diagnosis._check import Check, Result
from mlflow_tfexec.diagnosis._facts import Facts

Fit = Literal["binary", "ptx", "none"]

_ENTRY = re.compile(r"(sm|compute)_(\d+)(\d)([af]?)")
_CAPABILITY = re.compile(r"(\d+)\.(\d+)")


def judge(facts: Facts) -> Iterator[Result]:
    """Compare the build's list with the GPU. Nothing where TensorFlow uses no GPU, or its build names none."""
    built = facts.device.get("built_for_compute_capabilities")
    capability = facts.device.get("device_details", {}).get("compute_capability") or _of_driver(facts)
    if not built or capability is None or not facts.has_nvidia_gpu:
        return
    listed = ", ".join(built)
    fit = fit_of(built, capability)
    if fit == "binary":
        yield Result("ok", f"TensorFlow holds code for compute capability {capability} ({listed})")
    elif fit == "ptx":
        yield Result(
            "note",
            f"The GPU has compute capability {capability}; TensorFlow is built for {listed}, so that the driver "
            "compiles each kernel at its first use",
            why="first calls take longer, on a GPU newer than the build half an hour in bad cases; later ones do not",
            do=_cache_advice(facts),
        )
    elif fit == "none":
        yield Result(
            "problem",
            f"The GPU has compute capability {capability}; TensorFlow is built for {listed}, which cannot run on it",
            why="kernels would fail with `no kernel image is available`",
            do="Install a TensorFlow built for this GPU, or use --device cpu",
        )


def fit_of(built: Sequence[str], capability: str) -> Fit | None:
    """Say how code built for *built* (such as `sm_80`, `compute_90`) runs on a GPU. None: it cannot be told.

    >>> fit_of(["sm_80", "compute_90"], "8.6"), fit_of(["sm_80", "compute_90"], "9.0"), fit_of(["sm_80"], "9.0")
    ('binary', 'ptx', 'none')
    """
    gpu = _CAPABILITY.fullmatch(capability)
    entries = [entry for entry in map(_ENTRY.fullmatch, built) if entry]
    if gpu is None or len(entries) != len(built):
        return None
    major, minor = int(gpu[1]), int(gpu[2])
    fits: set[Fit] = {_fit_of_one(entry, major, minor) for entry in entries}
    return "binary" if "binary" in fits else "ptx" if "ptx" in fits else "none"


def _fit_of_one(entry: re.Match[str], major: int, minor: int) -> Fit:
    kind, suffix, place = entry[1], entry[4], (int(entry[2]), int(entry[3]))
    # `a` is for exactly this GPU, `f` for its family.
    within = place == (major, minor) if suffix == "a" else place <= (major, minor)
    if suffix == "f" and place[0] != major:
        within = False
    if kind == "compute":
        return "ptx" if within else "none"
    return "binary" if within and place[0] == major else "none"


def _of_driver(facts: Facts) -> str | None:
    gpus = facts.host.get("gpus", [])
    capability: str | None = gpus[0].get("compute_capability") if gpus else None
    return capability


def _cache_advice(facts: Facts) -> str:
    if facts.variables.get("CUDA_CACHE_DISABLE") == "1":
        return "Unset CUDA_CACHE_DISABLE=1, else every process compiles them again"
    return "Let the first benchmark finish: the driver keeps them (CUDA_CACHE_PATH, else ~/.nv/ComputeCache)"


CHECK = Check(name="compute_capability", group="GPU", position=23, judge=judge)
