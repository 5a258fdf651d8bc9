"""`mlflow-tfexec report`: say again what was measured, in any format."""

import os.path
from typing import Annotated

import typer

from mlflow_tfexec.cli.request import AUTO, optional_margin, unless_auto
from mlflow_tfexec.errors import EXIT_DONE


def command(
    references: Annotated[list[str], typer.Argument(help="Run ids, or paths of recordings.")],
    report_format: Annotated[str, typer.Option("--format", help="console, markdown, html, json or csv.")] = "console",
    output: Annotated[str, typer.Option(help="File to write to; auto prints.")] = AUTO,
    margin: Annotated[str, typer.Option(help="Margin of equivalence; auto: each benchmark's own.")] = AUTO,
    tracking_uri: Annotated[str, typer.Option(help="Where run ids are looked up; auto: MLflow's own setting.")] = AUTO,
) -> int:
    """Report benchmarks by run id or recording."""
    from mlflow_tfexec import reports
    from mlflow_tfexec.cli.output import emit, find_format
    from mlflow_tfexec.records.codec import load_recording
    from mlflow_tfexec.statistics.judge import judge

    format_ = find_format(report_format)
    chosen_margin = optional_margin(margin)
    recordings = []
    for reference in references:
        if os.path.exists(reference):  # noqa: PTH110 - Path.exists raises for a name that is too long
            recordings.append(load_recording(reference))
        else:
            from mlflow_tfexec.tracking.reader import find_recording

            recordings.append(find_recording(reference, tracking_uri=unless_auto(tracking_uri)))
    entries = [(recording, judge(recording, margin=chosen_margin)) for recording in recordings]
    emit(reports.table(entries, margin=chosen_margin), format_, output=output)
    return EXIT_DONE
