"""From an exception to the status of a mode."""

import traceback
from typing import Literal

from mlflow_tfexec.protocol import Failure

Stage = Literal["start", "build", "trace", "first_call", "measure"]

_MAX_REASON = 500

# Said by TensorFlow's XLA bridge when a program cannot be compiled; anything else at the first call is the model's.
_COMPILER_WORDS = (
    "unsupported operations",
    "compile-time constant",
    "XLA compilation",
    "xla::",
    "tf2xla",
    "XLA_CPU_JIT",
    "XLA_GPU_JIT",
    "is not compilable",
)


def describe_failure(error: BaseException, *, stage: Stage) -> Failure:
    """Classify *error* by the stage in which it happened, and put its reason into one line.

    The whole traceback goes to the worker's log.
    """
    traceback.print_exception(error)
    return Failure(status=_status(error, stage), reason=reason_of(error), wrong_request=_is_wrong_request(error, stage))


def reason_of(error: BaseException) -> str:
    """Say what went wrong in one line: TensorFlow's messages carry whole graphs behind the first lines."""
    if isinstance(error, SystemExit):
        text = f"the model called sys.exit({error.code!r})"
    else:
        name = type(error).__name__
        text = f"{name}: {error}" if str(error).strip() else name
    text = " ".join(text.split())
    return text if len(text) <= _MAX_REASON else text[: _MAX_REASON - 1] + "…"


def _status(error: BaseException, stage: Stage) -> str:
    if isinstance(error, MemoryError) or type(error).__name__ == "ResourceExhaustedError":
        return "oom"
    if stage == "trace":
        return "trace_failed"
    if stage == "first_call" and any(word in str(error) for word in _COMPILER_WORDS):
        return "compile_failed"
    return "run_failed"


def _is_wrong_request(error: BaseException, stage: Stage) -> bool:
    """True: the model itself cannot be had as asked, so no mode can run."""
    return stage == "build" and not isinstance(error, MemoryError) and type(error).__name__ != "ResourceExhaustedError"
