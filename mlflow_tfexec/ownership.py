"""Which process works on a directory, so that no other does at the same time."""

import json
import os
import platform
import time
from pathlib import Path
from typing import Any

_OWNER = "owner.json"

# A process on another machine cannot be asked whether it lives. A directory that it has left alone for longer than any
# step of a benchmark takes is taken for abandoned.
_ABANDONED_S = 2 * 3600.0

# Between making the note and writing it lies next to nothing; a note that stays empty is damaged.
_WRITING_S = 10.0


def claim(directory: Path) -> bool:
    """Make this process the owner of *directory*. False: another process that lives is.

    Raises:
        OSError: the directory cannot be written to.
    """
    path = directory / _OWNER
    note = json.dumps(_myself())
    try:
        with path.open("x", encoding="utf-8") as stream:
            stream.write(note)
    except FileExistsError:
        if _is_alive(path):
            return False
        # In one step, so that a reader never sees half a note.
        replacement = directory / f"{_OWNER}.{os.getpid()}"
        replacement.write_text(note, encoding="utf-8")
        replacement.replace(path)
    return True


def release(directory: Path) -> None:
    """Give *directory* up. Harmless when it is not ours or not there."""
    path = directory / _OWNER
    if _read(path) == _myself():
        path.unlink(missing_ok=True)


def is_abandoned(directory: Path) -> bool:
    """Say whether the process that *directory* belonged to has ended without giving it up.

    False: it belongs to nobody, to this process, or to one that lives.
    """
    path = directory / _OWNER
    return path.exists() and _read(path) != _myself() and not _is_alive(path)


def _myself() -> dict[str, Any]:
    import psutil

    # A process id comes round again; together with the time it began it does not.
    return {"host": platform.node(), "pid": os.getpid(), "began": psutil.Process().create_time()}


def _is_alive(path: Path) -> bool:
    """Say whether the owner noted in *path* still works. False for this process itself."""
    import psutil

    owner = _read(path)
    if owner is None:
        # Made, but not yet written; or damaged long ago.
        return path.exists() and time.time() - path.stat().st_mtime < _WRITING_S
    if owner == _myself():
        return False
    if owner.get("host") != platform.node():
        newest_s = max((entry.stat().st_mtime for entry in path.parent.iterdir()), default=0.0)
        return time.time() - newest_s < _ABANDONED_S
    try:
        return bool(psutil.Process(owner["pid"]).create_time() == owner["began"])
    except (psutil.Error, KeyError, TypeError, ValueError):
        return False


def _read(path: Path) -> dict[str, Any] | None:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return data if isinstance(data, dict) else None
