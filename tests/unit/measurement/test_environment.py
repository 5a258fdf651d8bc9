import copy
import json
import random

import pytest
from nvml_simulation import (
    DRIVER_NOT_LOADED,
    GPU_IS_LOST,
    ask_python,
    no_nvml,
    nvml_calls,
    simulated_gpu,
    simulated_instance,
    simulated_nvml,
)

from mlflow_tfexec.measurement.environment import describe_gpus, describe_host, fingerprint, gpu_missing_reason
from mlflow_tfexec.measurement.nvml import Gpu, GpuFacts

DESCRIBE = """
from mlflow_tfexec.measurement.environment import describe_host, fingerprint, gpu_missing_reason
found = describe_host()
answer({**found, "fingerprint": fingerprint(found), "reason": gpu_missing_reason(found)})
"""

ENVIRONMENT = {
    "python": {"version": "3.11.7", "implementation": "CPython"},
    "packages": {"tensorflow": "2.21.0", "keras": "3.15.1", "numpy": "2.4.6"},
    "os": {"name": "Linux", "release": "6.8.0-45-generic", "machine": "x86_64"},
    "cpu": {"name": "AMD EPYC 9654", "logical_cores": 96, "usable_cores": 8, "cgroup_cpu_quota": 4.0},
    "memory": {"total_mb": 515_000, "cgroup_limit_mb": 32_768},
    "container": {"inside": True, "evidence": "/.dockerenv"},
    "gpu_driver": {"version": "575.57.08", "cuda_version": "12.9"},
    "gpus": [{"index": 0, "name": "NVIDIA T4", "uuid": "GPU-a", "sm_clock_mhz": 300}],
    "gpus_hidden": 0,
    "gpus_unusable": [],
    "variables": {"TF_ENABLE_ONEDNN_OPTS": "1"},
}


def changed(path: str, value):
    environment = copy.deepcopy(ENVIRONMENT)
    *outer, last = path.split(".")
    part = environment
    for key in outer:
        part = part[int(key)] if isinstance(part, list) else part[key]
    part[last] = value
    return environment


def test_description_is_json_with_stable_keys_and_no_null():
    found = describe_host({"TF_XLA_FLAGS": "--x", "HOME": "/home/someone"})
    text = json.dumps(found, allow_nan=False)

    assert {"python", "packages", "os", "cpu", "memory", "gpu_driver", "gpus", "gpus_hidden", "variables"} <= set(found)
    assert found["variables"] == {"TF_XLA_FLAGS": "--x"}
    assert "null" not in text
    assert '""' not in text


def test_description_imports_neither_tensorflow_nor_mlflow(tmp_path):
    code = """
import sys
from mlflow_tfexec.measurement.environment import describe_host
describe_host()
answer(sorted({"tensorflow", "keras", "mlflow", "pandas", "numpy"} & set(sys.modules)))
"""

    assert ask_python(code, no_nvml(tmp_path)) == []


def test_gpus_are_those_cuda_shows_in_its_order(tmp_path):
    environment = simulated_nvml(tmp_path, [simulated_gpu(index) for index in range(4)])
    found = ask_python(DESCRIBE, environment | {"CUDA_VISIBLE_DEVICES": "3,1"})

    assert [gpu["index"] for gpu in found["gpus"]] == [3, 1]
    assert found["gpus_hidden"] == 2
    assert found["gpu_order_certain"] is True
    assert found["gpu_driver"] == {"version": "575.57.08", "cuda_version": "12.9"}
    assert found["variables"]["CUDA_VISIBLE_DEVICES"] == "3,1"


def test_order_of_different_gpus_is_told_to_be_uncertain(tmp_path):
    environment = simulated_nvml(tmp_path, [simulated_gpu(0, name="NVIDIA T4"), simulated_gpu(1)])

    assert ask_python(DESCRIBE, environment)["gpu_order_certain"] is False
    assert ask_python(DESCRIBE, environment | {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"})["gpu_order_certain"] is True


def test_mig_instance_has_its_own_name_uuid_and_memory(tmp_path):
    gpu = simulated_gpu(mig=1, instances=[simulated_instance(1), simulated_instance(2)])
    environment = simulated_nvml(tmp_path, [gpu])
    wanted = simulated_instance(2)["uuid"]
    [found] = ask_python(DESCRIBE, environment | {"CUDA_VISIBLE_DEVICES": wanted})["gpus"]

    assert found["uuid"] == wanted
    assert found["name"] == "NVIDIA H100 80GB HBM3 MIG 1g.10gb"
    assert found["mig_profile"] == "1g.10gb"
    assert found["mig_gpu_uuid"] == gpu["uuid"]
    assert found["memory_mb"] == 9984
    assert found["compute_capability"] == "9.0"


def test_lost_gpu_is_listed_apart(tmp_path):
    devices = [simulated_gpu(0), simulated_gpu(1, errors={"handle": GPU_IS_LOST})]
    found = ask_python(DESCRIBE, simulated_nvml(tmp_path, devices))

    assert [gpu["index"] for gpu in found["gpus"]] == [0]
    assert found["gpus_unusable"] == [{"index": 1, "problem": "GPU is lost"}]


def test_facts_that_nvml_does_not_give_are_absent_from_the_description():
    found = describe_gpus(GpuFacts(gpus=(Gpu(index=0, name="NVIDIA T4"),)), {})

    assert found["gpus"] == [{"index": 0, "name": "NVIDIA T4"}]
    assert found["gpu_driver"] == {}


def test_fingerprint_is_16_hex_digits_that_stay():
    """The literal value: changing it makes every kept result look as if from another machine."""
    assert fingerprint(ENVIRONMENT) == "a79d9a54be110c05"


def shuffled(value, generator):
    if not isinstance(value, dict):
        return value
    keys = list(value)
    generator.shuffle(keys)
    return {key: shuffled(value[key], generator) for key in keys}


@pytest.mark.parametrize("seed", range(5))
def test_fingerprint_does_not_depend_on_the_order_of_keys(seed):
    assert fingerprint(shuffled(ENVIRONMENT, random.Random(seed))) == fingerprint(ENVIRONMENT)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("cpu.name", "AMD EPYC 7742"),
        ("cpu.usable_cores", 4),
        ("cpu.cgroup_cpu_quota", 2.0),
        ("memory.total_mb", 257_000),
        ("memory.cgroup_limit_mb", 16_384),
        ("gpus", []),
        ("gpus.0.uuid", "GPU-b"),
        ("gpus.0.name", "NVIDIA L4"),
        ("gpu_driver.version", "580.10"),
        ("os.name", "Windows"),
        ("os.machine", "aarch64"),
        ("os.release", "6.11.0-1-generic"),
        ("python.version", "3.12.1"),
        ("packages.tensorflow", "2.20.0"),
        ("packages.keras", "3.14.0"),
        ("packages.tf-nightly", "2.22.0.dev1"),
    ],
)
def test_fingerprint_changes_with_what_makes_results_incomparable(path, value):
    assert fingerprint(changed(path, value)) != fingerprint(ENVIRONMENT)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("gpus.0.sm_clock_mhz", 1590),
        ("cpu.governor", "powersave"),
        ("variables", {}),
        ("packages.numpy", "2.0.0"),
        ("python.version", "3.11.9"),
        ("os.release", "6.8.0-51-generic"),
        ("memory.total_mb", 515_004),
        ("tensorflow", {"version": "2.21.0", "device": "GPU:0"}),
    ],
)
def test_fingerprint_does_not_change_with(path, value):
    assert fingerprint(changed(path, value)) == fingerprint(ENVIRONMENT)


def test_fingerprint_of_nothing_known_is_still_one():
    assert len(fingerprint({})) == 16


def test_reason_without_a_driver(tmp_path):
    assert ask_python(DESCRIBE, no_nvml(tmp_path))["reason"] == (
        "No GPU: NVIDIA driver library libnvidia-ml.so.1 not found.\n"
        "Install or repair the NVIDIA driver, or use --device cpu."
    )


def test_reason_when_the_driver_is_not_loaded(tmp_path):
    environment = simulated_nvml(tmp_path, errors={"init": DRIVER_NOT_LOADED})

    assert ask_python(DESCRIBE, environment)["reason"].startswith("No GPU: NVIDIA driver not loaded")


def test_reason_when_the_driver_finds_no_gpu(tmp_path):
    assert ask_python(DESCRIBE, simulated_nvml(tmp_path))["reason"] == (
        "No GPU: NVIDIA driver 575.57.08 finds none.\nGive this machine or container a GPU, or use --device cpu."
    )


def test_reason_when_the_gpus_are_hidden(tmp_path):
    environment = simulated_nvml(tmp_path, [simulated_gpu(0), simulated_gpu(1)])

    assert ask_python(DESCRIBE, environment | {"CUDA_VISIBLE_DEVICES": "-1"})["reason"] == (
        "CUDA_VISIBLE_DEVICES='-1' hides all 2 GPU(s).\n"
        "Unset it, or name a GPU of `nvidia-smi -L` in it, or use --device cpu."
    )


def test_reason_when_mig_has_no_instance(tmp_path):
    environment = simulated_nvml(tmp_path, [simulated_gpu(mig=1)])

    assert "MIG mode without an instance" in ask_python(DESCRIBE, environment)["reason"]


def test_reason_when_every_gpu_is_lost(tmp_path):
    environment = simulated_nvml(tmp_path, [simulated_gpu(errors={"handle": GPU_IS_LOST})])

    assert ask_python(DESCRIBE, environment)["reason"].startswith("No usable GPU. GPU 0: GPU is lost.")


@pytest.mark.parametrize(
    ("built_with_cuda", "packages", "cause"),
    [
        (False, {}, "this TensorFlow is built without CUDA"),
        (True, {}, "the CUDA libraries for TensorFlow are not installed as Python packages"),
        (None, {}, "the CUDA libraries for TensorFlow are not installed as Python packages"),
        (True, {"nvidia-cudnn-cu12": "9.3"}, "TensorFlow could not load its CUDA libraries; its log says which"),
    ],
)
def test_reason_when_tensorflow_does_not_take_the_gpu(built_with_cuda, packages, cause):
    facts = {} if built_with_cuda is None else {"tensorflow": {"built_with_cuda": built_with_cuda}}
    reason = gpu_missing_reason(ENVIRONMENT | {"packages": packages} | facts)

    assert reason == (
        f"The driver sees NVIDIA T4, but {cause}.\nRun: pip install 'mlflow-tfexec[gpu]', or use --device cpu."
    )


def test_reason_has_two_lines_at_most(tmp_path):
    """Many broken GPUs do not make it longer than an error may be."""
    devices = [simulated_gpu(index, errors={"handle": GPU_IS_LOST}) for index in range(8)]

    assert len(ask_python(DESCRIBE, simulated_nvml(tmp_path, devices))["reason"].splitlines()) == 2


def test_describing_asks_nvml_once(tmp_path):
    environment = simulated_nvml(tmp_path, [simulated_gpu()])
    ask_python(DESCRIBE, environment)

    assert nvml_calls(environment).count("nvmlInit") == 1
    assert nvml_calls(environment).count("nvmlShutdown") == 1
