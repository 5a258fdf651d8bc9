"""The state of one GPU between rounds: clocks, heat, power, throttling and other people's processes."""

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

from mlflow_tfexec.measurement.host import in_first_pid_namespace
from mlflow_tfexec.measurement.nvml import ask, ask_number, start_nvml, stop_nvml

# Bits of nvmlClocksEventReasons (nvml.h). Idle and the chosen clock setting are no event and are not named here.
THROTTLE_REASONS: Mapping[int, str] = MappingProxyType(
    {
        0x004: "sw_power_cap",
        0x008: "hw_slowdown",
        0x010: "sync_boost",
        0x020: "sw_thermal_slowdown",
        0x040: "hw_thermal_slowdown",
        0x080: "hw_power_brake_slowdown",
        0x100: "display_clock_setting",
    }
)
BAD_REASONS = frozenset({"hw_slowdown", "sw_thermal_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown"})
"""Reasons that spoil a round. The power cap is not one: a busy GPU may live at it, equally for every mode."""


class GpuProbe:
    """Asks NVML about one GPU, or one MIG instance, again and again. Holds NVML open until `close`."""

    def __init__(self, uuid: str) -> None:
        self._pids_are_ours = in_first_pid_namespace()
        self.problem = start_nvml()
        """Why nothing is known of the GPU. None: it was found."""
        self._open = self.problem is None
        self._device: Any = None
        self._gpu: Any = None
        if self._open:
            self._find(uuid)

    def sample(self, own_pids: Collection[int]) -> tuple[dict[str, Any], str | None]:
        """Read the state now: what is known, and why the round is bad or None. Never raises."""
        if self._gpu is None:
            return {}, None
        import pynvml

        gpu = self._gpu
        reasons, loss = self._event_reasons()
        throttle = None if reasons is None else [name for bit, name in THROTTLE_REASONS.items() if reasons & bit]
        power_mw = ask_number(lambda: pynvml.nvmlDeviceGetPowerUsage(gpu))
        pids = self._compute_pids()
        strangers = None if pids is None else self._foreign(pids, own_pids)
        state = {
            "sm_clock_mhz": ask_number(lambda: pynvml.nvmlDeviceGetClockInfo(gpu, pynvml.NVML_CLOCK_SM)),
            "memory_clock_mhz": ask_number(lambda: pynvml.nvmlDeviceGetClockInfo(gpu, pynvml.NVML_CLOCK_MEM)),
            "temperature_c": self._temperature_c(),
            "power_w": None if power_mw is None else power_mw / 1000,
            "throttle": throttle,
            "foreign_pids": strangers if self._pids_are_ours else None,
            "compute_processes": None if pids is None else len(pids),
        }
        known = {name: value for name, value in state.items() if value is not None}
        return known, loss or _bad(throttle or [], strangers or [], named=self._pids_are_ours)

    def close(self) -> None:
        """Let go of NVML. Later samples know nothing."""
        if self._open:
            self._open = False
            self._gpu = None
            stop_nvml()

    def _find(self, uuid: str) -> None:
        import pynvml

        try:
            self._device = pynvml.nvmlDeviceGetHandleByUUID(uuid)
            # Clocks, heat and power belong to the whole GPU; an instance only has processes of its own.
            self._gpu = (
                pynvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(self._device)
                if uuid.startswith("MIG-")
                else self._device
            )
        except pynvml.NVMLError as error:
            self.problem = f"GPU {uuid}: {error}"

    def _event_reasons(self) -> tuple[int | None, str | None]:
        """Read why the clocks are as they are, and say whether the GPU is gone. Drivers before 535 use the old name."""
        import pynvml

        try:
            return int(pynvml.nvmlDeviceGetCurrentClocksEventReasons(self._gpu)), None
        except pynvml.NVMLError as error:
            if error.value == pynvml.NVML_ERROR_GPU_IS_LOST:
                return None, "The GPU no longer answers: the driver has lost it."
        return ask(lambda: pynvml.nvmlDeviceGetCurrentClocksThrottleReasons(self._gpu)), None

    def _temperature_c(self) -> int | None:
        """Read the core's temperature; the newer function first, since the older one is on its way out."""
        import pynvml

        sensor = pynvml.NVML_TEMPERATURE_GPU
        new = ask_number(lambda: pynvml.nvmlDeviceGetTemperatureV(self._gpu, sensor))
        return ask_number(lambda: pynvml.nvmlDeviceGetTemperature(self._gpu, sensor)) if new is None else new

    def _compute_pids(self) -> list[int] | None:
        import pynvml

        processes = ask(lambda: pynvml.nvmlDeviceGetComputeRunningProcesses(self._device))
        return None if processes is None else sorted({int(process.pid) for process in processes})

    def _foreign(self, pids: list[int], own_pids: Collection[int]) -> list[int]:
        """Pick the processes that are not ours.

        Inside a container the driver may give ids of another namespace; then only more processes than we have is proof.
        """
        if self._pids_are_ours:
            return [pid for pid in pids if pid not in own_pids]
        return pids[len(set(own_pids)) :]


def _bad(throttle: list[str], strangers: list[int], *, named: bool) -> str | None:
    """Say what spoils the round, or None."""
    parts = []
    slowed = [name for name in throttle if name in BAD_REASONS]
    if slowed:
        parts.append(f"The GPU was slowed down ({', '.join(slowed)}).")
    if strangers:
        which = f" (process {', '.join(map(str, strangers))})" if named else ""
        parts.append(f"{len(strangers)} other process(es) used the GPU{which}.")
    return " ".join(parts) or None
