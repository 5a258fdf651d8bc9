"""Does XLA compile here?"""

from collections.abc import Iterator

from mlflow_tfexec.diagnosis._check import Check, Result
from mlflow_tfexec.diagnosis._facts import Facts
from mlflow_tfexec.diagnosis._log import fatal_message
from mlflow_tfexec.units import duration

_LOST = "the mode `xla` would fail; the others run"


def judge(facts: Facts) -> Iterator[Result]:
    """Say what became of a small compiled function."""
    answer = facts.tensorflow
    error = answer.fact("xla", "error")
    seconds = answer.fact("xla", "seconds")
    if seconds is not None:
        yield Result("ok", f"XLA compiled and ran a small function in {duration(1e3 * seconds, digits=2)}")
    elif error is not None:
        yield Result("problem", f"XLA does not compile a small function: {error}", why=_LOST, do=_advice(error))
    elif answer.unanswered == "xla":
        end = fatal_message(answer.log) or answer.end or "it ended"
        hung = end.startswith("no answer")
        yield Result(
            "unknown" if hung else "problem",
            f"XLA did not finish a small function: {end}" if hung else f"XLA ended the process: {end}",
            why=_LOST,
            do="Give it longer with --timeout" if hung else _advice(end),
        )
    else:
        yield Result("unknown", "XLA was not tried, since TensorFlow did not come so far")


def _advice(message: str) -> str | None:
    if "in XLA_FLAGS" in message:
        return "Correct XLA_FLAGS, or unset it"
    if "libdevice" in message or "ptxas" in message:
        return (
            "Run: pip install nvidia-cuda-nvcc-cu12, or point to a CUDA toolkit with "
            "XLA_FLAGS=--xla_gpu_cuda_data_dir=/usr/local/cuda"
        )
    return None


CHECK = Check(name="xla", group="TensorFlow", position=11, judge=judge)
