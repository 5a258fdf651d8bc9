"""`mlflow-tfexec modes`: what can be measured."""

import typer


def command() -> None:
    """List the modes and what each calls."""
    from mlflow_tfexec.modes import all_modes

    width = max(len(mode) for mode in all_modes())
    for mode in all_modes().values():
        typer.echo(f"{mode.id:<{width}}  {mode.title}{'' if mode.default else '  (on request)'}")
