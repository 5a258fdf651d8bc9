"""The machine as the recording's header tells it: what a reader needs to judge whether two results may be compared."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from importlib import metadata
from typing import Any

from mlflow_tfexec._version import __version__
from mlflow_tfexec.measurement import cgroup, host
from mlflow_tfexec.measurement.gpu_visibility import VisibleGpu, visible_gpus
from mlflow_tfexec.measurement.nvml import Gpu, GpuFacts, read_gpus
from mlflow_tfexec.measurement.variables import result_variables

# Any of these may be what `import tensorflow` finds.
_TENSORFLOW_PACKAGES = (
    "tensorflow",
    "tensorflow-cpu",
    "tensorflow-intel",
    "tensorflow-macos",
    "tensorflow-rocm",
    "tf-nightly",
    "tf-nightly-cpu",
)
_OTHER_PACKAGES = (
    "h5py",
    "intel-extension-for-tensorflow",
    "keras",
    "mlflow",
    "mlflow-skinny",
    "ml-dtypes",
    "numpy",
    "nvidia-ml-py",
    "pandas",
    "protobuf",
    "scipy",
    "tensorflow-metal",
    "tensorrt",
    "tf-keras",
)

_MB_PER_GB = 1024


def describe_host(environ: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """Describe this machine as JSON data. Imports no TensorFlow, starts no CUDA, reads no clock.

    Keys: `python`, `packages`, `os`, `cpu`, `memory`, `container`, `gpu_driver`, `gpus` (those CUDA will show, in its
    order, so that `gpus[n]` is TensorFlow's `GPU:n`), `gpus_hidden` (working GPUs of which CUDA shows nothing),
    `gpus_unusable`, `gpu_order_certain` and `variables`. What is not known is absent.
    """
    limits = cgroup.read_limits()
    facts = read_gpus()
    container = host.container(environ)
    return _known(
        {
            "python": host.python(),
            "packages": package_versions(),
            "os": host.operating_system(),
            "cpu": {
                "name": host.cpu_name(),
                "logical_cores": host.logical_cores(),
                "usable_cores": host.usable_cores(),
                "governor": host.governor(),
                "cgroup_cpu_quota": limits.cpu_quota,
            },
            "memory": {"total_mb": host.memory_total_mb(), "cgroup_limit_mb": limits.memory_limit_mb},
            "container": asdict(container) if container else None,
            **describe_gpus(facts, environ),
            "variables": result_variables(environ),
        }
    )


def describe_gpus(facts: GpuFacts, environ: Mapping[str, str]) -> dict[str, Any]:
    """Describe the driver and the GPUs as `describe_host` does, from facts at hand. Pure."""
    visibility = visible_gpus(facts, environ)
    return _known(
        {
            "gpu_driver": {
                "version": facts.driver_version,
                "cuda_version": facts.cuda_version,
                "problem": facts.problem,
            },
            "gpus": [_known(_gpu_dict(device)) for device in visibility.devices],
            "gpus_hidden": visibility.hidden,
            "gpus_unusable": [
                {"index": gpu.index, "problem": problem} for gpu in facts.gpus if (problem := _gpu_problem(gpu))
            ],
            "gpu_order_certain": visibility.order_certain if facts.gpus else None,
        }
    )


def package_versions() -> dict[str, str]:
    """Find the installed versions of what takes part in a benchmark, by distribution name. Imports none of it."""
    names = {*_TENSORFLOW_PACKAGES, *_OTHER_PACKAGES, *_cuda_wheels()}
    versions = {name: package_version(name) for name in sorted(names)}
    known = {name: version for name, version in versions.items() if version is not None}
    # Our own is known also where we run from a checkout.
    return {**known, "mlflow-tfexec": __version__}


def fingerprint(environment: Mapping[str, Any]) -> str:
    """Boil a description down to 16 hex digits that are equal where two results may be compared.

    Takes in the processor, the cores and memory that may be used, the visible GPUs and their driver, the system and its
    kernel's series, Python's minor version, TensorFlow's and Keras's versions. Leaves out clocks, load, the governor,
    variables, and whatever TensorFlow adds later.
    """
    cpu, memory, system = (environment.get(key, {}) for key in ("cpu", "memory", "os"))
    packages = environment.get("packages", {})
    facts = {
        "cpu": [cpu.get(key) for key in ("name", "usable_cores", "cgroup_cpu_quota")],
        "memory": [_rounded_gb(memory.get(key)) for key in ("total_mb", "cgroup_limit_mb")],
        "gpus": [[gpu.get("name"), gpu.get("uuid")] for gpu in environment.get("gpus", [])],
        "driver": environment.get("gpu_driver", {}).get("version"),
        "os": [system.get("name"), system.get("machine"), _minor(system.get("release"))],
        "python": _minor(environment.get("python", {}).get("version")),
        "packages": {name: packages.get(name) for name in (*_TENSORFLOW_PACKAGES, "keras")},
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


def gpu_missing_reason(environment: Mapping[str, Any]) -> str:
    """Say in one or two lines why TensorFlow sees no GPU, and what to do.

    Args:
        environment: what `describe_host` gave; with `tensorflow` facts, if the worker has added them.
    """
    driver = environment.get("gpu_driver", {})
    if driver.get("problem"):
        return f"No GPU: {driver['problem']}.\nInstall or repair the NVIDIA driver, or use --device cpu."
    if environment.get("gpus"):
        return _tensorflow_reason(environment)
    if environment.get("gpus_hidden"):
        return _hidden_reason(environment)
    unusable = environment.get("gpus_unusable", [])
    if unusable:
        problems = "; ".join(f"GPU {gpu['index']}: {gpu['problem']}" for gpu in unusable)
        return f"No usable GPU. {problems}.\nReset or repair it (see nvidia-smi), or use --device cpu."
    version = driver.get("version", "of unknown version")
    return f"No GPU: NVIDIA driver {version} finds none.\nGive this machine or container a GPU, or use --device cpu."


def _hidden_reason(environment: Mapping[str, Any]) -> str:
    request = environment.get("variables", {}).get("CUDA_VISIBLE_DEVICES")
    count = environment["gpus_hidden"]
    if request is None:
        # Without a request CUDA shows every GPU but those in MIG mode that have no instance.
        return (
            f"{count} GPU(s) in MIG mode without an instance.\nCreate one (nvidia-smi mig -cgi), or use --device cpu."
        )
    return (
        f"CUDA_VISIBLE_DEVICES={request!r} hides all {count} GPU(s).\n"
        "Unset it, or name a GPU of `nvidia-smi -L` in it, or use --device cpu."
    )


def _tensorflow_reason(environment: Mapping[str, Any]) -> str:
    """Explain why TensorFlow does not take a GPU that CUDA would show."""
    name = environment["gpus"][0].get("name", "a GPU")
    built_with_cuda = environment.get("tensorflow", {}).get("built_with_cuda")
    if built_with_cuda is False:
        cause = "this TensorFlow is built without CUDA"
    elif not any(package.startswith("nvidia-cudnn") for package in environment.get("packages", {})):
        cause = "the CUDA libraries for TensorFlow are not installed as Python packages"
    else:
        cause = "TensorFlow could not load its CUDA libraries; its log says which"
    return f"The driver sees {name}, but {cause}.\nRun: pip install 'mlflow-tfexec[gpu]', or use --device cpu."


def _gpu_dict(device: VisibleGpu) -> dict[str, Any]:
    """Flatten a visible device. A MIG instance has its own name, UUID and memory, and its GPU's other facts."""
    facts = asdict(device.gpu)
    del facts["mig_instances"], facts["problem"]
    if device.instance:
        facts |= {
            "name": device.instance.name or device.gpu.name,
            "uuid": device.instance.uuid,
            "memory_mb": device.instance.memory_mb,
            "mig_profile": device.instance.profile,
            "mig_gpu_uuid": device.gpu.uuid,
        }
    return facts


def _gpu_problem(gpu: Gpu) -> str | None:
    if gpu.mig and not gpu.mig_instances and gpu.problem is None:
        return "MIG mode is on, but there is no MIG instance"
    return gpu.problem


def _cuda_wheels() -> list[str]:
    """Name the NVIDIA packages that the installed TensorFlow's `and-cuda` asks for."""
    names = []
    for package in _TENSORFLOW_PACKAGES:
        try:
            requirements = metadata.requires(package) or []
        except metadata.PackageNotFoundError:
            continue
        words = (requirement.replace("<", " ").replace(">", " ").split() for requirement in requirements)
        names += [word[0] for word in words if word and word[0].startswith("nvidia-")]
    return names


def tensorflow_version() -> str | None:
    """Find the version of the installed TensorFlow, whatever its package is called. None: there is none."""
    return next((version for name in _TENSORFLOW_PACKAGES if (version := package_version(name))), None)


def package_version(package: str) -> str | None:
    """Find the installed version of a package by its distribution name. None: it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _minor(version: str | None) -> str | None:
    """Keep the first two numbers of a version: `6.8.0-45-generic` is the 6.8 series."""
    return None if version is None else ".".join(version.split(".")[:2])


def _rounded_gb(value_mb: int | None) -> int | None:
    """Round to GiB: the kernel keeps a few MiB more or less for itself after each update."""
    return None if value_mb is None else round(value_mb / _MB_PER_GB)


def _known(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out every None, also inside."""
    return {
        key: _known(value) if isinstance(value, dict) else value for key, value in facts.items() if value is not None
    }
