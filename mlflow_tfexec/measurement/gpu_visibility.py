"""Which GPUs CUDA will show to a process, in which order: the bridge between NVML's list and TensorFlow's `GPU:n`.

Sources: the CUDA programming guide's table of environment variables (order of the list, first invalid entry, shortened
UUIDs, the older MIG form); the MIG user guide, "CUDA device enumeration" (which instances are seen); PyTorch's
torch/cuda/__init__.py for what they leave out (a repeated entry empties the list; an index is read as by strtoul).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from mlflow_tfexec.measurement.nvml import Gpu, GpuFacts, MigInstance

# The first driver under which one process sees several MIG instances, and whole GPUs beside them.
_SEVERAL_INSTANCES_DRIVER = 570

# A GPU, and the one of its instances that was asked for by name.
Choice = tuple[Gpu, MigInstance | None]

_INDEX = re.compile(r"\+?[0-9]+")
_OLD_MIG = re.compile(r"MIG-(GPU-[^/]+)/([0-9]+)/([0-9]+)")


@dataclass(frozen=True)
class VisibleGpu:
    """One device as CUDA sees it: a whole GPU, or one instance of a GPU in MIG mode."""

    gpu: Gpu
    instance: MigInstance | None = None

    @property
    def uuid(self) -> str | None:
        """The UUID that names exactly this device: the instance's own in MIG mode."""
        return self.instance.uuid if self.instance else self.gpu.uuid


@dataclass(frozen=True)
class Visibility:
    """What CUDA will show."""

    devices: tuple[VisibleGpu, ...]
    """In CUDA's order: the n-th is TensorFlow's `GPU:n`."""
    hidden: int
    """Working GPUs of which no part is shown."""
    order_certain: bool
    """False: NVML cannot tell which of several different GPUs CUDA numbers first."""


def visible_gpus(facts: GpuFacts, environ: Mapping[str, str]) -> Visibility:
    """Work out what CUDA will show under *environ* (CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER). Asks no driver.

    TensorFlow may leave out more: GPUs below its least compute capability, or with few multiprocessors beside larger
    ones (TF_MIN_GPU_MULTIPROCESSOR_COUNT).
    """
    working, order_certain = _in_cuda_order(facts, environ)
    request = environ.get("CUDA_VISIBLE_DEVICES")
    entries = None if request is None else _entries(request)
    chosen = _whole(working) if entries is None else _resolve(entries, working)
    named = entries is not None and not any(_is_index(entry) for entry in entries)
    devices = _as_cuda_shows(chosen, facts)
    shown = {device.gpu.index for device in devices}
    # Which instance CUDA takes of several is its own choice unless each is named.
    picked = sum(1 for gpu, instance in chosen if gpu.mig and instance is None)
    instances_certain = picked == 0 or (len(chosen) == 1 and len(chosen[0][0].mig_instances) <= 1)
    return Visibility(
        devices=devices,
        hidden=sum(1 for gpu in working if gpu.index not in shown),
        order_certain=(order_certain or named) and instances_certain,
    )


def _in_cuda_order(facts: GpuFacts, environ: Mapping[str, str]) -> tuple[list[Gpu], bool]:
    """Order the GPUs that answer as CUDA does before any choice, and say whether that order is certain.

    CUDA's default is the fastest first by a rule of its own, and the PCI bus among equals; NVML goes by the PCI bus.
    """
    working = [gpu for gpu in facts.gpus if gpu.problem is None]
    # Nobody says whether CUDA counts a GPU that no longer answers.
    certain = len(working) == len(facts.gpus)
    if environ.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID":
        bus_ids = [gpu.pci_bus_id for gpu in working]
        if None in bus_ids:
            return working, certain and len(working) <= 1
        return sorted(working, key=lambda gpu: gpu.pci_bus_id or ""), certain
    names = {gpu.name for gpu in working}
    alike = len(working) <= 1 or (len(names) == 1 and None not in names)
    return working, certain and alike


def _entries(request: str) -> list[str]:
    """Split the list up to the first entry that is not of the first one's kind. A repeated entry empties it."""
    entries: list[str] = []
    for raw in request.split(","):
        entry = raw.strip()
        index = _INDEX.match(entry)
        if index:
            entry = str(int(index.group()))
        elif not entry.startswith(("GPU-", "MIG-")):
            break
        if entries and _is_index(entry) != _is_index(entries[0]):
            break
        if entry in entries:
            return []
        entries.append(entry)
    return entries


def _is_index(entry: str) -> bool:
    return not entry.startswith(("GPU-", "MIG-"))


def _whole(gpus: list[Gpu]) -> list[Choice]:
    return [(gpu, None) for gpu in gpus]


def _resolve(entries: list[str], working: list[Gpu]) -> list[Choice]:
    """Find each entry's device, up to the first that has none. Two names of one device empty the list."""
    chosen: list[Choice] = []
    for entry in entries:
        device = _find(entry, working)
        if device is None:
            break
        if device in chosen:
            return []
        chosen.append(device)
    return chosen


def _find(entry: str, working: list[Gpu]) -> Choice | None:
    """Find the one device that *entry* names. None: no such device, or more than one."""
    if _is_index(entry):
        return (working[int(entry)], None) if int(entry) < len(working) else None
    parts = [(gpu, instance) for gpu in working for instance in gpu.mig_instances]
    old = _OLD_MIG.fullmatch(entry)
    if old:
        uuid, *numbers = old.groups()
        place = tuple(int(number) for number in numbers)
        named = [
            (gpu, instance)
            for gpu, instance in parts
            if gpu.uuid == uuid and (instance.gpu_instance, instance.compute_instance) == place
        ]
        return named[0] if len(named) == 1 else None
    matches: list[Choice] = [
        (gpu, instance)
        for gpu, instance in (*_whole(working), *parts)
        if ((instance or gpu).uuid or "").startswith(entry)
    ]
    return matches[0] if len(matches) == 1 else None


def _as_cuda_shows(chosen: list[Choice], facts: GpuFacts) -> tuple[VisibleGpu, ...]:
    """Replace each GPU in MIG mode by its instances, one for each GPU instance; older drivers show one in all."""
    devices: list[VisibleGpu] = []
    taken: set[tuple[int, int | None]] = set()
    for gpu, named in chosen:
        if not gpu.mig:
            devices.append(VisibleGpu(gpu))
            continue
        for instance in (named,) if named else gpu.mig_instances:
            place = (gpu.index, instance.gpu_instance)
            if instance.gpu_instance is None or place not in taken:
                taken.add(place)
                devices.append(VisibleGpu(gpu, instance))
    if not _shows_several_instances(facts.driver_version):
        instances = [device for device in devices if device.instance]
        return tuple(instances[:1] or devices)
    return tuple(devices)


def _shows_several_instances(driver_version: str | None) -> bool:
    major = _INDEX.match(driver_version or "")
    return major is not None and int(major.group()) >= _SEVERAL_INSTANCES_DRIVER
