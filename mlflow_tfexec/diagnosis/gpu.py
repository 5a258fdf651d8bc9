"""Is there a GPU, and does TensorFlow see it? Where the driver does and TensorFlow does not: why."""

from collections.abc import Iterator
from typing import Any

from mlflow_tfexec.diagnosis._check import Check, Result, Status
from mlflow_tfexec.diagnosis._facts import Facts
from mlflow_tfexec.diagnosis._log import missing_libraries
from mlflow_tfexec.measurement.environment import gpu_missing_reason
from mlflow_tfexec.units import count, memory

_CPU_ONLY = "benchmarks run on the CPU; --device gpu is refused"
_SILENT_CPU = "without --device gpu a benchmark would run on the CPU, and say so"

_DRIVER_LIBRARY = "libcuda.so.1"


def judge(facts: Facts) -> Iterator[Result]:
    """Compare what NVML, CUDA's driver and TensorFlow say."""
    seen = facts.device.get("gpus_seen")
    shown: list[dict[str, Any]] = facts.host.get("gpus", [])
    if seen:
        yield from _seen(facts, int(seen), shown)
    elif not shown:
        yield _not_shown(facts)
    elif seen is None:
        yield Result(
            "unknown",
            f"The driver shows {_names(shown)}; whether TensorFlow sees it is not known, since it did not come so far",
        )
    else:
        found, do = _blindness(facts)
        yield Result(
            "problem", f"The driver shows {_names(shown)}, but TensorFlow sees no GPU: {found}", why=_SILENT_CPU, do=do
        )


def _seen(facts: Facts, seen: int, shown: list[dict[str, Any]]) -> Iterator[Result]:
    details = facts.device.get("device_details", {})
    name = details.get("device_name") or (shown[0].get("name") if shown else None) or "a GPU"
    chosen = shown[0] if shown else {}
    parts = [
        f"compute capability {details['compute_capability']}" if "compute_capability" in details else None,
        memory(chosen["memory_mb"]) if chosen.get("memory_mb") else None,
        f"driver {facts.host['gpu_driver']['version']}" if facts.host.get("gpu_driver", {}).get("version") else None,
    ]
    beside = ", ".join(part for part in parts if part)
    yield Result("ok", f"TensorFlow sees {count(seen, 'GPU', 'GPUs')}, and would use {name}{beside and f' ({beside})'}")
    if seen < len(shown):
        yield Result(
            "note",
            f"CUDA shows {len(shown)} GPUs, TensorFlow takes {seen}",
            why="it leaves out GPUs below its least compute capability, or with far fewer multiprocessors",
            do="Set TF_MIN_GPU_MULTIPROCESSOR_COUNT if a smaller one is meant",
        )


def _not_shown(facts: Facts) -> Result:
    """Say why there is no GPU. A machine without one, or one that was told to hide it, is in order."""
    found, _, do = gpu_missing_reason(dict(facts.host)).partition("\n")
    problem = facts.host.get("gpu_driver", {}).get("problem", "")
    intended = "CUDA_VISIBLE_DEVICES" in facts.variables and facts.host.get("gpus_hidden")
    absent = "not found" in problem or not (problem or facts.host.get("gpus_hidden") or facts.host.get("gpus_unusable"))
    status: Status = "note" if absent or intended else "problem"
    return Result(status, found.rstrip("."), why=_CPU_ONLY, do=do.rstrip("."))


def _blindness(facts: Facts) -> tuple[str, str]:
    """Find the first cause in the order in which TensorFlow meets them. Returns (cause, what to do)."""
    tensorflow = facts.device
    driver = facts.tensorflow.steps.get("driver", {})
    missing = [name for name in missing_libraries(facts.tensorflow.log) if name != _DRIVER_LIBRARY]
    if tensorflow.get("built_with_cuda") is not False and driver.get("missing"):
        return (
            f"CUDA's driver library cannot be loaded ({driver['missing']})",
            "In a container, set NVIDIA_DRIVER_CAPABILITIES=compute,utility; else install all of the NVIDIA driver",
        )
    if tensorflow.get("built_with_cuda") is not False and driver.get("init"):
        return (
            f"CUDA's driver does not start: cuInit answers {driver['init']}{_cuda_error(driver)}",
            "Restart the machine or container, or install a driver that fits its kernel module",
        )
    if missing:
        return (
            f"its CUDA libraries are not there ({', '.join(missing)})",
            "Run: pip install 'tensorflow[and-cuda]'",
        )
    reason = gpu_missing_reason({**facts.host, "tensorflow": tensorflow})
    cause, _, do = reason.partition("\n")
    return cause.partition(", but ")[2].rstrip(".") or cause, do.rstrip(".")


def _cuda_error(driver: Any) -> str:
    return f" ({driver['init_text']})" if driver.get("init_text") else ""


def _names(gpus: list[dict[str, Any]]) -> str:
    names = [gpu.get("name") or "a GPU without a name" for gpu in gpus]
    return ", ".join(
        f"{names.count(name)} × {name}" if names.count(name) > 1 else name for name in dict.fromkeys(names)
    )


CHECK = Check(name="gpu", group="GPU", position=20, judge=judge)
