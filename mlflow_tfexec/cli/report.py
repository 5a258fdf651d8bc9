"""`mlflow-tfexec report`: say again what was measured, in any format."""

from typing import Annotated

import typer

from mlflow_tfexec.cli.request import AUTO, optional_margin
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
    from mlflow_tfexec.cli.references import load_reference
    from mlflow_tfexec.statistics.judge import judge

    format_ = find_format(report_format)
    chosen_margin = optional_margin(margin)
    recordings = [load_reference(reference, tracking_uri=tracking_uri) for reference in references]
    entries = [(recording, judge(recording, margin=chosen_margin)) for recording in recordings]
    emit(reports.table(entries, margin=chosen_margin), format_, output=output)
    return EXIT_DONE
