"""Tables that every tabular format can write: every timed call, and every mode."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mlflow_tfexec.exports._calls import CallRow, call_rows
from mlflow_tfexec.metrics import measure
from mlflow_tfexec.records.recording import Recording
from mlflow_tfexec.statistics.judge import judge

Cell = str | int | float | bool | None

_MODE_COLUMNS: Mapping[str, type] = {
    "benchmark_id": str,
    "created": str,
    "model": str,
    "mode": str,
    "status": str,
    "reason": str,
}


@dataclass(frozen=True)
class ExportTable:
    """Columns and rows, read once."""

    columns: Mapping[str, type]
    """Name → str, int, float or bool, in order."""
    rows: Iterator[Sequence[Cell]]
    """A cell per column. None: not known."""


def calls(recordings: Sequence[Recording]) -> ExportTable:
    """Give one row per timed call; the columns are those of `CallRow`, and no cell is None."""
    rows = (row for recording in recordings for row in call_rows(recording))
    return ExportTable(CallRow.__annotations__, rows)


def modes(recordings: Sequence[Recording]) -> ExportTable:
    """Give one row per benchmark and mode: which it is and how it ended, then every metric under its MLflow key."""
    identities, figures = [], []
    for recording in recordings:
        judgement = judge(recording)
        for mode in judgement.modes:
            header = recording.header
            identities.append(
                (header.benchmark_id, header.created, judgement.model, mode.mode, mode.status, mode.reason)
            )
            figures.append(measure(recording, judgement, mode.mode))
    keys = sorted({key for known in figures for key in known})
    rows = ((*identity, *(known.get(key) for key in keys)) for identity, known in zip(identities, figures, strict=True))
    return ExportTable({**_MODE_COLUMNS, **dict.fromkeys(keys, float)}, rows)
