"""The real pynvml over a simulated driver library, in processes of their own: see nvml_simulation."""

import pytest
from nvml_simulation import (
    DRIVER_NOT_LOADED,
    GPU_IS_LOST,
    NOT_SUPPORTED,
    VERSION_MISMATCH,
    ask_python,
    no_nvml,
    nvml_calls,
    simulated_gpu,
    simulated_instance,
    simulated_nvml,
)

READ = """
from dataclasses import asdict
from mlflow_tfexec.measurement.nvml import read_gpus
answer(asdict(read_gpus()))
"""


def test_driver_without_gpu_is_no_problem_of_the_driver(tmp_path):
    assert ask_python(READ, simulated_nvml(tmp_path)) == {
        "driver_version": "575.57.08",
        "cuda_version": "12.9",
        "gpus": [],
        "problem": None,
    }


def test_one_gpu_is_read_whole(tmp_path):
    facts = ask_python(READ, simulated_nvml(tmp_path, [simulated_gpu()]))

    assert facts["gpus"] == [
        {
            "index": 0,
            "name": "NVIDIA H100 80GB HBM3",
            "uuid": "GPU-00000000-0000-4000-8000-000000000000",
            "pci_bus_id": "00000000:01:00.0",
            "compute_capability": "9.0",
            "memory_mb": 81559,
            "sm_clock_mhz": 1980,
            "sm_clock_max_mhz": 1980,
            "memory_clock_mhz": 2619,
            "memory_clock_max_mhz": 2619,
            "power_limit_w": 700.0,
            "ecc": True,
            "mig": False,
            "persistence": True,
            "mig_instances": [],
            "problem": None,
        }
    ]


def test_four_gpus_are_read_in_nvmls_order(tmp_path):
    names = ["NVIDIA T4", "NVIDIA L4", "NVIDIA A10", "NVIDIA H100"]
    devices = [simulated_gpu(index, name=name) for index, name in enumerate(names)]
    facts = ask_python(READ, simulated_nvml(tmp_path, devices))

    assert [gpu["name"] for gpu in facts["gpus"]] == names
    assert [gpu["index"] for gpu in facts["gpus"]] == [0, 1, 2, 3]


def test_mig_instances_are_listed_with_their_profiles(tmp_path):
    larger = simulated_instance(2, name="NVIDIA H100 80GB HBM3 MIG 1c.3g.40gb", gpu_instance=2, compute_instance=1)
    nameless = {"uuid": "MIG-3"}
    gpu = simulated_gpu(mig=1, instances=[simulated_instance(1), larger, nameless])
    [found] = ask_python(READ, simulated_nvml(tmp_path, [gpu]))["gpus"]

    assert found["mig"] is True
    assert found["mig_instances"] == [
        {
            "uuid": "MIG-00000001-0000-5000-8000-000000000000",
            "name": "NVIDIA H100 80GB HBM3 MIG 1g.10gb",
            "profile": "1g.10gb",
            "memory_mb": 9984,
            "gpu_instance": 8,
            "compute_instance": 0,
        },
        {
            "uuid": "MIG-00000002-0000-5000-8000-000000000000",
            "name": "NVIDIA H100 80GB HBM3 MIG 1c.3g.40gb",
            "profile": "1c.3g.40gb",
            "memory_mb": 9984,
            "gpu_instance": 2,
            "compute_instance": 1,
        },
        {
            "uuid": "MIG-3",
            "name": None,
            "profile": None,
            "memory_mb": None,
            "gpu_instance": None,
            "compute_instance": None,
        },
    ]


FACTS_BY_QUERY = {
    "name": ["name"],
    "uuid": ["uuid"],
    "pci_bus_id": ["pci_bus_id"],
    "compute_capability": ["compute_capability"],
    "memory": ["memory_mb"],
    "sm_clock": ["sm_clock_mhz"],
    "sm_clock_max": ["sm_clock_max_mhz"],
    "memory_clock": ["memory_clock_mhz"],
    "memory_clock_max": ["memory_clock_max_mhz"],
    "power_limit": ["power_limit_w"],
    "ecc": ["ecc"],
    "mig": ["mig"],
    "persistence": ["persistence"],
}


@pytest.mark.parametrize("code", [NOT_SUPPORTED, 999])
def test_query_that_fails_leaves_out_its_own_fact_only(tmp_path, code):
    """One GPU per query, each failing in that one."""
    devices = [simulated_gpu(0), *(simulated_gpu(0, errors={query: code}) for query in FACTS_BY_QUERY)]
    whole, *partial = ask_python(READ, simulated_nvml(tmp_path, devices))["gpus"]

    for (query, facts), gpu in zip(FACTS_BY_QUERY.items(), partial, strict=True):
        expected = whole | dict.fromkeys(facts) | {"index": gpu["index"]}
        assert gpu == expected, query


def test_number_that_nvml_calls_not_available_is_absent(tmp_path):
    gpu = simulated_gpu(power_limit=0xFFFFFFFF, sm_clock=0xFFFFFFFF)
    [found] = ask_python(READ, simulated_nvml(tmp_path, [gpu]))["gpus"]

    assert found["power_limit_w"] is None
    assert found["sm_clock_mhz"] is None


def test_name_that_is_not_text_is_absent(tmp_path):
    environment = simulated_nvml(tmp_path, [simulated_gpu()])
    answers = tmp_path / "nvml_answers.txt"
    answers.write_bytes(answers.read_bytes().replace(b"NVIDIA H100", b"\xff\xfe"))
    [found] = ask_python(READ, environment)["gpus"]

    assert found["name"] is None
    assert found["uuid"] == "GPU-00000000-0000-4000-8000-000000000000"


def test_lost_gpu_is_listed_with_its_problem_beside_the_others(tmp_path):
    devices = [simulated_gpu(0), simulated_gpu(1, errors={"handle": GPU_IS_LOST}), simulated_gpu(2), simulated_gpu(3)]
    gpus = ask_python(READ, simulated_nvml(tmp_path, devices))["gpus"]

    assert [gpu["problem"] for gpu in gpus] == [None, "GPU is lost", None, None]
    assert [gpu["name"] is None for gpu in gpus] == [False, True, False, False]


def test_gpu_lost_after_its_handle_was_given_is_a_problem_too(tmp_path):
    lost = {"errors": dict.fromkeys([*FACTS_BY_QUERY, "sm_clock"], GPU_IS_LOST)}
    gpus = ask_python(READ, simulated_nvml(tmp_path, [simulated_gpu(0), simulated_gpu(1, **lost)]))["gpus"]

    assert [gpu["problem"] for gpu in gpus] == [None, "GPU is lost"]


def test_system_facts_that_fail_are_absent_and_gpus_are_still_read(tmp_path):
    errors = {"driver_version": 999, "cuda_version": 999}
    facts = ask_python(READ, simulated_nvml(tmp_path, [simulated_gpu()], errors=errors))

    assert facts["driver_version"] is None
    assert facts["cuda_version"] is None
    assert len(facts["gpus"]) == 1


def test_unknown_number_of_gpus_is_a_problem(tmp_path):
    facts = ask_python(READ, simulated_nvml(tmp_path, [simulated_gpu()], errors={"count": 999}))

    assert facts["gpus"] == []
    assert facts["problem"] == "NVIDIA driver does not say how many GPUs there are"


def test_missing_library_is_named(tmp_path):
    assert ask_python(READ, no_nvml(tmp_path)) == {
        "driver_version": None,
        "cuda_version": None,
        "gpus": [],
        "problem": "NVIDIA driver library libnvidia-ml.so.1 not found",
    }


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        (DRIVER_NOT_LOADED, "NVIDIA driver not loaded: its library is here, its kernel module is not"),
        (
            VERSION_MISMATCH,
            "NVIDIA driver library and kernel module have different versions: reboot, or reload the module",
        ),
        (4, "NVIDIA driver refuses access: this process may not open its devices"),
        (999, "NVIDIA driver cannot be asked: Unknown Error"),
        (77, "NVIDIA driver cannot be asked: Simulated error 77"),
    ],
)
def test_driver_that_does_not_start_says_why(tmp_path, code, problem):
    environment = simulated_nvml(tmp_path, [simulated_gpu()], errors={"init": code})
    facts = ask_python(READ, environment)

    assert facts["gpus"] == []
    assert facts["problem"] == problem
    assert "nvmlShutdown" not in nvml_calls(environment)


@pytest.mark.parametrize("errors", [{}, {"count": 999}, {"shutdown": 999}], ids=["in order", "half-way", "at the end"])
def test_nvml_is_shut_down_once_however_the_reading_went(tmp_path, errors):
    environment = simulated_nvml(tmp_path, [simulated_gpu()], errors=errors)
    ask_python(READ, environment)

    assert nvml_calls(environment).count("nvmlInit") == 1
    assert nvml_calls(environment).count("nvmlShutdown") == 1
    assert nvml_calls(environment)[-1] == "nvmlShutdown"


def test_missing_python_package_is_named(tmp_path):
    code = f"import sys; sys.modules['pynvml'] = None\n{READ}"

    assert ask_python(code, {})["problem"] == "Python package nvidia-ml-py not found"


def test_simulated_library_answers_only_the_process_that_asked_for_it(tmp_path):
    """The process that runs the tests must never load it."""
    environment = simulated_nvml(tmp_path, [simulated_gpu()])
    ask_python(READ, environment)

    with open("/proc/self/maps", encoding="utf-8") as maps:  # noqa: PTH123 - a kernel file, read as it is
        assert "nvml-sim-" not in maps.read()
