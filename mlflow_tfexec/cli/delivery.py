"""What `run` does with benchmarks that have been measured: one report on all of them, and an exit code."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlflow_tfexec.benchmarking.measuring import Measured
from mlflow_tfexec.benchmarking.notices import say
from mlflow_tfexec.errors import EXIT_DONE, EXIT_INCOMPLETE

if TYPE_CHECKING:
    from mlflow_tfexec.reports import Format
    from mlflow_tfexec.tracking.destination import Destination


@dataclass(frozen=True)
class Delivery:
    """Where results go."""

    destination: "Destination"
    offline: bool
    report_format: "Format"
    strict: bool


def show(measured: Sequence[Measured], report_format: "Format") -> None:
    """Print one report on all benchmarks, whether MLflow has taken them or not."""
    from mlflow_tfexec import reports
    from mlflow_tfexec.cli.output import emit

    entries = [(one.recording, one.judgement) for one in measured]
    emit(reports.table(entries, where={one.judgement.benchmark_id: one.where for one in measured}), report_format)
    if report_format.name != "console":
        for label, text in (line for one in measured for line in one.where):
            say(f"{label}: {text}")


def exit_code(measured: Measured, *, strict: bool) -> int:
    """Return 0 when the baseline and one more ranked mode were measured (all of them, if *strict*)."""
    recording, judgement = measured.recording, measured.judgement
    complete = judgement.has_comparison and recording.end is not None and recording.end.status == "complete"
    if strict:
        complete = complete and all(mode.status == "ok" for mode in judgement.modes)
    return EXIT_DONE if complete and measured.failure is None else EXIT_INCOMPLETE
