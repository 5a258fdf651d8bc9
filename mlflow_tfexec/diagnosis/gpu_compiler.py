"""Does XLA find what it needs to compile for the GPU: ptxas and libdevice?"""

from collections.abc import Iterator

from mlflow_tfexec.diagnosis._check import Check, Result
from mlflow_tfexec.diagnosis._facts import Facts

_DO = (
    "Run: pip install nvidia-cuda-nvcc-cu12, or point to a CUDA toolkit with "
    "XLA_FLAGS=--xla_gpu_cuda_data_dir=/usr/local/cuda"
)


def judge(facts: Facts) -> Iterator[Result]:
    """Take a function that was compiled for the GPU as proof, files alone as a sign. Nothing where there is no GPU."""
    if not facts.has_nvidia_gpu:
        return
    files = facts.cuda_files
    places = {"ptxas": files.ptxas, "libdevice": files.libdevice}
    where = ", ".join(f"{name} at {place}" for name, place in places.items() if place)
    lacking = " and ".join(name for name, place in places.items() if place is None)
    error = facts.tensorflow.fact("xla", "error") or ""
    compiled = facts.tensorflow.fact("xla", "seconds") is not None
    if compiled and str(facts.device.get("device", "")).startswith("GPU"):
        yield Result("ok", f"XLA compiled for the GPU{f' ({where})' if where else ''}")
    elif "libdevice" in error or "ptxas" in error:
        yield Result("problem", f"XLA cannot compile for the GPU: {error}", why="the mode `xla` would fail", do=_DO)
    elif lacking:
        yield Result(
            "unknown",
            f"XLA was not tried on the GPU; {lacking} found neither among the Python packages nor in /usr/local/cuda",
            why="XLA needs both to compile for a GPU",
            do=_DO,
        )
    else:
        yield Result("unknown", f"XLA was not tried on the GPU; {where}")


CHECK = Check(name="gpu_compiler", group="GPU", position=22, judge=judge)
