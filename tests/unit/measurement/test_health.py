"""GPU states come from a simulated driver library, in processes of their own: see nvml_simulation."""

import json
import sys
from typing import NamedTuple

import psutil
import pytest
from nvml_simulation import (
    GPU_IS_LOST,
    ask_python,
    no_nvml,
    nvml_calls,
    simulated_gpu,
    simulated_instance,
    simulated_nvml,
)

from mlflow_tfexec.measurement import health
from mlflow_tfexec.measurement.health import HealthProbe

UUID = simulated_gpu()["uuid"]

# The ids that a process sees are the driver's only outside containers, so tests say which it is.
SAMPLE = """
from mlflow_tfexec.measurement import health_gpu
health_gpu.in_first_pid_namespace = lambda: {first_namespace}
from mlflow_tfexec.measurement.health import HealthProbe
with HealthProbe({uuid!r}) as probe:
    answer([probe.sample({own_pids!r}), probe.problem])
"""


def sample(environment, own_pids=(), *, uuid=UUID, first_namespace=True):
    code = SAMPLE.format(uuid=uuid, own_pids=list(own_pids), first_namespace=first_namespace)
    return ask_python(code, environment)[0]


def test_quiet_gpu_is_described_and_not_bad(tmp_path):
    found = sample(simulated_nvml(tmp_path, [simulated_gpu()]))

    assert found["gpu"] == {
        "sm_clock_mhz": 1980,
        "memory_clock_mhz": 2619,
        "temperature_c": 34,
        "power_w": 121.5,
        "throttle": [],
        "foreign_pids": [],
        "compute_processes": 0,
    }
    assert found["bad"] is None


@pytest.mark.parametrize(
    ("bits", "throttle", "bad"),
    [
        (0x001, [], None),
        (0x002, [], None),
        (0x003, [], None),
        (0x004, ["sw_power_cap"], None),
        (0x010, ["sync_boost"], None),
        (0x100, ["display_clock_setting"], None),
        (0x008, ["hw_slowdown"], "The GPU was slowed down (hw_slowdown)."),
        (0x020, ["sw_thermal_slowdown"], "The GPU was slowed down (sw_thermal_slowdown)."),
        (0x040, ["hw_thermal_slowdown"], "The GPU was slowed down (hw_thermal_slowdown)."),
        (0x080, ["hw_power_brake_slowdown"], "The GPU was slowed down (hw_power_brake_slowdown)."),
        (
            0x04C,
            ["sw_power_cap", "hw_slowdown", "hw_thermal_slowdown"],
            "The GPU was slowed down (hw_slowdown, hw_thermal_slowdown).",
        ),
        (0x8000, [], None),
    ],
)
def test_only_slowdowns_by_heat_or_hardware_are_bad(tmp_path, bits, throttle, bad):
    found = sample(simulated_nvml(tmp_path, [simulated_gpu(event_reasons=bits)]))

    assert found["gpu"]["throttle"] == throttle
    assert found["bad"] == bad


def test_older_driver_is_asked_by_its_older_names(tmp_path):
    gpu = simulated_gpu(event_reasons=None, throttle_reasons=0x40, temperature_v=None, temperature=91)
    found = sample(simulated_nvml(tmp_path, [gpu]))

    assert found["gpu"]["throttle"] == ["hw_thermal_slowdown"]
    assert found["gpu"]["temperature_c"] == 91


def test_strangers_on_the_gpu_are_bad_and_our_own_processes_are_not(tmp_path):
    environment = simulated_nvml(tmp_path, [simulated_gpu(processes="101,102,990,991")])

    found = sample(environment, own_pids=[101, 102])
    assert found["gpu"]["foreign_pids"] == [990, 991]
    assert found["bad"] == "2 other process(es) used the GPU (process 990, 991)."

    found = sample(environment, own_pids=[101, 102, 990, 991])
    assert found["gpu"]["foreign_pids"] == []
    assert found["bad"] is None


def test_in_a_container_only_more_processes_than_ours_are_proof_of_strangers(tmp_path):
    """The driver may number processes as the host does, so that ours look foreign."""
    environment = simulated_nvml(tmp_path, [simulated_gpu(processes="70001,70002")])

    found = sample(environment, own_pids=[11, 12], first_namespace=False)
    assert "foreign_pids" not in found["gpu"]
    assert found["gpu"]["compute_processes"] == 2
    assert found["bad"] is None

    found = sample(environment, own_pids=[11], first_namespace=False)
    assert found["bad"] == "1 other process(es) used the GPU."


def test_heat_and_strangers_are_told_together(tmp_path):
    gpu = simulated_gpu(event_reasons=0x20, processes="7")

    assert sample(simulated_nvml(tmp_path, [gpu]))["bad"] == (
        "The GPU was slowed down (sw_thermal_slowdown). 1 other process(es) used the GPU (process 7)."
    )


def test_other_gpus_do_not_matter(tmp_path):
    devices = [simulated_gpu(0), simulated_gpu(1, event_reasons=0x40, processes="7")]

    assert sample(simulated_nvml(tmp_path, devices))["bad"] is None


def test_mig_instance_has_its_own_processes_and_its_gpus_clocks(tmp_path):
    instances = [simulated_instance(1, processes="5"), simulated_instance(2, processes="6")]
    gpu = simulated_gpu(mig=1, instances=instances, event_reasons=0x08)
    found = sample(simulated_nvml(tmp_path, [gpu]), own_pids=[6], uuid=instances[1]["uuid"])

    assert found["gpu"]["sm_clock_mhz"] == 1980
    assert found["gpu"]["foreign_pids"] == []
    assert found["bad"] == "The GPU was slowed down (hw_slowdown)."


def test_what_the_driver_does_not_tell_is_absent(tmp_path):
    found = sample(simulated_nvml(tmp_path, [{"uuid": UUID}]))

    assert "gpu" not in found
    assert found["bad"] is None


def test_gpu_lost_while_measuring_is_bad(tmp_path):
    code = f"""
import sys
sys.path.insert(0, "tests")
from pathlib import Path
from nvml_simulation import simulated_gpu, simulated_nvml
from mlflow_tfexec.measurement.health import HealthProbe
probe = HealthProbe({UUID!r})
before = probe.sample()["bad"]
errors = dict.fromkeys(["event_reasons", "sm_clock", "power", "temperature", "processes"], {GPU_IS_LOST})
simulated_nvml(Path({str(tmp_path)!r}), [simulated_gpu(errors=errors)])
answer([before, probe.sample()["bad"]])
"""
    environment = simulated_nvml(tmp_path, [simulated_gpu()])

    assert ask_python(code, environment) == [None, "The GPU no longer answers: the driver has lost it."]


@pytest.mark.parametrize("uuid", ["GPU-nobody", "MIG-nobody"])
def test_gpu_that_is_not_there_is_a_problem_and_no_error(tmp_path, uuid):
    code = SAMPLE.format(uuid=uuid, own_pids=[], first_namespace=True)
    found, problem = ask_python(code, simulated_nvml(tmp_path, [simulated_gpu()]))

    assert problem == f"GPU {uuid}: Not Found"
    assert "gpu" not in found
    assert found["bad"] is None


def test_driver_that_is_not_there_is_a_problem_and_no_error(tmp_path):
    code = SAMPLE.format(uuid=UUID, own_pids=[], first_namespace=True)
    found, problem = ask_python(code, no_nvml(tmp_path))

    assert problem == "NVIDIA driver library libnvidia-ml.so.1 not found"
    assert "gpu" not in found


def test_nvml_is_started_once_and_stopped_once(tmp_path):
    code = f"""
from mlflow_tfexec.measurement.health import HealthProbe
probe = HealthProbe({UUID!r})
probe.sample(); probe.sample(); probe.close(); probe.close()
answer("gpu" in probe.sample())
"""
    environment = simulated_nvml(tmp_path, [simulated_gpu()])

    assert ask_python(code, environment) is False
    assert nvml_calls(environment).count("nvmlInit") == 1
    assert nvml_calls(environment).count("nvmlShutdown") == 1


def test_without_a_gpu_nvml_is_not_even_loaded(tmp_path):
    code = """
import sys
from mlflow_tfexec.measurement.health import HealthProbe
with HealthProbe() as probe:
    probe.sample()
answer("pynvml" in sys.modules)
"""
    environment = simulated_nvml(tmp_path, [simulated_gpu()])

    assert ask_python(code, environment) is False
    assert nvml_calls(environment) == []


def test_sample_is_json_and_fits_the_recordings_health_line(tmp_path):
    found = sample(simulated_nvml(tmp_path, [simulated_gpu(event_reasons=0x8)]))
    fields = {"cpu_load", "cpu_mhz", "cgroup_throttled_periods", "cpu_steal", "gpu", "bad"}

    json.dumps(found, allow_nan=False)
    assert set(found) <= fields


def test_throttled_periods_are_those_since_the_sample_before(tmp_path):
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("0::/\n")
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    (tmp_path / "sys/fs/cgroup/cgroup.controllers").write_text("cpu\n")
    counter = tmp_path / "sys/fs/cgroup/cpu.stat"
    counter.write_text("nr_throttled 100\n")
    probe = HealthProbe(root=tmp_path)

    counter.write_text("nr_throttled 107\n")
    assert probe.sample()["cgroup_throttled_periods"] == 7
    assert probe.sample()["cgroup_throttled_periods"] == 0
    counter.unlink()
    assert "cgroup_throttled_periods" not in probe.sample()


class Times(NamedTuple):
    user: float
    idle: float
    steal: float
    guest: float


class TimesWithoutSteal(NamedTuple):
    user: float
    idle: float


class Frequency(NamedTuple):
    current: float


def test_steal_is_the_share_since_the_sample_before(monkeypatch):
    times = iter([Times(10, 10, 0, 5), Times(15, 14, 1, 10), Times(15, 14, 1, 10)])
    monkeypatch.setattr(psutil, "cpu_times", lambda: next(times))
    probe = HealthProbe()

    assert probe.sample()["cpu_steal"] == 0.1
    assert "cpu_steal" not in probe.sample()


def test_steal_is_absent_where_the_system_does_not_count_it(monkeypatch):
    monkeypatch.setattr(psutil, "cpu_times", lambda: TimesWithoutSteal(1, 1))

    assert "cpu_steal" not in HealthProbe().sample()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no load average")
def test_load_is_per_core_that_may_be_used(monkeypatch):
    monkeypatch.setattr(health, "usable_cores", lambda: 4)
    monkeypatch.setattr(health.os, "getloadavg", lambda: (3.0, 9.0, 9.0))

    assert HealthProbe().sample()["cpu_load"] == 0.75


@pytest.mark.parametrize("frequency", [None, Frequency(0.0)])
def test_unknown_cpu_clock_is_absent(monkeypatch, frequency):
    monkeypatch.setattr(psutil, "cpu_freq", lambda: frequency)

    assert "cpu_mhz" not in HealthProbe().sample()


def test_system_that_refuses_everything_leaves_only_the_verdict(monkeypatch, tmp_path):
    def refuse(*_):
        raise OSError("not here")

    monkeypatch.setattr(psutil, "cpu_freq", refuse)
    monkeypatch.setattr(psutil, "cpu_times", refuse)
    monkeypatch.setattr(health.os, "getloadavg", refuse, raising=False)

    assert HealthProbe(root=tmp_path).sample() == {"bad": None}
