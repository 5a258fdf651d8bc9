"""`mlflow-tfexec pull`: what was attached to a run or model, as JSON."""

import json
from typing import Annotated

import typer

from mlflow_tfexec.benchmarking.request import AUTO, unless_auto
from mlflow_tfexec.cli.shared_options import OutputOption, PrefixOption, StoreUriOption
from mlflow_tfexec.errors import EXIT_DONE
from mlflow_tfexec.tracking.keys import ATTACH_PREFIX


def command(
    target: Annotated[
        str,
        typer.Argument(
            help="A run id (a benchmark's own, too), models:/m-…, models:/name/version or models:/name@alias."
        ),
    ],
    output: OutputOption = AUTO,
    prefix: PrefixOption = ATTACH_PREFIX,
    tracking_uri: StoreUriOption = AUTO,
) -> int:
    """Print as JSON which benchmark is attached to a run or model, and what it says."""
    from mlflow_tfexec.benchmarking.attaching import pull_document
    from mlflow_tfexec.cli.output import deliver

    content = pull_document(target, prefix=prefix, tracking_uri=unless_auto(tracking_uri))
    # ASCII, so that it survives any terminal and any pipe.
    deliver(json.dumps(content, indent=2, allow_nan=False) + "\n", output=output)
    return EXIT_DONE
