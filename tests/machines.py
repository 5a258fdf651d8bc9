"""Made-up machines for the checks of `doctor`: facts as `gather` collects them, with changes."""

import copy
from typing import Any

from mlflow_tfexec.diagnosis import all_checks
from mlflow_tfexec.diagnosis._check import Result
from mlflow_tfexec.diagnosis._facts import (
    EnvironmentManager,
    Facts,
    Project,
    Requirements,
    Spool,
    TensorFlowAnswer,
    Tracking,
)

HOST: dict[str, Any] = {
    "python": {"version": "3.11.7"},
    "cpu": {"name": "AMD EPYC 9654", "logical_cores": 96, "usable_cores": 8},
    "memory": {"total_mb": 515_000},
    "gpu_driver": {"problem": "NVIDIA driver library libnvidia-ml.so.1 not found"},
    "gpus": [],
    "gpus_hidden": 0,
    "gpus_unusable": [],
    "variables": {},
}

H100 = {
    "name": "NVIDIA H100 80GB HBM3",
    "uuid": "GPU-a",
    "compute_capability": "9.0",
    "memory_mb": 81_559,
    "mig": False,
}

STEPS: dict[str, dict[str, Any]] = {
    "import": {"seconds": 4.6},
    "driver": {"missing": "libcuda.so.1: cannot open shared object file"},
    "device": {
        "version": "2.21.0",
        "keras_version": "3.15.1",
        "built_with_cuda": True,
        "cuda_version": "12.5.1",
        "cudnn_version": "9",
        "built_for_compute_capabilities": ["sm_60", "sm_70", "sm_80", "sm_89", "compute_90"],
        "gpus_seen": 0,
        "device": "CPU",
    },
    "compute": {"peak_memory_mb": 700},
    "precision": {"size": 512, "float32": 2_000_000, "float16": 2_100_000, "bfloat16": 500_000},
    "xla": {"seconds": 0.08},
}

ON_GPU = {
    **STEPS["device"],
    "gpus_seen": 1,
    "device": "GPU:0",
    "device_details": {"device_name": "NVIDIA H100 80GB HBM3", "compute_capability": "9.0"},
    "cuda_runtime_version": "12.8",
    "cudnn_runtime_version": "9.3.0",
    "tf32": True,
}

ONEDNN_LINE = "I0000 00:00:1796057838.395338   22168 port.cc:153] oneDNN custom operations are on. You may see\n"


def answer(
    *, until: str | None = None, end: str | None = None, log: str = ONEDNN_LINE, **steps: Any
) -> TensorFlowAnswer:
    """Give TensorFlow's answers, up to the step *until* that ended the process; *steps* replace the facts of some."""
    facts = copy.deepcopy(STEPS) | steps
    names = list(facts)
    known = names if until is None else names[: names.index(until)]
    return TensorFlowAnswer({name: facts[name] for name in known}, unanswered=until, end=end, log=log)


def cpu_machine(*, host: dict[str, Any] | None = None, **changes: Any) -> Facts:
    """Make a machine without a GPU on which all is well."""
    facts: dict[str, Any] = {
        "tensorflow": answer(),
        "packages": Requirements("mlflow-tfexec", version="0.1.0", met=13),
        "available_memory_mb": 400_000,
        "load": 0.1,
        "tracking": Tracking("http://mlflow.example:5000"),
        "spool": Spool("/home/me/.mlflow-tfexec/spool", free_mb=50_000),
        "project": Project("/src/mlflow-tfexec", is_here=True, managers=(EnvironmentManager("local", found="all"),)),
    }
    return Facts(host=copy.deepcopy(HOST) | (host or {}), **(facts | changes))


def gpu_machine(*, host: dict[str, Any] | None = None, device: dict[str, Any] | None = None, **changes: Any) -> Facts:
    """Make a machine with an H100 that TensorFlow uses."""
    facts = {"tensorflow": answer(device=ON_GPU | (device or {}), driver={"init": 0})}
    gpus = {"gpu_driver": {"version": "575.57.08", "cuda_version": "12.9"}, "gpus": [H100]}
    return cpu_machine(host=gpus | (host or {}), **(facts | changes))


def judged(name: str, facts: Facts) -> list[Result]:
    """Give the results of one check."""
    (check,) = [check for check in all_checks() if check.name == name]
    return list(check.judge(facts))


def only(name: str, facts: Facts) -> Result:
    """Give the one result of a check."""
    (result,) = judged(name, facts)
    return result
