"""An export for data frames and query engines: the table of the CSV, typed and an order of magnitude smaller."""

import itertools
from collections.abc import Sequence
from typing import Any, BinaryIO

from mlflow_tfexec.exports._calls import CallRow, call_rows
from mlflow_tfexec.exports._format import ExportFormat
from mlflow_tfexec.records.recording import Recording

# Bounds the memory: what is written at once is held as Python objects before.
_ROWS_AT_ONCE = 50_000


def write(recordings: Sequence[Recording], stream: BinaryIO) -> None:
    """Write the columns of `CallRow` with one row per timed call: text as string, truth as bool, numbers as int64."""
    import pyarrow as pa
    from pyarrow import parquet

    kinds: dict[Any, Any] = {str: pa.string(), int: pa.int64(), bool: pa.bool_()}
    schema = pa.schema([pa.field(name, kinds[kind], nullable=False) for name, kind in CallRow.__annotations__.items()])
    rows = itertools.chain.from_iterable(map(call_rows, recordings))
    with parquet.ParquetWriter(stream, schema) as writer:
        while some := list(itertools.islice(rows, _ROWS_AT_ONCE)):
            columns = [
                pa.array(column, field.type) for column, field in zip(zip(*some, strict=True), schema, strict=True)
            ]
            writer.write_table(pa.table(columns, schema=schema))


EXPORT = ExportFormat(name="parquet", extension=".parquet", is_text=False, write=write)
