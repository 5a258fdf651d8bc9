"""An export for data frames and query engines: the table of the CSV, typed and an order of magnitude smaller."""

import itertools
from collections.abc import Sequence
from typing import Any, BinaryIO

from mlflow_tfexec.exports._format import ExportFormat
from mlflow_tfexec.exports._table import ExportTable, calls, modes
from mlflow_tfexec.records.recording import Recording

# Bounds the memory: what is written at once is held as Python objects before.
_ROWS_AT_ONCE = 50_000


def write(recordings: Sequence[Recording], stream: BinaryIO) -> None:
    """Write the columns of `CallRow` with one row per timed call: text as string, truth as bool, numbers as int64."""
    _write(calls(recordings), stream)


def write_modes(recordings: Sequence[Recording], stream: BinaryIO) -> None:
    """Write one row per benchmark and mode, with every metric under its MLflow key as double; null is not known."""
    _write(modes(recordings), stream)


def _write(table: ExportTable, stream: BinaryIO) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    kinds: dict[Any, Any] = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    schema = pa.schema([(name, kinds[kind]) for name, kind in table.columns.items()])
    with parquet.ParquetWriter(stream, schema) as writer:
        while some := list(itertools.islice(table.rows, _ROWS_AT_ONCE)):
            columns = [
                pa.array(column, field.type) for column, field in zip(zip(*some, strict=True), schema, strict=True)
            ]
            writer.write_table(pa.table(columns, schema=schema))


EXPORT = ExportFormat(name="parquet", extension=".parquet", is_text=False, write=write, write_modes=write_modes)
