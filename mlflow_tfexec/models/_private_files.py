"""Files in the spool that only their owner can read: they hold a model and inputs, and run code when opened."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from mlflow_tfexec.errors import SpoolError

OWNER_ONLY = 0o600
_OWNER_DIRECTORY = 0o700


def make_private(directory: Path) -> None:
    """Make a directory that only its owner can enter. Raises SpoolError."""
    with _written(directory):
        directory.mkdir(parents=True, exist_ok=True)
        directory.chmod(_OWNER_DIRECTORY)


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read from its first byte on. Raises SpoolError."""
    with _written(path):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)


@contextlib.contextmanager
def _written(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SpoolError(f"Cannot write {str(path)!r}: {error.strerror}.") from None
