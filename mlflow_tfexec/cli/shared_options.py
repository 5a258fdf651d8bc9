"""Options that several commands take alike, each written once."""

from typing import Annotated

import typer

FormatOption = Annotated[str, typer.Option("--format", help="console, markdown, html, json or csv.")]
OutputOption = Annotated[str, typer.Option("--output", help="File to write to; auto prints.")]
LogOption = Annotated[
    bool,
    typer.Option("--log", help="Keep it in MLflow, too: in the run of MLFLOW_RUN_ID, otherwise in a new one."),
]
ModesOption = Annotated[
    list[str] | None, typer.Option("--mode", help="Only this mode; may be given several times. Otherwise all ranked.")
]
RelativeToOption = Annotated[
    str,
    typer.Option("--relative-to", help="Divide by the time of this mode in the same round first; auto: do not."),
]
RunIdsUriOption = Annotated[
    str, typer.Option("--tracking-uri", help="Where run ids are looked up; auto: MLflow's own setting.")
]
StoreUriOption = Annotated[str, typer.Option("--tracking-uri", help="MLflow store; auto: MLflow's own setting.")]
PrefixOption = Annotated[str, typer.Option("--prefix", help="What the names of tags and metrics begin with.")]
