"""How many cores may be used, and do TensorFlow's threads fit on them?"""

from collections.abc import Iterator

from mlflow_tfexec.diagnosis._check import Check, Result
from mlflow_tfexec.diagnosis._facts import Facts
from mlflow_tfexec.units import count

_THREAD_VARIABLES = ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "OMP_NUM_THREADS")


def judge(facts: Facts) -> Iterator[Result]:
    """Compare cores, quota and threads."""
    cpu = facts.host.get("cpu", {})
    usable, logical, quota = cpu.get("usable_cores"), cpu.get("logical_cores"), cpu.get("cgroup_cpu_quota")
    if usable is None:
        yield Result("unknown", "How many cores may be used is not known on this system")
        return
    of = f" of {logical}" if logical is not None and logical != usable else ""
    governor = f", frequency policy {cpu['governor']}" if cpu.get("governor") else ""
    yield Result(
        "ok",
        f"{count(usable, 'core', 'cores') if not of else f'{usable}{of} cores'} may be used{_named(cpu)}{governor}",
    )
    if quota is not None and quota < usable:
        yield Result(
            "note",
            f"The control group grants {quota:g} cores' time, on {count(usable, 'core', 'cores')}",
            why="TensorFlow starts a thread per core; when they have used up the quota the system stops them all, and "
            "single calls take many times as long",
            do=_fit_advice(quota),
        )
    threads = {name: facts.variables[name] for name in _THREAD_VARIABLES if name in facts.variables}
    if threads:
        yield Result(
            "note",
            f"Threads are set: {', '.join(f'{name}={value}' for name, value in threads.items())}",
            why="all modes are measured with as many, and XLA's code on a CPU uses them differently",
            do="Unset them unless that is how the model will run",
        )


def _named(cpu: dict[str, object]) -> str:
    return f" ({cpu['name']})" if cpu.get("name") else ""


def _fit_advice(quota: float) -> str:
    whole = max(1, int(quota))
    last = f"0-{whole - 1}" if whole > 1 else "0"
    return (
        f"Give whole cores instead of time (docker run --cpuset-cpus {last}, taskset -c {last}), "
        f"or set TF_NUM_INTRAOP_THREADS={whole}"
    )


CHECK = Check(name="cpu", group="Machine", position=30, judge=judge)
