"""`mlflow-tfexec export`: hand the numbers of benchmarks to other programs."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

import typer

from mlflow_tfexec.benchmarking.request import AUTO, one_of, unless_auto
from mlflow_tfexec.cli.shared_options import RunIdsUriOption
from mlflow_tfexec.errors import EXIT_DONE, RequestError

if TYPE_CHECKING:
    from mlflow_tfexec.exports import ExportFormat, Write
    from mlflow_tfexec.records.recording import Recording

# A file without a line break is not read to its end.
_LONGEST_HEADER = 1 << 20


def command(
    references: Annotated[list[str], typer.Argument(help="Run ids, or paths of recordings.")],
    export_format: Annotated[
        str, typer.Option("--format", help="csv or parquet (every timed call), json (all that is derived) or pyperf.")
    ],
    rows: Annotated[
        str, typer.Option(help="Of csv and parquet: calls, or modes, one row per benchmark and mode.")
    ] = "calls",
    output: Annotated[str, typer.Option(help="File to write to; auto prints, which parquet cannot.")] = AUTO,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    tracking_uri: RunIdsUriOption = AUTO,
) -> int:
    """Write benchmarks as CSV, Parquet, JSON or pyperf's JSON."""
    from mlflow_tfexec.exports import formats

    format_ = formats()[one_of("format", export_format, tuple(formats()))]
    write = _writer(format_, rows)
    target = None if unless_auto(output) is None else Path(output)
    if target is None and not format_.is_text:
        raise RequestError(f"{format_.name} is not text and cannot be printed. Name a file with --output.")
    if target is not None:
        _refuse_existing(target, force=force)
    recordings = _load(references, tracking_uri)
    if target is None:
        content = io.BytesIO()
        write(recordings, content)
        typer.echo(content.getvalue(), nl=False)
    else:
        _write_whole(write, recordings, target)
    return EXIT_DONE


def _writer(format_: "ExportFormat", rows: str) -> "Write":
    """Choose what a row is. Raises RequestError for a format that has no rows."""
    if one_of("rows", rows, ("calls", "modes")) == "calls":
        return format_.write
    if format_.write_modes is None:
        raise RequestError(f"{format_.name} has no rows to choose. Leave out --rows, or take csv or parquet.")
    return format_.write_modes


def _load(references: Sequence[str], tracking_uri: str) -> list["Recording"]:
    """Read each benchmark. Raises RequestError for one that is named twice: its calls would count twice."""
    from mlflow_tfexec.cli.references import load_reference

    named: dict[str, tuple[str, Recording]] = {}
    for reference in references:
        recording = load_reference(reference, tracking_uri=tracking_uri)
        benchmark_id = recording.header.benchmark_id
        if benchmark_id in named:
            raise RequestError(
                f"{reference!r} is the same benchmark as {named[benchmark_id][0]!r}: {benchmark_id}. Name it once."
            )
        named[benchmark_id] = (reference, recording)
    return [recording for _, recording in named.values()]


def _refuse_existing(target: Path, *, force: bool) -> None:
    """Raise RequestError if writing to *target* would lose something: a recording is never written over."""
    try:
        exists = target.exists()
        if exists and not target.is_file():
            raise RequestError(f"Cannot write {str(target)!r}: it is not a file.")
        if exists and not force:
            raise RequestError(f"{str(target)!r} exists. Name another file, or add --force to replace it.")
        if exists and _is_recording(target):
            raise RequestError(f"{str(target)!r} is a recording and is not replaced. Name another file.")
    except OSError as error:
        raise _cannot_write(target, error) from None


def _is_recording(path: Path) -> bool:
    """Say whether a file begins as recordings do: with a whole object on its first line that names the format."""
    with path.open("rb") as stream:
        first = stream.readline(_LONGEST_HEADER)
    # An export to JSON holds the same words, over many lines.
    return first.startswith(b"{") and b'"tfexec-recording"' in first


def _write_whole(write: "Write", recordings: Sequence["Recording"], target: Path) -> None:
    """Write a file that is there whole or not at all: under another name first, beside the one wanted."""
    temporary = target.with_name(f".{target.name[:40]}.{uuid4().hex[:12]}.part")
    try:
        with temporary.open("xb") as stream:
            write(recordings, stream)
        temporary.replace(target)
    except OSError as error:
        raise _cannot_write(target, error) from None
    finally:
        # Whatever went wrong, an interruption included. After the replacement there is nothing left to remove.
        temporary.unlink(missing_ok=True)


def _cannot_write(target: Path, error: OSError) -> RequestError:
    return RequestError(f"Cannot write {str(target)!r}: {error.strerror or error}.")
