"""`mlflow-tfexec attach`: put a benchmark's headline on a run or model that MLflow already has."""

from typing import TYPE_CHECKING, Annotated

import typer

from mlflow_tfexec.benchmarking.request import AUTO, unless_auto
from mlflow_tfexec.cli.shared_options import PrefixOption, StoreUriOption
from mlflow_tfexec.errors import EXIT_DONE
from mlflow_tfexec.tracking.keys import ATTACH_PREFIX

if TYPE_CHECKING:
    from mlflow_tfexec.tracking.attacher import Attached


def command(
    reference: Annotated[str, typer.Argument(help="The benchmark: a run id, or the path of a recording.")],
    to: Annotated[str, typer.Option("--to", help="A run id, models:/m-…, models:/name/version or models:/name@alias.")],
    prefix: PrefixOption = ATTACH_PREFIX,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
    tracking_uri: StoreUriOption = AUTO,
) -> int:
    """Write a benchmark's headline to a run, a logged model or a model version. Doing it twice changes nothing."""
    from mlflow_tfexec.benchmarking.attaching import attach_recording, find

    uri = unless_auto(tracking_uri)
    recording, run_id = find(reference, tracking_uri=uri)
    attached = attach_recording(recording, run_id, to, prefix=prefix, force=force, tracking_uri=uri)
    for line in _lines(attached):
        typer.echo(line)
    return EXIT_DONE


def _lines(attached: "Attached") -> list[str]:
    """Say what is there now."""
    from mlflow_tfexec.text import plain

    what = f"benchmark {plain(attached.benchmark_id)}"
    done = f"Attached {what} to" if attached.changed else f"Nothing to do: {what} is attached to"
    best = f"one of {', '.join(attached.best_set)}" if attached.best_set else "undecided"
    lines = [f"{done} {plain(attached.target)}; fastest: {plain(attached.fastest or best)}."]
    if attached.run_id is None:
        lines.append("It came from a recording: the target names no run of the benchmark.")
    if attached.left:
        lines.append(f"Still there from an earlier benchmark, as MLflow deletes no metric: {', '.join(attached.left)}.")
    return lines
