"""`mlflow-tfexec compare`: the same mode in one benchmark and in another."""

from typing import Annotated

import typer

from mlflow_tfexec.benchmarking.request import AUTO, one_of, optional_margin, unless_auto
from mlflow_tfexec.cli.shared_options import (
    FormatOption,
    LogOption,
    ModesOption,
    OutputOption,
    RelativeToOption,
    RunIdsUriOption,
)
from mlflow_tfexec.errors import EXIT_DONE


def command(
    references: Annotated[list[str], typer.Argument(help="Two or more: run ids, or paths of recordings.")],
    *,
    mode: ModesOption = None,
    margin: Annotated[str, typer.Option(help="Margin of equivalence; auto: the smallest of the benchmarks'.")] = AUTO,
    relative_to: RelativeToOption = AUTO,
    allow_mixed: Annotated[
        bool,
        typer.Option(
            "--allow-mixed", help="Compare also what differs in more than one of subject, machine and versions."
        ),
    ] = False,
    report_format: FormatOption = "console",
    output: OutputOption = AUTO,
    log: LogOption = False,
    tracking_uri: RunIdsUriOption = AUTO,
) -> int:
    """Compare the same mode across benchmarks: versions, machines, batch sizes or models."""
    from mlflow_tfexec.benchmarking.publish import publish_report, report_destination
    from mlflow_tfexec.cli.output import deliver, terminal_fit
    from mlflow_tfexec.cli.references import load_reference
    from mlflow_tfexec.reports._across import across_formats, across_table, console, matrix_drawing
    from mlflow_tfexec.statistics.across import compare_across

    formats = across_formats()
    format_ = formats[one_of("format", report_format, tuple(formats))]
    chosen_margin = optional_margin(margin)
    destination = report_destination(tracking_uri) if log else None
    recordings = [load_reference(reference, tracking_uri=tracking_uri) for reference in references]
    across = compare_across(
        recordings,
        modes=mode or None,
        margin=chosen_margin,
        relative_to=unless_auto(relative_to),
        allow_mixed=allow_mixed,
    )
    table = across_table(recordings, across)
    printed = format_ is console.FORMAT and output == AUTO
    deliver(console.render(table, **terminal_fit()) if printed else format_.render(table), output=output)
    if destination is not None:
        texts = {one.extension: one.render(table) for one in formats.values()}
        drawing = matrix_drawing(table)
        pictures = {"matrix.png": drawing.png(heading=table.title)} if drawing else {}
        ids = [one.header.benchmark_id for one in recordings]
        publish_report("comparison", ids, texts, destination, pictures=pictures)
    return EXIT_DONE
