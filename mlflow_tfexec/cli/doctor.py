"""`mlflow-tfexec doctor`: what this machine can do, before an hour is spent."""

import os
from typing import Annotated

import typer

from mlflow_tfexec.benchmarking.request import AUTO, one_of, seconds, unless_auto
from mlflow_tfexec.errors import EXIT_DONE, EXIT_INCOMPLETE


def command(
    *,
    tracking_uri: Annotated[str, typer.Option(help="MLflow tracking URI; auto: MLflow's own setting.")] = AUTO,
    experiment: Annotated[str, typer.Option(help="MLflow experiment; auto: MLflow's own setting.")] = AUTO,
    spool_dir: Annotated[
        str, typer.Option(help="Where results would be kept; auto: $MLFLOW_TFEXEC_SPOOL or ~/.mlflow-tfexec/spool.")
    ] = AUTO,
    timeout: Annotated[
        str, typer.Option(help="Longest wait for one step of TensorFlow's (its import is one), in s.")
    ] = "120",
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 1 also on a problem that only part of it has.")
    ] = False,
    doctor_format: Annotated[str, typer.Option("--format", help="console or json.")] = "console",
) -> int:
    """Say what this machine can do, what is wrong with it, and which line starts a benchmark here.

    Exits 0 when it was shown that a benchmark can run, else 1.
    """
    wanted = one_of("format", doctor_format, ("console", "json"))
    timeout_s = seconds("timeout", timeout)
    from mlflow_tfexec.benchmarking.interrupts import interruptible
    from mlflow_tfexec.cli.doctor_facts import ask_all
    from mlflow_tfexec.cli.doctor_text import to_text
    from mlflow_tfexec.cli.output import deliver, terminal_fit
    from mlflow_tfexec.diagnosis import diagnose, is_ready
    from mlflow_tfexec.diagnosis._document import to_json
    from mlflow_tfexec.diagnosis.mlflow_run import start_line

    with interruptible():
        facts = ask_all(
            os.environ,
            tracking_uri=unless_auto(tracking_uri),
            experiment=unless_auto(experiment),
            spool_dir=unless_auto(spool_dir),
            timeout_s=timeout_s,
        )
    diagnosis = diagnose(facts)
    results = [result for found in diagnosis.values() for result in found]
    ready, start = is_ready(results), start_line(facts.project)
    if wanted == "json":
        deliver(to_json(diagnosis, ready=ready, start=start))
    else:
        deliver(to_text(diagnosis, ready=ready, start=start, **terminal_fit()))
    troubled = strict and any(result.status == "problem" for result in results)
    return EXIT_DONE if ready and not troubled else EXIT_INCOMPLETE
