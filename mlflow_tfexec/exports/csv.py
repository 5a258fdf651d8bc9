"""An export for spreadsheets and data frames: one row per timed call."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from mlflow_tfexec.exports._calls import CallRow, call_rows
from mlflow_tfexec.exports._format import ExportFormat
from mlflow_tfexec.records.recording import Recording

# A spreadsheet takes a cell that begins so for a formula: https://owasp.org/www-community/attacks/CSV_Injection
_FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # noqa: RUF001 - full-width forms count as well


def write(recordings: Sequence[Recording], stream: BinaryIO) -> None:
    """Write the columns of `CallRow` with one row per timed call; a throughput block is one row.

    Truth values are `true` and `false`. Text that a spreadsheet would take for a formula gets a leading apostrophe.
    """
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CallRow._fields)
    for recording in recordings:
        writer.writerows(map(_cells, call_rows(recording)))
    # The stream stays open: it is the caller's.
    text.detach()


def _cells(row: CallRow) -> Iterator[str | int]:
    return map(_cell, row)


def _cell(value: str | int) -> str | int:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        value = " ".join(value.split())
        return f"'{value}" if value.startswith(_FORMULA_STARTS) else value
    return value


EXPORT = ExportFormat(name="csv", extension=".csv", is_text=True, write=write)
