"""Bringing files from an artifact store to this machine, with word of how many there are and how far they have come."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

_INTERVAL_S = 10.0
"""Between two words on a long download: often enough to show that it goes on, seldom enough for a log."""


@dataclass(frozen=True)
class Download:
    """What is fetched, and how much of it is here."""

    reference: str
    """As the user has named it."""
    files: int
    total_bytes: int | None
    """None: the store does not say how large its files are."""
    done_bytes: int | None = None
    """None: it begins now."""


Tell = Callable[[Download], None]


def say_nothing(download: Download) -> None:
    """Take no note of it."""
    del download


def download(uri: str, directory: Path) -> Path:
    """Fetch the file or the files at *uri* into *directory*, and return where they lie."""
    from mlflow.artifacts import download_artifacts

    return Path(download_artifacts(artifact_uri=uri, dst_path=str(directory)))


def download_told(uri: str, directory: Path, *, reference: str, tell: Tell) -> Path:
    """Fetch the files at *uri* and *tell* of it before the first byte, and every ten seconds from then on."""
    sizes = list(_sizes(uri))
    known = [size for size in sizes if size is not None]
    total_bytes = sum(known) if len(known) == len(sizes) else None
    begun = Download(reference, len(sizes), total_bytes)
    tell(begun)
    with _watched(directory, begun, tell):
        return download(uri, directory)


def _sizes(uri: str) -> Iterator[int | None]:
    """Give the size in bytes of each file at *uri*. None: the store does not say."""
    from mlflow.artifacts import list_artifacts

    entries: list[Any] = list_artifacts(artifact_uri=uri)
    for entry in entries:
        if entry.is_dir:
            # Paths are relative to a root that only the store knows; a name is enough to go one step down.
            yield from _sizes(f"{uri.rstrip('/')}/{entry.path.rstrip('/').rpartition('/')[2]}")
        else:
            yield None if entry.file_size is None else int(entry.file_size)


@contextmanager
def _watched(directory: Path, begun: Download, tell: Tell) -> Iterator[None]:
    """Tell from a thread how much has come: MLflow says nothing until all is here."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(_INTERVAL_S):
            tell(replace(begun, done_bytes=_bytes_in(directory)))

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _bytes_in(directory: Path) -> int:
    """Add up what lies in *directory*, where files come and are renamed meanwhile."""
    total_bytes = 0
    for path in directory.rglob("*"):
        try:
            total_bytes += path.stat().st_size if path.is_file() else 0
        except OSError:
            continue
    return total_bytes
