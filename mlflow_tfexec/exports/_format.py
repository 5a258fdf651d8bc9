"""What an export format is: a name, a file extension, and a function that writes recordings to a stream."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from mlflow_tfexec.records.recording import Recording

Write = Callable[[Sequence[Recording], BinaryIO], None]
"""(recordings in the order wanted, a stream at its beginning). Same recordings, same bytes."""


@dataclass(frozen=True)
class ExportFormat:
    """One way to hand numbers to another program."""

    name: str
    """As `--format` takes it."""
    extension: str
    """Of a file that holds it, dot included."""
    is_text: bool
    """True: UTF-8, fit to be printed."""
    write: Write
    """Tables: one row per timed call."""
    write_modes: Write | None = None
    """Tables: one row per benchmark and mode. None: not a table."""
