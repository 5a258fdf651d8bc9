"""What the NVIDIA driver says of each GPU, through NVML. Needs no CUDA and starts none."""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from mlflow_tfexec.units import BYTES_PER_MB

T = TypeVar("T")

# NVML puts this into a 32-bit answer that it does not know (NVML_VALUE_NOT_AVAILABLE).
_NOT_AVAILABLE = 0xFFFFFFFF

_MIG_PROFILE = re.compile(r"\bMIG (\S+)")


@dataclass(frozen=True)
class MigInstance:
    """One slice of a GPU in MIG mode: a compute instance inside a GPU instance."""

    uuid: str | None = None
    name: str | None = None
    profile: str | None = None
    """Such as `1g.10gb`."""
    memory_mb: int | None = None
    gpu_instance: int | None = None
    compute_instance: int | None = None


@dataclass(frozen=True)
class Gpu:
    """One physical GPU. A fact that NVML does not give is None."""

    index: int
    """NVML's own, which need not be CUDA's: see `gpu_visibility`."""
    name: str | None = None
    uuid: str | None = None
    pci_bus_id: str | None = None
    compute_capability: str | None = None
    memory_mb: int | None = None
    sm_clock_mhz: int | None = None
    sm_clock_max_mhz: int | None = None
    memory_clock_mhz: int | None = None
    memory_clock_max_mhz: int | None = None
    power_limit_w: float | None = None
    ecc: bool | None = None
    mig: bool | None = None
    persistence: bool | None = None
    mig_instances: tuple[MigInstance, ...] = ()
    problem: str | None = None
    """Why the GPU cannot be used. None: it answers."""


@dataclass(frozen=True)
class GpuFacts:
    """The driver and every GPU it knows, whether or not CUDA may use them."""

    driver_version: str | None = None
    cuda_version: str | None = None
    """The newest CUDA that the driver supports, such as `12.4`; not the one TensorFlow uses."""
    gpus: tuple[Gpu, ...] = ()
    problem: str | None = None
    """What is missing before the driver can be asked. None: it was asked, and may still know no GPU."""


def start_nvml() -> str | None:
    """Start NVML. Returns what is missing, or None when it runs; then `stop_nvml` is due."""
    try:
        import pynvml
    except ImportError:
        return "Python package nvidia-ml-py not found"
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return _start_problem(error)
    return None


def stop_nvml() -> None:
    """Stop NVML once. A failure is ignored: nothing is left to be done about it."""
    import pynvml

    ask(pynvml.nvmlShutdown)


def ask(query: Callable[[], T]) -> T | None:
    """Ask NVML one thing. None where it has no answer, whatever its reason."""
    import pynvml

    try:
        return query()
    # AttributeError: this nvidia-ml-py lacks the function. UnicodeDecodeError: the driver's text is none.
    except (pynvml.NVMLError, AttributeError, UnicodeDecodeError):
        return None


def ask_number(query: Callable[[], Any]) -> int | None:
    """Ask NVML for one 32-bit number. None also where it answers "not available"."""
    value = ask(query)
    return None if value is None or value >= _NOT_AVAILABLE else int(value)


def read_gpus() -> GpuFacts:
    """Read all that NVML tells of the driver and the GPUs. Never raises: what fails is absent or a `problem`."""
    problem = start_nvml()
    if problem is not None:
        return GpuFacts(problem=problem)
    import pynvml

    try:
        count = ask_number(pynvml.nvmlDeviceGetCount)
        return GpuFacts(
            driver_version=_text(pynvml.nvmlSystemGetDriverVersion),
            cuda_version=_cuda_version(),
            gpus=tuple(_read_gpu(index) for index in range(count or 0)),
            problem="NVIDIA driver does not say how many GPUs there are" if count is None else None,
        )
    finally:
        stop_nvml()


def _start_problem(error: Any) -> str:
    import pynvml

    library = "nvml.dll" if sys.platform == "win32" else "libnvidia-ml.so.1"
    known = {
        pynvml.NVML_ERROR_LIBRARY_NOT_FOUND: f"NVIDIA driver library {library} not found",
        pynvml.NVML_ERROR_DRIVER_NOT_LOADED: "NVIDIA driver not loaded: its library is here, its kernel module is not",
        pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH: (
            "NVIDIA driver library and kernel module have different versions: reboot, or reload the module"
        ),
        pynvml.NVML_ERROR_NO_PERMISSION: "NVIDIA driver refuses access: this process may not open its devices",
    }
    return known.get(error.value, f"NVIDIA driver cannot be asked: {error}")


def _read_gpu(index: int) -> Gpu:
    import pynvml

    try:
        handle = pynvml.nvmlDeviceGetHandleByIndex(index)
    except pynvml.NVMLError as error:
        return Gpu(index=index, problem=str(error))
    mig = _switch(lambda: pynvml.nvmlDeviceGetMigMode(handle)[0])
    power_limit_mw = ask_number(lambda: pynvml.nvmlDeviceGetEnforcedPowerLimit(handle))
    return Gpu(
        index=index,
        name=_text(lambda: pynvml.nvmlDeviceGetName(handle)),
        uuid=_text(lambda: pynvml.nvmlDeviceGetUUID(handle)),
        pci_bus_id=_text(lambda: pynvml.nvmlDeviceGetPciInfo(handle).busId),
        compute_capability=_compute_capability(handle),
        memory_mb=_memory_mb(handle),
        sm_clock_mhz=ask_number(lambda: pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM)),
        sm_clock_max_mhz=ask_number(lambda: pynvml.nvmlDeviceGetMaxClockInfo(handle, pynvml.NVML_CLOCK_SM)),
        memory_clock_mhz=ask_number(lambda: pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_MEM)),
        memory_clock_max_mhz=ask_number(lambda: pynvml.nvmlDeviceGetMaxClockInfo(handle, pynvml.NVML_CLOCK_MEM)),
        power_limit_w=None if power_limit_mw is None else power_limit_mw / 1000,
        ecc=_switch(lambda: pynvml.nvmlDeviceGetEccMode(handle)[0]),
        mig=mig,
        persistence=_switch(lambda: pynvml.nvmlDeviceGetPersistenceMode(handle)),
        mig_instances=_read_mig_instances(handle) if mig else (),
        problem=_loss(handle),
    )


def _read_mig_instances(handle: Any) -> tuple[MigInstance, ...]:
    """Read every instance that exists; NVML's places for them are numbered with gaps."""
    import pynvml

    places = ask_number(lambda: pynvml.nvmlDeviceGetMaxMigDeviceCount(handle)) or 0
    found = []
    for place in range(places):
        instance = ask(partial(pynvml.nvmlDeviceGetMigDeviceHandleByIndex, handle, place))
        if instance is not None:
            found.append(_read_mig_instance(instance))
    return tuple(found)


def _read_mig_instance(handle: Any) -> MigInstance:
    import pynvml

    name = _text(lambda: pynvml.nvmlDeviceGetName(handle))
    profile = _MIG_PROFILE.search(name or "")
    return MigInstance(
        uuid=_text(lambda: pynvml.nvmlDeviceGetUUID(handle)),
        name=name,
        profile=profile.group(1) if profile else None,
        memory_mb=_memory_mb(handle),
        gpu_instance=ask_number(lambda: pynvml.nvmlDeviceGetGpuInstanceId(handle)),
        compute_instance=ask_number(lambda: pynvml.nvmlDeviceGetComputeInstanceId(handle)),
    )


def _loss(handle: Any) -> str | None:
    """Say that the GPU has fallen off the bus, if it has: its handle may outlive it."""
    import pynvml

    try:
        pynvml.nvmlDeviceGetUUID(handle)
    except pynvml.NVMLError as error:
        return str(error) if error.value == pynvml.NVML_ERROR_GPU_IS_LOST else None
    return None


def _text(query: Callable[[], Any]) -> str | None:
    """Ask for a text. An empty one is no answer."""
    return ask(query) or None


def _switch(query: Callable[[], Any]) -> bool | None:
    """Ask for something that is on (1) or off (0)."""
    value = ask(query)
    return None if value is None else bool(value)


def _cuda_version() -> str | None:
    """Write the driver's CUDA version, which it gives as 1000 × major + 10 × minor."""
    import pynvml

    version = ask_number(pynvml.nvmlSystemGetCudaDriverVersion_v2)
    return f"{version // 1000}.{version % 1000 // 10}" if version else None


def _compute_capability(handle: Any) -> str | None:
    import pynvml

    version = ask(lambda: pynvml.nvmlDeviceGetCudaComputeCapability(handle))
    return f"{version[0]}.{version[1]}" if version else None


def _memory_mb(handle: Any) -> int | None:
    import pynvml

    memory = ask(lambda: pynvml.nvmlDeviceGetMemoryInfo(handle))
    return memory.total // BYTES_PER_MB if memory else None
