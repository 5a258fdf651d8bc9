"""Lines for people, beside the report: always on standard error."""

import typer


def say(line: str) -> None:
    """Write one line, with the command's name before it."""
    typer.echo(f"mlflow-tfexec: {line}", err=True)
