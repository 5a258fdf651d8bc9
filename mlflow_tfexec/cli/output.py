"""Putting a report where it was asked for."""

import shutil
import sys
from pathlib import Path

import typer

from mlflow_tfexec.cli.request import AUTO, one_of
from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.reports import Format, Table, formats


def find_format(name: str) -> Format:
    """Return the format of this name. Raises RequestError for one that is not there."""
    return formats()[one_of("format", name, tuple(formats()))]


def emit(table: Table, format_: Format, *, output: str = AUTO) -> None:
    """Print a report, or write it to the file *output*.

    Raises:
        RequestError: the file cannot be written.
    """
    if output != AUTO:
        try:
            Path(output).write_text(format_.render(table), encoding="utf-8")
        except OSError as error:
            raise RequestError(f"Cannot write {output!r}: {error.strerror}.") from None
        return
    typer.echo(_for_terminal(table) if format_.name == "console" else format_.render(table), nl=False)


def _for_terminal(table: Table) -> str:
    """Fit the console report to the terminal; a pipe gets the default width and no colour."""
    from mlflow_tfexec.reports.console import render

    if not sys.stdout.isatty():
        return render(table)
    return render(table, width=shutil.get_terminal_size().columns, color=True)
