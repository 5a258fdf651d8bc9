"""GPUs for tests on machines without any: the real pynvml, in a process of its own, over a library that we compile.

    environment = simulated_nvml(tmp_path, devices=[simulated_gpu(0), simulated_gpu(1, name="NVIDIA T4")])
    facts = ask_python("from … import f; answer(f())", environment)

`simulated_nvml` gives the variables that make a new process load the stand-in; this process never loads it. Calling it
again with the same directory changes the answers of processes that run already. Each device is a dict with these keys,
each of which may be left out (NVML then says "not supported"):

    name uuid pci_bus_id compute_capability memory (bytes) sm_clock sm_clock_max memory_clock memory_clock_max (MHz)
    power_limit power (mW) ecc mig persistence (0 or 1) temperature temperature_v (°C; older and newer function)
    event_reasons throttle_reasons (bits; newer and older function) processes ("123,456")
    instances: a list of dicts with uuid name memory gpu_instance compute_instance processes
    errors: a dict from one of these keys, or `handle`, to the NVML error code that its query then gives

`errors` for the system as a whole knows `init`, `shutdown`, `driver_version`, `cuda_version`, `count`.
"""

import atexit
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

NOT_SUPPORTED = 3
DRIVER_NOT_LOADED = 9
GPU_IS_LOST = 15
VERSION_MISMATCH = 18

_REPOSITORY = Path(__file__).parents[1]
_SOURCE = Path(__file__).parent / "nvml" / "nvml_sim.c"
_LIBRARY = "libnvidia-ml.so.1"
_UNWANTED = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "LD_LIBRARY_PATH")


def simulated_gpu(index: int = 0, **changes: Any) -> dict[str, Any]:
    """Make an H100 whose UUID and bus follow from *index*; *changes* replace facts, None leaves one out."""
    gpu: dict[str, Any] = {
        "name": "NVIDIA H100 80GB HBM3",
        "uuid": f"GPU-{index:08x}-0000-4000-8000-000000000000",
        "pci_bus_id": f"00000000:{index + 1:02X}:00.0",
        "compute_capability": "9.0",
        "memory": 85_520_809_984,
        "sm_clock": 1980,
        "sm_clock_max": 1980,
        "memory_clock": 2619,
        "memory_clock_max": 2619,
        "power_limit": 700_000,
        "power": 121_500,
        "ecc": 1,
        "mig": 0,
        "persistence": 1,
        "temperature": 34,
        "temperature_v": 34,
        "event_reasons": 0,
        "throttle_reasons": 0,
        "processes": "",
    }
    return {key: value for key, value in (gpu | changes).items() if value is not None}


def simulated_instance(number: int, **changes: Any) -> dict[str, Any]:
    """Make a MIG instance of the smallest size."""
    instance: dict[str, Any] = {
        "uuid": f"MIG-{number:08x}-0000-5000-8000-000000000000",
        "name": "NVIDIA H100 80GB HBM3 MIG 1g.10gb",
        "memory": 10_468_982_784,
        "gpu_instance": 7 + number,
        "compute_instance": 0,
        "processes": "",
    }
    return instance | changes


def simulated_nvml(
    directory: Path,
    devices: Iterable[Mapping[str, Any]] = (),
    *,
    driver_version: str | None = "575.57.08",
    cuda_version: int | None = 12090,
    errors: Mapping[str, int] | None = None,
) -> dict[str, str]:
    """Write the answers into *directory* and give the variables under which a new process gets them.

    Skips the test where there is no C compiler, or no Linux.
    """
    library = _compiled_library()
    devices = list(devices)
    system = {"driver_version": driver_version, "cuda_version": cuda_version, "count": len(devices)}
    lines = _lines("", system, errors or {})
    for index, device in enumerate(devices):
        facts = {key: value for key, value in device.items() if key not in {"instances", "errors"}}
        lines += _lines(f"{index}.", facts, device.get("errors", {}))
        for number, instance in enumerate(device.get("instances", [])):
            lines += _lines(f"{index}.mig{number}.", instance, {})
    answers = directory / "nvml_answers.txt"
    # Replaced in one step: a process may be reading it.
    draft = answers.with_suffix(".new")
    draft.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    draft.replace(answers)
    return {
        "LD_LIBRARY_PATH": str(library.parent),
        "NVML_SIM_FILE": str(answers),
        "NVML_SIM_CALLS": str(directory / "nvml_calls.txt"),
    }


def no_nvml(directory: Path) -> dict[str, str]:
    """Give the variables under which no NVML can be loaded, on a machine with a GPU as well."""
    # The loader takes the first file of that name and gives up on it.
    (directory / _LIBRARY).write_bytes(b"")
    return {"LD_LIBRARY_PATH": str(directory)}


def nvml_calls(environment: Mapping[str, str]) -> list[str]:
    """List the NVML functions called under *environment* so far, in order."""
    calls = Path(environment["NVML_SIM_CALLS"])
    return calls.read_text(encoding="utf-8").split() if calls.exists() else []


def ask_python(code: str, environment: Mapping[str, str]) -> Any:
    """Run *code* in a new interpreter and return what it passed to `answer`, by way of JSON."""
    clean = {name: value for name, value in os.environ.items() if name not in _UNWANTED}
    program = f"import json, sys\ndef answer(value): print('answer:' + json.dumps(value))\n{code}"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=clean | dict(environment),
        cwd=_REPOSITORY,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.startswith("answer:"), done.stdout
    return json.loads(last.removeprefix("answer:"))


def _lines(scope: str, facts: Mapping[str, Any], errors: Mapping[str, int]) -> list[str]:
    known = [f"{scope}{key}={value}" for key, value in facts.items() if value is not None]
    return known + [f"{scope}error.{key}={code}" for key, code in errors.items()]


@functools.cache
def _compiled_library() -> Path:
    """Compile the stand-in once per test run."""
    if sys.platform != "linux":
        pytest.skip("the simulated NVML library is built for Linux's loader")
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler to build the simulated NVML library with")
    directory = Path(tempfile.mkdtemp(prefix="nvml-sim-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    library = directory / _LIBRARY
    command = [compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", str(library), str(_SOURCE)]
    subprocess.run(command, check=True, timeout=60)
    return library
