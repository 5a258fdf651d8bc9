"""Do the processes of a benchmark fit into memory?"""

from collections.abc import Iterator

from mlflow_tfexec.diagnosis._check import Check, Result
from mlflow_tfexec.diagnosis._facts import Facts
from mlflow_tfexec.units import memory

_COMFORTABLE = 2.0
"""A model needs something, too."""


def judge(facts: Facts) -> Iterator[Result]:
    """Hold what is free against what one TensorFlow process was seen to take, times the modes of a benchmark."""
    free_mb = facts.available_memory_mb
    limit_mb = facts.host.get("memory", {}).get("cgroup_limit_mb")
    if free_mb is None:
        yield Result("unknown", "How much memory is free is not known on this system")
        return
    limited = f" (the control group's limit is {memory(limit_mb)})" if limit_mb is not None else ""
    process_mb = facts.tensorflow.fact("compute", "peak_memory_mb")
    if process_mb is None:
        yield Result("unknown", f"{memory(free_mb)} are free{limited}; what a TensorFlow process takes was not seen")
        return
    needed_mb = process_mb * facts.default_modes
    found = (
        f"{memory(free_mb)} are free{limited}; a TensorFlow process without a model took {memory(process_mb)}, and a "
        f"benchmark of {facts.default_modes} modes keeps as many alive"
    )
    if free_mb < needed_mb:
        yield Result(
            "problem",
            found,
            why="the system would end one of them, or swap, and no time would mean anything",
            do="Free memory, or measure fewer at a time, such as --modes eager,graph",
        )
    elif free_mb < _COMFORTABLE * needed_mb:
        yield Result("note", found, why="a large model may not fit that often", do="Begin with --modes eager,graph")
    else:
        yield Result("ok", found)


CHECK = Check(name="memory", group="Machine", position=31, judge=judge)
