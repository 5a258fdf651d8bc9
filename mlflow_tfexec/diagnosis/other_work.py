"""Is the machine busy with something else?"""

from collections.abc import Iterator

from mlflow_tfexec.diagnosis._check import Check, Result
from mlflow_tfexec.diagnosis._facts import Facts

_BUSY = 0.25
"""Share of the cores. An idle machine stays below a tenth."""


def judge(facts: Facts) -> Iterator[Result]:
    """Hold the load of the last minute against the cores. Nothing where the system keeps no load."""
    # The load is the whole machine's, also inside a container that may use a part of it.
    cores = facts.host.get("cpu", {}).get("logical_cores")
    if facts.load is None or not cores:
        return
    found = f"{facts.load:.1f} processes wanted a core in the last minute, of {cores}"
    if facts.load > _BUSY * cores:
        yield Result(
            "note",
            found,
            why="all modes share what is left; rounds in random order keep the comparison fair, intervals get wider",
            do="Stop other work, or measure more launches",
        )
    else:
        yield Result("ok", found)


CHECK = Check(name="other_work", group="Machine", position=32, judge=judge)
