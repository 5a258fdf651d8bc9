"""`mlflow-tfexec report`: say again what was measured, in any format."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from mlflow_tfexec.benchmarking.request import AUTO, optional_margin, unless_auto
from mlflow_tfexec.cli import query_options
from mlflow_tfexec.cli.shared_options import FormatOption, LogOption, OutputOption
from mlflow_tfexec.errors import EXIT_DONE, RequestError

if TYPE_CHECKING:
    from mlflow_tfexec.records.judgement import Judgement
    from mlflow_tfexec.records.recording import Recording


@query_options.takes_query
def command(
    references: Annotated[
        list[str] | None,
        typer.Argument(help="Run ids, or paths of recordings; none, or auto: those that match the query."),
    ] = None,
    *,
    report_format: FormatOption = "console",
    output: OutputOption = AUTO,
    margin: Annotated[str, typer.Option(help="Margin of equivalence; auto: each benchmark's own.")] = AUTO,
    log: LogOption = False,
    query: query_options.QueryOptions,
    tracking_uri: query_options.TrackingUriOption = AUTO,
) -> int:
    """Report benchmarks by run id, recording or query; without any of these, the newest one."""
    from mlflow_tfexec import reports
    from mlflow_tfexec.benchmarking.publish import publish_report, report_destination
    from mlflow_tfexec.cli.output import emit, find_format
    from mlflow_tfexec.statistics.judge import judge

    format_ = find_format(report_format)
    chosen_margin = optional_margin(margin)
    # Before anything is read: whoever waits for a report should not learn at its end that it cannot be kept.
    destination = report_destination(tracking_uri) if log else None
    named = [reference for reference in references or () if unless_auto(reference) is not None]

    def judged(recording: "Recording") -> "tuple[Recording, Judgement]":
        return recording, judge(recording, margin=chosen_margin)

    # One after the other, and `map` holds on to none: all of them together might not fit into memory.
    entries = map(judged, _load(named, query, tracking_uri))
    draw = format_.draw if destination is None else reports.drawings
    table = reports.table(entries, margin=chosen_margin, draw=draw)
    emit(table, format_, output=output)
    if destination is not None:
        texts = {one.extension: one.render(table) for one in reports.formats().values()}
        publish_report("report", [one.judgement.benchmark_id for one in table.benchmarks], texts, destination)
    return EXIT_DONE


def _load(references: Sequence[str], query: query_options.QueryOptions, tracking_uri: str) -> "Iterator[Recording]":
    """Read what is named, or else what matches, each as it is asked for."""
    from mlflow_tfexec.cli.matching import load_matching
    from mlflow_tfexec.cli.references import load_reference

    if references and query.given:
        raise RequestError(
            f"{references[0]!r} names a benchmark, and {next(iter(query.given))} asks for those that match. "
            "Give one or the other."
        )
    if not references:
        return load_matching(query, tracking_uri=tracking_uri)
    return (load_reference(reference, tracking_uri=tracking_uri) for reference in references)
