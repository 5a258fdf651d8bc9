"""Limits that a container or a service manager puts on this process, from Linux control groups, version 1 and 2.

File names and meanings: the kernel's Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst,
Documentation/scheduler/sched-bwc.rst. A limit of an outer group holds for the inner ones, so all levels are read.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypeVar

from mlflow_tfexec.units import BYTES_PER_MB

SYSTEM_ROOT = Path("/")

T = TypeVar("T")

# Version 1 writes "no limit" as the largest multiple of the page size below 2^63.
_NO_LIMIT_BYTES = 2**60


@dataclass(frozen=True)
class CgroupLimits:
    """The tightest limits over all levels. None: no limit, or no control groups."""

    cpu_quota: float | None = None
    """CPU time per wall time: 1.5 is one and a half cores, wherever they run."""
    memory_limit_mb: int | None = None


def read_limits(root: Path = SYSTEM_ROOT) -> CgroupLimits:
    """Read the CPU quota and the memory limit of this process. *root* stands in for `/`."""
    return CgroupLimits(
        cpu_quota=min(_each_level("cpu", root, _cpu_quota), default=None),
        memory_limit_mb=min(_each_level("memory", root, _memory_limit_mb), default=None),
    )


def throttled_periods(root: Path = SYSTEM_ROOT) -> int | None:
    """Count the scheduling periods in which the CPU quota stopped this process's groups, since they were made."""
    counts = list(_each_level("cpu", root, lambda level: _field(level / "cpu.stat", "nr_throttled")))
    return sum(counts) if counts else None


def oom_kills(root: Path = SYSTEM_ROOT) -> int | None:
    """Count the processes of this control group killed for lack of memory, since it was made.

    A worker that died between two calls with a higher second count was most likely one of them.
    """
    return next(_each_level("memory", root, _oom_kills), None)


def _each_level(controller: str, root: Path, read: Callable[[Path], T | None]) -> Iterator[T]:
    """Yield what *read* finds at each level, from this process's own group outwards."""
    for level in _levels(controller, root):
        value = read(level)
        if value is not None:
            yield value


def _levels(controller: str, root: Path) -> list[Path]:
    """List the directories of this process's group and of those around it, innermost first."""
    own = _own_group(controller, root)
    if own is None:
        return []
    mount, group = own
    parts = PurePosixPath(group).parts[1:]
    # A container may see its group's path as it is outside; then the mount itself is its group.
    if ".." in parts:
        parts = ()
    return [mount.joinpath(*parts[:depth]) for depth in range(len(parts), -1, -1)]


def _own_group(controller: str, root: Path) -> tuple[Path, str] | None:
    """Find where *controller* is mounted and this process's group below. Version 1 goes first on a mixed system."""
    mounts = root / "sys/fs/cgroup"
    unified = None
    for line in (_read(root / "proc/self/cgroup") or "").splitlines():
        _, controllers, group = [*line.split(":", 2), "", ""][:3]
        if controller in controllers.split(","):
            # "cpu" is usually a link to "cpu,cpuacct", and missing where nobody made it.
            named = mounts / controller
            return (named if named.is_dir() else mounts / controllers), group
        if not controllers and group:
            unified = group
    if unified is None:
        return None
    return (mounts if (mounts / "cgroup.controllers").exists() else mounts / "unified"), unified


def _cpu_quota(level: Path) -> float | None:
    words = (_read(level / "cpu.max") or "").split()
    if not words:
        words = [(_read(level / name) or "").strip() for name in ("cpu.cfs_quota_us", "cpu.cfs_period_us")]
    try:
        quota_us, period_us = (int(word) for word in words)
    except ValueError:
        # "max", a missing file, or something that no kernel writes
        return None
    return quota_us / period_us if quota_us > 0 and period_us > 0 else None


def _memory_limit_mb(level: Path) -> int | None:
    text = _read(level / "memory.max") or _read(level / "memory.limit_in_bytes") or ""
    try:
        limit_bytes = int(text)
    except ValueError:
        return None
    return limit_bytes // BYTES_PER_MB if 0 < limit_bytes < _NO_LIMIT_BYTES else None


def _oom_kills(level: Path) -> int | None:
    count = _field(level / "memory.events", "oom_kill")
    return _field(level / "memory.oom_control", "oom_kill") if count is None else count


def _field(path: Path, name: str) -> int | None:
    """Read one number of a file of `name number` lines."""
    for line in (_read(path) or "").splitlines():
        words = line.split()
        if words[:1] == [name] and len(words) > 1 and words[1].isdecimal():
            return int(words[1])
    return None


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
