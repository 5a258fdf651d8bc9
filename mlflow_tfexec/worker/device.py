"""Choosing the one device, and what only TensorFlow knows of it."""

import contextlib
import ctypes
import importlib.metadata
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mlflow_tfexec.measurement.call import no_fence


def choose_device(device: str) -> dict[str, Any]:
    """Make *device* (`auto`, `cpu`, `gpu`, `gpu:N`) the only visible one, with memory growth on.

    Returns:
        Facts for the environment. `device` is `CPU` or `GPU:N`, and absent when the GPU asked for is not there.
    """
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    facts = _build_facts()
    facts["gpus_seen"] = len(gpus)
    chosen = make_visible(device)
    if chosen is not None:
        facts["device"] = chosen
    if chosen is not None and chosen != "CPU":
        details = tf.config.experimental.get_device_details(gpus[_gpu_number(chosen)])
        facts["device_details"] = {key: _plain(v) for key, v in details.items()}
        facts.update(_cuda_facts())
    facts["inter_op_threads"] = tf.config.threading.get_inter_op_parallelism_threads() or None
    facts["intra_op_threads"] = tf.config.threading.get_intra_op_parallelism_threads() or None
    return {key: value for key, value in facts.items() if value is not None}


def make_visible(device: str) -> str | None:
    """Make *device* the only visible one, with memory growth on; return `CPU` or `GPU:N`. None: it is not there."""
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    if device == "cpu" or (device == "auto" and not gpus):
        tf.config.set_visible_devices([], "GPU")
        return "CPU"
    number = _gpu_number(device)
    if number >= len(gpus):
        return None
    tf.config.set_visible_devices([gpus[number]], "GPU")
    tf.config.experimental.set_memory_growth(gpus[number], enable=True)
    return f"GPU:{number}"


def numeric_facts() -> dict[str, Any]:
    """Say what bends the arithmetic of this process, as it stands once the model's own code has run.

    `onednn` is what TensorFlow made of TF_ENABLE_ONEDNN_OPTS and the processor. TF32 is a GPU's affair.
    """
    import tensorflow as tf

    facts: dict[str, Any] = {}
    # Neither has a public reader.
    with contextlib.suppress(ImportError, AttributeError):
        from tensorflow.python.util import _pywrap_util_port

        facts["onednn"] = bool(_pywrap_util_port.IsMklEnabled())
    with contextlib.suppress(ImportError, AttributeError):
        from tensorflow.python.framework import config

        facts["op_determinism"] = bool(config.is_op_determinism_enabled())
    if tf.config.get_visible_devices("GPU"):
        facts["tf32"] = bool(tf.config.experimental.tensor_float_32_execution_enabled())
    return facts


def fence_for(device: str) -> Callable[[], None]:
    """Return what waits until *device* has finished.

    A GPU's calls return before their work is done, so each needs TensorFlow's fence. On a CPU a call returns when
    it is done, unless asynchronous execution was switched on, and the fence would only add its own cost.
    Source: https://www.tensorflow.org/api_docs/python/tf/test/experimental/sync_devices
    """
    import tensorflow as tf

    if device.startswith("GPU") or not tf.config.experimental.get_synchronous_execution():
        fence: Callable[[], None] = tf.test.experimental.sync_devices
        return fence
    return no_fence


def peak_memory_bytes(device: str) -> int | None:
    """Return the most memory this process has used: on the GPU by TensorFlow's allocator, else resident on the host."""
    if device.startswith("GPU"):
        import tensorflow as tf

        # The one visible GPU is GPU:0 inside this process, whatever its number outside.
        return int(tf.config.experimental.get_memory_info("GPU:0")["peak"])
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return _peak_from_psutil()
    match = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    return int(match[1]) * 1024 if match else None


def loaded_cuda_versions(maps: str) -> dict[str, str]:
    """Ask the CUDA libraries that are mapped into this process for their versions.

    Args:
        maps: the text of `/proc/self/maps`.
    """
    versions = {}
    runtime = _mapped_library(maps, "libcudart.so")
    if runtime is not None:
        number = ctypes.c_int()
        get_runtime_version = _function(runtime, "cudaRuntimeGetVersion")
        if get_runtime_version is not None and get_runtime_version(ctypes.byref(number)) == 0:
            versions["cuda_runtime_version"] = f"{number.value // 1000}.{number.value % 1000 // 10}"
    cudnn = _mapped_library(maps, "libcudnn.so")
    if cudnn is not None:
        get_cudnn_version = _function(cudnn, "cudnnGetVersion")
        if get_cudnn_version is not None:
            get_cudnn_version.restype = ctypes.c_size_t
            versions["cudnn_runtime_version"] = _cudnn_version(get_cudnn_version())
    return versions


def _cudnn_version(number: int) -> str:
    """Read cuDNN's version number: 90300 is 9.3.0 since version 9, 8907 was 8.9.7 before."""
    major = 10_000 if number >= 90_000 else 1_000  # noqa: PLR2004 - cuDNN 9 changed the scheme
    return f"{number // major}.{number % major // 100}.{number % 100}"


def _function(library: str, name: str) -> Any | None:
    """Look up a C function. None: the library cannot be opened, or has no such function."""
    try:
        return getattr(ctypes.CDLL(library), name)
    except (OSError, AttributeError):
        return None


def _mapped_library(maps: str, name: str) -> str | None:
    for line in maps.splitlines():
        # Five fields stand before the path, which may hold spaces itself.
        path = line.split(maxsplit=5)[-1]
        if path.rpartition("/")[2].startswith(name):
            return path
    return None


def _gpu_number(device: str) -> int:
    return int(device.partition(":")[2] or 0)


def _build_facts() -> dict[str, Any]:
    import keras
    import tensorflow as tf

    build = tf.sysconfig.get_build_info()
    facts = {
        "version": tf.__version__,
        "keras_version": keras.__version__,
        "git_version": tf.version.GIT_VERSION,
        "built_with_cuda": bool(build.get("is_cuda_build")),
        "cuda_version": build.get("cuda_version"),
        "cudnn_version": build.get("cudnn_version"),
        "built_for_compute_capabilities": list(build.get("cuda_compute_capabilities", ())) or None,
        "auto_jit": tf.config.optimizer.get_jit() or None,
    }
    return {key: value for key, value in facts.items() if value is not None}


def _cuda_facts() -> dict[str, Any]:
    import tensorflow as tf

    facts: dict[str, Any] = {"tf32": tf.config.experimental.tensor_float_32_execution_enabled()}
    # One operation on the device makes TensorFlow load what it needs.
    tf.linalg.matmul(tf.ones((8, 8)), tf.ones((8, 8)))
    try:
        facts.update(loaded_cuda_versions(Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")))
    except OSError:
        return facts
    for wheel in ("nvidia-cudnn-cu12", "nvidia-cuda-runtime-cu12"):
        try:
            facts[f"wheel_{wheel}"] = importlib.metadata.version(wheel)
        except importlib.metadata.PackageNotFoundError:
            continue
    return facts


def _plain(value: Any) -> Any:
    """Turn a compute capability such as (9, 0) into text."""
    return ".".join(str(part) for part in value) if isinstance(value, tuple) else str(value)


def _peak_from_psutil() -> int | None:  # pragma: no cover - not Linux
    """Peak working set where the system keeps one (Windows), else `getrusage` (macOS counts bytes)."""
    import psutil

    peak = getattr(psutil.Process().memory_info(), "peak_wset", None)
    if peak is not None:
        return int(peak)
    import resource

    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
