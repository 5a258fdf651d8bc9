"""Do float32 operations run in TF32?

Source: https://www.tensorflow.org/api_docs/python/tf/config/experimental/enable_tensor_float_32_execution; NVIDIA's
libraries read NVIDIA_TF32_OVERRIDE (cuBLAS and cuDNN documentation).
"""

from collections.abc import Iterator

from mlflow_tfexec.diagnosis._check import Check, Result
from mlflow_tfexec.diagnosis._facts import Facts

_FIRST_WITH_TF32 = 8
_OVERRIDE = "NVIDIA_TF32_OVERRIDE"


def judge(facts: Facts) -> Iterator[Result]:
    """Say whether 10 bits or 23 of each factor are used. Nothing where TensorFlow uses no GPU."""
    enabled = facts.device.get("tf32")
    capability = facts.device.get("device_details", {}).get("compute_capability")
    if enabled is None:
        return
    if capability is not None and int(capability.partition(".")[0]) < _FIRST_WITH_TF32:
        yield Result("ok", f"A GPU of compute capability {capability} has no TF32: float32 is float32")
    elif facts.variables.get(_OVERRIDE) == "0":
        yield Result("ok", f"TF32 is off through {_OVERRIDE}=0")
    elif not enabled:
        yield Result("ok", "TF32 is off")
    else:
        yield Result(
            "note",
            "TF32 is on: float32 matrix products and convolutions keep 10 bits of each factor",
            why="it is quicker, and modes that choose it differently differ in their outputs by about 1e-3",
            do=f"Set {_OVERRIDE}=0 to measure true float32",
        )


CHECK = Check(name="tf32", group="GPU", position=25, judge=judge)
