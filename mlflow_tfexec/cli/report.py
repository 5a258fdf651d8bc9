"""`mlflow-tfexec report`: say again what was measured, in any format."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from mlflow_tfexec.cli import query_options
from mlflow_tfexec.cli.request import AUTO, optional_margin
from mlflow_tfexec.errors import EXIT_DONE, RequestError

if TYPE_CHECKING:
    from mlflow_tfexec.records.recording import Recording


def command(
    references: Annotated[
        list[str] | None, typer.Argument(help="Run ids, or paths of recordings; none: those that match the options.")
    ] = None,
    *,
    report_format: Annotated[str, typer.Option("--format", help="console, markdown, html, json or csv.")] = "console",
    output: Annotated[str, typer.Option(help="File to write to; auto prints.")] = AUTO,
    margin: Annotated[str, typer.Option(help="Margin of equivalence; auto: each benchmark's own.")] = AUTO,
    model: query_options.ModelOption = AUTO,
    experiment: query_options.ExperimentOption = None,
    gpu: query_options.GpuOption = AUTO,
    tf_version: query_options.TfVersionOption = AUTO,
    mode: query_options.ModeOption = AUTO,
    task: query_options.TaskOption = AUTO,
    family: query_options.FamilyOption = AUTO,
    since: query_options.SinceOption = AUTO,
    until: query_options.UntilOption = AUTO,
    filter_: query_options.FilterOption = AUTO,
    limit: query_options.LimitOption = AUTO,
    tracking_uri: query_options.TrackingUriOption = AUTO,
) -> int:
    """Report benchmarks by run id, recording or query; without any of these, the newest one."""
    from mlflow_tfexec import reports
    from mlflow_tfexec.cli.output import emit, find_format
    from mlflow_tfexec.statistics.judge import judge

    format_ = find_format(report_format)
    chosen_margin = optional_margin(margin)
    options = query_options.QueryOptions(
        model=model,
        experiment=experiment or (),
        gpu=gpu,
        tf_version=tf_version,
        mode=mode,
        task=task,
        family=family,
        since=since,
        until=until,
        filter=filter_,
        limit=limit,
    )
    recordings = _load(references or (), options, tracking_uri)
    entries = [(recording, judge(recording, margin=chosen_margin)) for recording in recordings]
    emit(reports.table(entries, margin=chosen_margin), format_, output=output)
    return EXIT_DONE


def _load(references: Sequence[str], options: query_options.QueryOptions, tracking_uri: str) -> "Sequence[Recording]":
    """Read what is named, or else what matches."""
    from mlflow_tfexec.cli.matching import load_matching
    from mlflow_tfexec.cli.references import load_reference

    if references and options.given:
        raise RequestError(
            f"{references[0]!r} names a benchmark, and {next(iter(options.given))} asks for those that match. "
            "Give one or the other."
        )
    if not references:
        return load_matching(options, tracking_uri=tracking_uri)
    return [load_reference(reference, tracking_uri=tracking_uri) for reference in references]
