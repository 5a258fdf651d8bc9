"""Putting a report where it was asked for."""

import shutil
import sys
from pathlib import Path
from typing import Any

import typer

from mlflow_tfexec.benchmarking.request import AUTO, one_of
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
    printed = format_.name == "console" and output == AUTO
    deliver(_for_terminal(table) if printed else format_.render(table), output=output)


def deliver(text: str, *, output: str = AUTO) -> None:
    """Print *text*, or write it to the file *output*.

    Raises:
        RequestError: the file cannot be written.
    """
    if output == AUTO:
        typer.echo(text, nl=False)
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise RequestError(f"Cannot write {output!r}: {error.strerror}.") from None


def terminal_fit() -> dict[str, Any]:
    """Say how wide the terminal is and that it takes colour, as a console report's `render` asks for it.

    Empty for a pipe or a file: that gets the default width and no colour.
    """
    return {"width": shutil.get_terminal_size().columns, "color": True} if sys.stdout.isatty() else {}


def _for_terminal(table: Table) -> str:
    from mlflow_tfexec.reports.console import render

    return render(table, **terminal_fit())
