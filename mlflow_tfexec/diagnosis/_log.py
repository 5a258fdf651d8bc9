"""What TensorFlow's log gives away, read from the lines that it has printed for years."""

import re

from mlflow_tfexec.measurement.variables import mask

# absl's lines: severity, month and day, time, thread, file:line], message.
_FATAL = re.compile(r"^(?:F\d{4} |.*?: F )[^\]]*\] ?(.+)$", re.MULTILINE)
_MISSING = re.compile(r"Could not load dynamic library '([^']+)'")
_ONEDNN_ON = "oneDNN custom operations are on"
_REBUILD = re.compile(r"To enable the following instructions: ([^,\n]+), in other operations, rebuild TensorFlow")

_LONGEST = 300


def fatal_message(log: str) -> str | None:
    """Return what TensorFlow said when it ended its own process. None: it said nothing of the kind."""
    messages = _FATAL.findall(log)
    if not messages:
        return None
    text = mask(" ".join(messages[-1].split()))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def missing_libraries(log: str) -> tuple[str, ...]:
    """Name the libraries that TensorFlow looked for in vain, as its loader says with `TF_CPP_VMODULE=dso_loader=1`.

    TensorRT's are left out: TensorFlow does without them.
    """
    names = dict.fromkeys(_MISSING.findall(log))
    return tuple(name for name in names if not name.startswith("libnvinfer"))


def onednn_is_on(log: str) -> bool:
    """Say whether TensorFlow announced that oneDNN's operations are on."""
    return _ONEDNN_ON in log


def unused_instructions(log: str) -> tuple[str, ...]:
    """Name the processor's instructions that TensorFlow's own operations are not compiled for."""
    found = _REBUILD.search(log)
    return tuple(found[1].split()) if found else ()
