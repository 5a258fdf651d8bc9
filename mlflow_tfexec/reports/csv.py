"""A report for spreadsheets and data frames: one row per benchmark and mode."""

import csv
import io

from mlflow_tfexec.reports._facts import inputs
from mlflow_tfexec.reports._format import Format
from mlflow_tfexec.reports._table import BenchmarkTable, Row, Table
from mlflow_tfexec.text import spreadsheet_cell

_IDENTITY = (
    "benchmark_id", "created", "model", "task", "mode", "status", "reason", "scope",
    "inputs", "batch_size", "dtype", "preset", "seed",
    "device", "gpu", "gpu_driver", "cpu", "tf_version", "keras_version", "cuda_version", "cudnn_version",
)  # fmt: skip


def render(table: Table) -> str:
    """Write one row per benchmark and mode: who and where first, then every metric at full precision.

    A column that is empty in a row is not known there. Text that a spreadsheet would take for a formula gets a
    leading apostrophe; numbers are untouched.
    """
    rows = [(benchmark, row) for benchmark in table.benchmarks for row in benchmark.rows]
    metrics = sorted({key for _, row in rows for key in row.figures})
    lines = [
        _cells(benchmark, row) | {key: repr(value) for key, value in row.figures.items()} for benchmark, row in rows
    ]
    content = io.StringIO()
    writer = csv.DictWriter(content, [*_IDENTITY, *metrics], restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return content.getvalue()


def _cells(benchmark: BenchmarkTable, row: Row) -> dict[str, str]:
    """Give what identifies a row, by column."""
    header, spec, machine = benchmark.header, benchmark.header.spec, benchmark.machine
    texts = {
        "benchmark_id": header.benchmark_id,
        "created": header.created,
        "model": spec.model,
        "task": spec.task,
        "mode": row.mode,
        "status": row.status,
        "reason": row.reason,
        "scope": benchmark.judgement.scope,
        "inputs": inputs(benchmark.header),
        "dtype": spec.dtype,
        "preset": spec.preset,
        "device": machine.device,
        "gpu": machine.gpu,
        "gpu_driver": machine.gpu_driver,
        "cpu": machine.cpu,
        "tf_version": machine.tensorflow,
        "keras_version": machine.keras,
        "cuda_version": machine.cuda,
        "cudnn_version": machine.cudnn,
    }
    numbers = {"batch_size": spec.batch_size, "seed": spec.seed}
    return {column: spreadsheet_cell(text) for column, text in texts.items() if text} | {
        column: str(number) for column, number in numbers.items()
    }


FORMAT = Format(name="csv", extension=".csv", render=render)
