"""`mlflow-tfexec sync`: bring to MLflow what was measured and did not get there."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mlflow_tfexec.benchmarking.notices import say
from mlflow_tfexec.benchmarking.request import AUTO, unless_auto
from mlflow_tfexec.errors import EXIT_DONE, EXIT_INCOMPLETE, RequestError, TfexecError

if TYPE_CHECKING:
    from mlflow_tfexec.spool import SpooledBenchmark
    from mlflow_tfexec.tracking.destination import Destination


def command(
    directories: Annotated[
        list[str] | None,
        typer.Argument(help="Directories of benchmarks in the spool; none: all that MLflow does not have yet."),
    ] = None,
    tracking_uri: Annotated[str, typer.Option(help="Log here; auto: where each benchmark was meant to go.")] = AUTO,
    spool_dir: Annotated[
        str, typer.Option(help="The spool; auto: $MLFLOW_TFEXEC_SPOOL, else ~/.mlflow-tfexec/spool.")
    ] = AUTO,
) -> int:
    """Log spooled benchmarks to MLflow. Doing it twice makes no second copy."""
    from mlflow_tfexec.spool import SpooledBenchmark, spool_root, spooled

    root = spool_root(unless_auto(spool_dir))
    if directories:
        waiting = [SpooledBenchmark(Path(directory)) for directory in directories]
        for benchmark in waiting:
            if not benchmark.recording_path.is_file():
                raise RequestError(f"No recording in {str(benchmark.directory)!r}. Give a directory of the spool.")
    else:
        waiting = [benchmark for benchmark in spooled(root) if not benchmark.is_logged]
    if not waiting:
        typer.echo(f"Nothing to log in {root}.")
    failures = sum(not _sync_one(benchmark, tracking_uri) for benchmark in waiting)
    return EXIT_INCOMPLETE if failures else EXIT_DONE


def _sync_one(benchmark: "SpooledBenchmark", tracking_uri: str) -> bool:
    """Log one benchmark and say where, or say why not. True: MLflow has it, or will get it from its owner."""
    from mlflow_tfexec.benchmarking.publish import publish
    from mlflow_tfexec.statistics.judge import judge
    from mlflow_tfexec.text import plain

    if not benchmark.claim():
        typer.echo(f"{benchmark.directory}: another process measures or logs it at this moment; left alone.", err=True)
        return True
    try:
        recording = benchmark.load()
        logged = publish(benchmark, recording, judge(recording), _destination(benchmark, tracking_uri))
    except TfexecError as error:
        say(f"{benchmark.directory}: {error}")
        return False
    finally:
        benchmark.release()
    model = plain(recording.spec.model)
    typer.echo(f"{model} {benchmark.benchmark_id}: {logged.url or f'run {logged.run_id}'}")
    return True


def _destination(benchmark: "SpooledBenchmark", tracking_uri: str) -> "Destination":
    """Take the destination the benchmark was meant for, unless another is asked for or none was noted."""
    from mlflow_tfexec.tracking.destination import Destination, resolve, unreached

    noted = benchmark.read_destination()
    asked = unless_auto(tracking_uri)
    if asked is not None:
        return resolve(tracking_uri=asked, experiment=None, environ=os.environ)
    return Destination.from_json(noted) if noted else unreached(tracking_uri=None, experiment=None, environ=os.environ)
