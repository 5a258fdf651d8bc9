"""Can recordings be written?"""

from collections.abc import Iterator

from mlflow_tfexec.diagnosis._check import Check, Result
from mlflow_tfexec.diagnosis._facts import Facts
from mlflow_tfexec.units import memory

_LITTLE_MB = 500
"""A recording is a few MiB; outputs that modes exchange can be hundreds."""


def judge(facts: Facts) -> Iterator[Result]:
    """Judge the spool's directory and the disk under it."""
    spool = facts.spool
    if spool is None:
        yield Result("unknown", "The spool was not looked at")
    elif spool.problem is not None:
        yield Result(
            "problem",
            f"Recordings cannot be written to {spool.directory}: {spool.problem}",
            do="Name another directory with --spool-dir or MLFLOW_TFEXEC_SPOOL",
            blocks=True,
        )
    else:
        free = f", {memory(spool.free_mb)} free" if spool.free_mb is not None else ""
        little = spool.free_mb is not None and spool.free_mb < _LITTLE_MB
        yield Result(
            "note" if little else "ok",
            f"Recordings go to {spool.directory}{free}",
            why="a disk that fills up ends a benchmark" if little else None,
            do="Free some space, or name another directory with --spool-dir" if little else None,
        )


CHECK = Check(name="spool_directory", group="Results", position=51, judge=judge)
