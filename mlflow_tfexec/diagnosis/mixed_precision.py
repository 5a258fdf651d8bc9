"""Are 16-bit numbers quicker here than 32-bit ones? Timed, because processors differ."""

from collections.abc import Iterator

from mlflow_tfexec.diagnosis._check import Check, Result
from mlflow_tfexec.diagnosis._facts import Facts
from mlflow_tfexec.units import NS_PER_MS, duration

_SLOW = 2.0
"""From here on a precision is a bad choice, and not only no gain: single timings scatter by some tenths."""


def judge(facts: Facts) -> Iterator[Result]:
    """Hold the time of one matrix product in each precision against float32's."""
    times = facts.tensorflow.steps.get("precision", {})
    if not times.get("float32"):
        reason = f": {times['error']}" if "error" in times else ", since TensorFlow did not come so far"
        yield Result("unknown", f"No precision was timed{reason}")
        return
    timed = {name: times[name] for name in ("float32", "float16", "bfloat16") if name in times}
    size, device = times.get("size"), facts.device.get("device", "the device")
    texts = ", ".join(f"{duration(value_ns / NS_PER_MS, digits=2)} in {name}" for name, value_ns in timed.items())
    found = f"A {size}×{size} matrix product on {device} takes {texts}"
    slow = [name for name, value_ns in timed.items() if value_ns > _SLOW * timed["float32"]]
    if not slow:
        yield Result("ok", found)
        return
    yield Result(
        "note",
        found,
        why=f"there is no quick code for {' and '.join(slow)} here: a model in it is slow in every mode",
        do=f"Leave --dtype float32 here; measure mixed_{slow[0]} where the model will run",
    )


CHECK = Check(name="mixed_precision", group="TensorFlow", position=13, judge=judge)
