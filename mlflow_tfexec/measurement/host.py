"""What this machine is: processor, cores, memory, operating system, container, Python. Unknown facts are None."""

import contextlib
import platform
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from mlflow_tfexec.measurement.cgroup import SYSTEM_ROOT
from mlflow_tfexec.units import BYTES_PER_MB

# Files and variables that container runtimes leave inside, and the runtime each speaks of.
_CONTAINER_FILES = (".dockerenv", "run/.containerenv", "run/systemd/container", ".singularity.d")
_CONTAINER_VARIABLES = ("KUBERNETES_SERVICE_HOST", "APPTAINER_NAME", "SINGULARITY_NAME")
_CONTAINER_GROUPS = ("docker", "kubepods", "containerd", "libpod", "lxc")


@dataclass(frozen=True)
class Container:
    """Whether this process runs in a container, and how that is known."""

    inside: bool
    """False: no sign of one was found, which a well-made container can bring about."""
    evidence: str | None = None
    """The file, variable or control group that gives it away."""


def cpu_name(root: Path = SYSTEM_ROOT) -> str | None:
    """Name the processor as its maker does, such as `Intel(R) Xeon(R) Platinum 8480+`."""
    if sys.platform == "darwin":
        return _mac_cpu_name()
    if sys.platform == "win32":
        return _windows_cpu_name()
    fields = _cpuinfo(root)
    if "model name" in fields:
        return fields["model name"]
    # ARM's kernels give numbers instead of a name; they identify the core all the same.
    if "CPU implementer" in fields and "CPU part" in fields:
        return f"{platform.machine()} implementer {fields['CPU implementer']} part {fields['CPU part']}"
    return None


def logical_cores() -> int | None:
    """Count the cores of the machine, hyper-threads included."""
    return psutil.cpu_count(logical=True)


def usable_cores() -> int | None:
    """Count the cores that this process may be scheduled on; a CPU quota is another matter."""
    if sys.platform == "darwin":
        return logical_cores()
    try:
        return len(psutil.Process().cpu_affinity() or ()) or None
    except (psutil.Error, OSError, NotImplementedError):
        return None


def governor(root: Path = SYSTEM_ROOT) -> str | None:
    """Name the first core's frequency policy, such as `performance`. None: the system does not control frequency."""
    return _first_line(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")


def memory_total_mb() -> int:
    """Give the machine's memory in MiB."""
    return int(psutil.virtual_memory().total) // BYTES_PER_MB


def container(environ: Mapping[str, str], root: Path = SYSTEM_ROOT) -> Container | None:
    """Look for a container around this process. None: not Linux, so it cannot be told."""
    if sys.platform != "linux":
        return None
    for name in _CONTAINER_FILES:
        if (root / name).exists():
            return Container(inside=True, evidence=f"/{name}")
    for name in _CONTAINER_VARIABLES:
        if environ.get(name):
            return Container(inside=True, evidence=name)
    groups = _read(root / "proc/self/cgroup") or ""
    for name in _CONTAINER_GROUPS:
        if f"/{name}" in groups:
            return Container(inside=True, evidence=f"control group {name}")
    return Container(inside=False)


def operating_system() -> dict[str, str]:
    """Name the system, its kernel release, the machine architecture, and on Linux the distribution."""
    facts = {"name": platform.system(), "release": platform.release(), "machine": platform.machine()}
    with contextlib.suppress(OSError):
        facts["distribution"] = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    return {key: value for key, value in facts.items() if value}


def python() -> dict[str, str]:
    """Name the Python that runs this: version and implementation."""
    return {"version": platform.python_version(), "implementation": platform.python_implementation()}


def in_first_pid_namespace(root: Path = SYSTEM_ROOT) -> bool:
    """Say whether process ids mean the same here as to the driver. False: not so, or it cannot be told.

    The first namespace always has this number (PROC_PID_INIT_INO in the kernel's include/linux/proc_ns.h).
    """
    if sys.platform != "linux":
        return True
    try:
        return str((root / "proc/self/ns/pid").readlink()) == "pid:[4026531836]"
    except OSError:
        return False


def _cpuinfo(root: Path) -> dict[str, str]:
    """Read the fields of the first processor in /proc/cpuinfo."""
    fields: dict[str, str] = {}
    for line in (_read(root / "proc/cpuinfo") or "").splitlines():
        name, found, value = line.partition(":")
        if found and value.strip():
            fields.setdefault(name.strip(), value.strip())
    return fields


def _mac_cpu_name() -> str | None:
    try:
        answer = subprocess.run(
            ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"],
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip() or None


def _windows_cpu_name() -> str | None:
    if sys.platform != "win32":
        return None
    import winreg

    try:
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, r"HARDWARE\DESCRIPTION\System\CentralProcessor\0") as key:
            return str(winreg.QueryValueEx(key, "ProcessorNameString")[0]).strip() or None
    except OSError:
        return None


def _first_line(path: Path) -> str | None:
    lines = (_read(path) or "").splitlines()
    return (lines[0].strip() or None) if lines else None


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
