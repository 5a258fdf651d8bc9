"""Is the GPU a slice of one?"""

from collections.abc import Iterator

from mlflow_tfexec.diagnosis._check import Check, Result
from mlflow_tfexec.diagnosis._facts import Facts


def judge(facts: Facts) -> Iterator[Result]:
    """Name the instances. Nothing where no GPU is shown, or the driver does not say whether MIG mode is on."""
    gpus = facts.host.get("gpus", [])
    instances = [gpu for gpu in gpus if gpu.get("mig_profile") or gpu.get("mig_gpu_uuid")]
    if instances:
        profiles = ", ".join(gpu.get("mig_profile") or "unnamed" for gpu in instances)
        yield Result(
            "note",
            f"MIG mode is on: CUDA shows {len(instances)} of its instances ({profiles})",
            why="times are those of the slice, not of the GPU, and whoever has the other slices shares its power",
            do=None
            if len(instances) == 1
            else "Name the one that is meant in CUDA_VISIBLE_DEVICES by its MIG- UUID (`nvidia-smi -L`)",
        )
    elif any(gpu.get("mig") is False for gpu in gpus):
        yield Result("ok", "MIG mode is off: the GPU is whole")


CHECK = Check(name="mig", group="GPU", position=24, judge=judge)
