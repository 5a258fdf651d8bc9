"""The state of the machine between rounds, and whether a round should count."""

import os
import sys
from collections.abc import Collection
from pathlib import Path
from types import TracebackType
from typing import Any

import psutil

from mlflow_tfexec.measurement.cgroup import SYSTEM_ROOT, throttled_periods
from mlflow_tfexec.measurement.health_gpu import GpuProbe
from mlflow_tfexec.measurement.host import usable_cores

# What psutil raises where a system does not tell.
_UNTOLD = (psutil.Error, OSError, NotImplementedError, RuntimeError, AttributeError)


class HealthProbe:
    """Samples the machine between rounds. Without a GPU's UUID it never touches NVML. Close it when done."""

    def __init__(self, gpu_uuid: str | None = None, root: Path = SYSTEM_ROOT) -> None:
        self._gpu = GpuProbe(gpu_uuid) if gpu_uuid else None
        self._root = root
        self._cores = usable_cores()
        self._throttled_periods = throttled_periods(root)
        self._cpu_times = _cpu_times()

    @property
    def problem(self) -> str | None:
        """Why nothing is known of the GPU. None: it is watched, or there is none to watch."""
        return self._gpu.problem if self._gpu else None

    def sample(self, own_pids: Collection[int] = ()) -> dict[str, Any]:
        """Read the state of the machine now. Never raises; what is not known is absent, `bad` is always there.

        Counts and shares (`cgroup_throttled_periods`, `cpu_steal`) are since the sample before.

        Args:
            own_pids: the processes that may compute on the GPU without being strangers.
        """
        gpu, bad = self._gpu.sample(own_pids) if self._gpu else ({}, None)
        state = {
            "cpu_load": self._cpu_load(),
            "cpu_mhz": _cpu_mhz(),
            "cgroup_throttled_periods": self._new_throttled_periods(),
            "cpu_steal": self._cpu_steal(),
            "gpu": gpu or None,
        }
        return {name: value for name, value in state.items() if value is not None} | {"bad": bad}

    def close(self) -> None:
        """Let go of NVML. Harmless when repeated."""
        if self._gpu:
            self._gpu.close()

    def __enter__(self) -> "HealthProbe":  # noqa: PYI034 - typing.Self is not in Python 3.10
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _cpu_load(self) -> float | None:
        """Give the mean number of runnable threads over the last minute, per core that we may use."""
        # psutil imitates this on Windows and begins with zeros, which would be an invention.
        if sys.platform == "win32" or not self._cores:
            return None
        try:
            return round(os.getloadavg()[0] / self._cores, 3)
        except OSError:
            return None

    def _new_throttled_periods(self) -> int | None:
        before, self._throttled_periods = self._throttled_periods, throttled_periods(self._root)
        if before is None or self._throttled_periods is None:
            return None
        return max(0, self._throttled_periods - before)

    def _cpu_steal(self) -> float | None:
        """Give the share of CPU time that the hypervisor gave to other guests."""
        before, self._cpu_times = self._cpu_times, _cpu_times()
        if before is None or self._cpu_times is None:
            return None
        steal, total = (now - then for now, then in zip(self._cpu_times, before, strict=True))
        return round(min(1.0, max(0.0, steal / total)), 4) if total > 0 else None


def _cpu_mhz() -> float | None:
    """Give the present clock of the processor, averaged over cores. None: the system does not tell."""
    try:
        frequency = psutil.cpu_freq()
    except _UNTOLD:
        return None
    # Where nothing is known psutil answers None, in spite of its annotations, or a clock of zero.
    current = getattr(frequency, "current", None)
    return round(float(current), 1) if current else None


def _cpu_times() -> tuple[float, float] | None:
    """Read (stolen, total) CPU seconds since boot. None: the system does not count stolen time."""
    try:
        times = psutil.cpu_times()
    except _UNTOLD:
        return None
    # Guest time is part of user time already.
    parts = {name: value for name, value in times._asdict().items() if not name.startswith("guest")}
    return (parts["steal"], sum(parts.values())) if "steal" in parts else None
