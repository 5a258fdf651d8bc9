"""Recordings to and from JSON lines.

History of FORMAT_VERSION:
1. header, mode, block, health, phase, look, finding, end; later also reference_load, which readers of before skip.

Absent numbers are null or left out; NaN and infinities are never written.
"""

import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from mlflow_tfexec.errors import RecordingError
from mlflow_tfexec.records.findings import Finding
from mlflow_tfexec.records.recording import (
    AnyLine,
    Block,
    End,
    FindingLine,
    Header,
    Health,
    Look,
    ModeLine,
    Phase,
    Recording,
)
from mlflow_tfexec.records.reference_loads import ReferenceLoad

FORMAT = "tfexec-recording"
FORMAT_VERSION = 1

T = TypeVar("T", bound=BaseModel)

_KINDS: dict[str, type[AnyLine]] = {
    "mode": ModeLine,
    "block": Block,
    "reference_load": ReferenceLoad,
    "health": Health,
    "phase": Phase,
    "look": Look,
    "finding": FindingLine,
    "end": End,
}


def encode(line: BaseModel) -> str:
    """Write one line of a recording as JSON without a line break. Fields that are None are left out."""
    return json.dumps(line.model_dump(mode="json", exclude_none=True), allow_nan=False, separators=(",", ":"))


def load_recording(path: str | Path) -> Recording:
    """Read a recording from disk.

    Args:
        path: a `recording.jsonl`, or a directory that holds one.

    Raises:
        RecordingError: the file is missing, is not a recording, is damaged, or comes from a later format.
    """
    path = Path(path)
    try:
        if path.is_dir():
            path = path / "recording.jsonl"
        # Line by line, and only at line feeds: the text of a large recording is not held beside what is read from it.
        with path.open(encoding="utf-8", newline="\n") as stream:
            return _decode(stream, name=str(path))
    except OSError as error:
        raise RecordingError(
            f"Cannot read recording {str(path)!r}: {error.strerror}. Give the path of a recording.jsonl."
        ) from None
    except UnicodeDecodeError:
        raise RecordingError(f"{str(path)!r} is not a recording: it is not text.") from None


def decode(text: str | Iterable[str], *, name: str = "recording") -> Recording:
    """Read a recording from its text, or from the lines of it with their line feeds; *name* is used in messages.

    Raises RecordingError as `load_recording` does.
    """
    return _decode(io.StringIO(text, newline="\n") if isinstance(text, str) else text, name=name)


def _decode(rows: Iterable[str], *, name: str) -> Recording:
    header: Header | None = None
    lines: list[AnyLine] = []
    unknown: dict[str, int] = {}
    findings = []
    for number, row in enumerate(rows, start=1):
        if not row.endswith("\n"):
            # The writer died inside the last row, and it never counted.
            if row.strip():
                findings.append(_cut())
        elif header is None:
            header = _read_header(row, name=name)
        elif row.strip():
            data = _read_json(row, name=name, number=number)
            kind = str(data.get("kind"))
            line_type = _KINDS.get(kind)
            if line_type is None:
                unknown[kind] = unknown.get(kind, 0) + 1
            else:
                lines.append(_validate(line_type, data, name=name, number=number))
    if header is None:
        raise RecordingError(f"{name!r} is not a recording: it holds no complete line.")
    findings.extend(_skipped(kind, count) for kind, count in sorted(unknown.items()))
    return Recording(header=header, lines=tuple(lines), reading_findings=tuple(findings))


def _cut() -> Finding:
    return Finding(
        code="recording_cut",
        what="The last line of the recording is incomplete and was left out.",
        why="The process that wrote it was killed, or the disk was full.",
    )


def _skipped(kind: str, count: int) -> Finding:
    return Finding(
        code="unknown_kind",
        what=f"{count} line(s) of kind {kind!r} were skipped.",
        why="They come from a later version of mlflow-tfexec.",
        what_to_try="Upgrade mlflow-tfexec to read them.",
    )


def _read_header(row: str, *, name: str) -> Header:
    data = _read_json(row, name=name, number=1)
    if data.get("kind") != "header" or data.get("format") != FORMAT:
        raise RecordingError(f"{name!r} is not a recording: its first line is not a {FORMAT} header.")
    version = data.get("version")
    if not isinstance(version, int) or version > FORMAT_VERSION:
        raise RecordingError(
            f"{name!r} has recording format {version!r}; this version reads up to {FORMAT_VERSION}. "
            "Upgrade mlflow-tfexec."
        )
    return _validate(Header, data, name=name, number=1)


def _read_json(row: str, *, name: str, number: int) -> dict[str, Any]:
    try:
        data = json.loads(row)
    except (ValueError, RecursionError):
        # Beside bad syntax: numbers of thousands of digits, and nesting without end.
        raise RecordingError(f"{name!r}, line {number}: not JSON. The file is damaged.") from None
    if not isinstance(data, dict):
        raise RecordingError(f"{name!r}, line {number}: not an object. The file is damaged.")
    return data


def _validate(line_type: type[T], data: dict[str, Any], *, name: str, number: int) -> T:
    try:
        return line_type.model_validate(data)
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise RecordingError(f"{name!r}, line {number}: {where}: {problem['msg']}.") from None
