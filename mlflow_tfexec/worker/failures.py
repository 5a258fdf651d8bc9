"""From an exception to the status of a mode."""

import contextlib
import dataclasses
import re
import traceback
from typing import Literal

from mlflow_tfexec.modes._mode import NotApplicable
from mlflow_tfexec.protocol import Failure
from mlflow_tfexec.worker.causes import explain, in_plain_words, text_of

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
    "xla/known_issues",
)


# Stacks that TensorFlow puts into its messages, often before what went wrong: the headings, and the frames.
_STACK_HEADING = re.compile(r"in user code:|.*\(most recent call last\):|\s*The op is created at: *")
_FRAME = re.compile(r'(\s*)File ".*", line \d+.*')

# What XLA's bridge says of the function it was given, and how to have it dumped: nothing of what went wrong.
_BRIDGE_NOISE = re.compile(
    r"\[_XlaMustCompile=[^\]]*\]|\{\{node [^}]*\}\}(?=\s*$)|\{\{function_node [^}]*\}\}|"
    r"tf2xla conversion failed while converting \S+ Run with TF_DUMP_GRAPH_PREFIX=.*compiled functions\.|"
    r"\[Op:__\w*(<lambda>)?\w*\]|\[Op:\w+\] name:\s*$",
    re.MULTILINE,
)

# Places in a graph, as messages name them.
_AT_NODE = re.compile(r"\[\[\{\{node ([^}]*)\}\}\]\]")
_NODE = re.compile(r"\{\{node ([^}]*)\}\}")

# Keras writes part of its messages in bold.
_TERMINAL_CODE = re.compile(r"\x1b\[[0-9;]*m")


def describe_failure(error: BaseException, *, stage: Stage) -> Failure:
    """Classify *error* by the stage in which it happened, and put its reason into one line.

    The whole traceback goes to the worker's log.
    """
    if not isinstance(error, NotApplicable):
        # The model may have closed the log.
        with contextlib.suppress(OSError, ValueError):
            traceback.print_exception(error)
    error = _original(error)
    explanation = explain(error)
    return Failure(
        status=_status(error, stage),
        reason=reason_of(error),
        wrong_request=_is_wrong_request(error, stage),
        **dataclasses.asdict(explanation),
    )


def reason_of(error: BaseException) -> str:
    """Say what went wrong in one line: TensorFlow's messages carry stacks and whole graphs around it."""
    if isinstance(error, NotApplicable):
        text = text_of(error)
    elif isinstance(error, SystemExit):
        text = f"the model called sys.exit({error.code!r})"
    elif plain := in_plain_words(text_of(error)):
        text = plain
    else:
        message = _BRIDGE_NOISE.sub("", _without_stacks(_TERMINAL_CODE.sub("", text_of(error))))
        message = " ".join(_NODE.sub(r"\1", _AT_NODE.sub(r"(at \1)", message)).split())
        text = f"{type(error).__name__}: {message}" if message else type(error).__name__
    text = "".join(map(_printable, " ".join(text.split())))
    return text if len(text) <= _MAX_REASON else text[: _MAX_REASON - 1] + "…"


def _printable(character: str) -> str:
    """Escape what a terminal would obey, or show in another order."""
    return character if character.isprintable() else character.encode("unicode_escape", "surrogatepass").decode("ascii")


def _original(error: BaseException) -> BaseException:
    """Find what AutoGraph caught: it raises another error, whose text is a stack and whose type may be its own.

    Source: `autograph_handler` in tensorflow/python/autograph/impl/api.py
    """
    while error.__context__ is not None and hasattr(error.__context__, "ag_error_metadata"):
        error = error.__context__
    return error


def _without_stacks(text: str) -> str:
    """Take out headings of stacks, frames, and the lines of source under a frame, which are indented deeper."""
    kept: list[str] = []
    indent: int | None = None
    for line in text.split("\n"):
        frame = _FRAME.fullmatch(line)
        if frame:
            indent = len(frame[1])
        elif indent is not None and line.strip() and len(line) - len(line.lstrip()) > indent:
            continue
        elif not _STACK_HEADING.fullmatch(line):
            indent = None
            kept.append(line)
    return "\n".join(kept)


def _status(error: BaseException, stage: Stage) -> str:
    if isinstance(error, NotApplicable):
        return "skipped"
    if isinstance(error, MemoryError) or type(error).__name__ == "ResourceExhaustedError":
        return "oom"
    if stage == "trace":
        return "trace_failed"
    if stage == "first_call" and any(word in text_of(error) for word in _COMPILER_WORDS):
        return "compile_failed"
    return "run_failed"


def _is_wrong_request(error: BaseException, stage: Stage) -> bool:
    """True: the model itself cannot be had as asked, so no mode can run."""
    return stage == "build" and not isinstance(error, MemoryError) and type(error).__name__ != "ResourceExhaustedError"
