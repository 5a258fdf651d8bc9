"""An export for spreadsheets and data frames: one row per timed call, or per mode."""

import csv
import io
from collections.abc import Sequence
from typing import BinaryIO

from mlflow_tfexec.exports._format import ExportFormat
from mlflow_tfexec.exports._table import Cell, ExportTable, calls, modes
from mlflow_tfexec.records.recording import Recording
from mlflow_tfexec.text import spreadsheet_cell


def write(recordings: Sequence[Recording], stream: BinaryIO) -> None:
    """Write the columns of `CallRow` with one row per timed call; a throughput block is one row.

    Truth values are `true` and `false`, and an empty cell is not known. Text that a spreadsheet would take for a
    formula gets a leading apostrophe.
    """
    _write(calls(recordings), stream)


def write_modes(recordings: Sequence[Recording], stream: BinaryIO) -> None:
    """Write one row per benchmark and mode, with every metric under its MLflow key, at full precision."""
    _write(modes(recordings), stream)


def _write(table: ExportTable, stream: BinaryIO) -> None:
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(map(_cell, row) for row in table.rows)
    # The stream stays open: it is the caller's.
    text.detach()


def _cell(value: Cell) -> Cell:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return spreadsheet_cell(value)
    return value


EXPORT = ExportFormat(name="csv", extension=".csv", is_text=True, write=write, write_modes=write_modes)
