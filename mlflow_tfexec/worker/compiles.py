"""What XLA compiled in this process, from what TensorFlow says of it on standard error.

TensorFlow counts compilations and has no function that tells the count; at this verbosity its profiler of compilations
writes one line for each. Source: `DeviceCompilationProfiler::RegisterCompilation` in
tensorflow/compiler/jit/device_compilation_profiler.cc
"""

import re
from collections.abc import MutableMapping
from dataclasses import dataclass
from pathlib import Path

_MODULE = "device_compilation_profiler"

_COMPILED = re.compile(rb"Compiled (\S+) \d+ times, compile time: (\d+) us")


@dataclass(frozen=True)
class Compiles:
    """Compilations since the process started."""

    count: int = 0
    duration_ns: int = 0
    """All of them together."""


class CompileLog:
    """Reads the process's own log from where it was last read."""

    def __init__(self, log: str | None) -> None:
        self._path = Path(log) if log is not None else None
        self._read_bytes = 0
        self._compiles = Compiles()

    def compiles(self) -> Compiles | None:
        """Give what was compiled so far. None: there is no log to read it from."""
        if self._path is None:
            return None
        try:
            with self._path.open("rb") as log:
                log.seek(self._read_bytes)
                new = log.read()
        except OSError:
            return None
        # The last line may be half written; it is read again.
        whole = new[: new.rfind(b"\n") + 1]
        self._read_bytes += len(whole)
        durations_us = [int(duration_us) for _, duration_us in _COMPILED.findall(whole)]
        self._compiles = Compiles(
            self._compiles.count + len(durations_us), self._compiles.duration_ns + 1000 * sum(durations_us)
        )
        return self._compiles


def tell_of_compiles(environ: MutableMapping[str, str]) -> None:
    """Have TensorFlow tell of each compilation. Before its import; afterwards it does not look again."""
    modules = [part for part in environ.get("TF_CPP_VMODULE", "").split(",") if part]
    environ["TF_CPP_VMODULE"] = ",".join([*modules, f"{_MODULE}=1"])
    # The lines count as information, which a user may have turned off; here nobody sees them but us.
    environ["TF_CPP_MIN_LOG_LEVEL"] = "0"
