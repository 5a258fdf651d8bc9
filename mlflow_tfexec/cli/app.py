"""The command `mlflow-tfexec`, and the one place where errors become text and exit codes."""

import importlib
import sys
from collections.abc import Sequence

import typer

from mlflow_tfexec._version import __version__
from mlflow_tfexec.cli.switches import SwitchCommand
from mlflow_tfexec.errors import (
    EXIT_BAD_REQUEST,
    EXIT_DONE,
    EXIT_INCOMPLETE,
    EXIT_INTERRUPTED,
    EXIT_MEANINGS,
    TfexecError,
)

# Each command is a module of the same name with a function `command`; its heavy imports are inside the function.
_COMMANDS = ("run", "runs", "report", "compare", "check", "export", "sync", "attach", "pull", "modes", "doctor")


def _version(value: bool) -> None:
    if value:
        typer.echo(__version__)
        raise typer.Exit


def _callback(
    *,
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
    debug: bool = typer.Option(False, "--debug", help="Show the traceback of an error."),
) -> None:
    """Which way of executing a Keras or TensorFlow model is fastest here, by how much, and how sure is that."""


def build_app() -> typer.Typer:
    """Put the commands together."""
    # No markup: plain help needs no rich, and starts in a fifth of the time.
    app = typer.Typer(
        name="mlflow-tfexec",
        callback=_callback,
        epilog=f"Exit codes: {'; '.join(f'{code} {meaning}' for code, meaning in EXIT_MEANINGS.items())}.",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
    )
    for name in _COMMANDS:
        app.command(name, cls=SwitchCommand)(importlib.import_module(f"mlflow_tfexec.cli.{name}").command)
    return app


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and end the process with its exit code."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code; every error is one or two lines on standard error."""
    try:
        result = build_app()(args=list(arguments) or ["--help"], prog_name="mlflow-tfexec", standalone_mode=False)
    except Exception as error:
        if "--debug" in arguments:
            raise
        return _explain(error)
    except KeyboardInterrupt:
        _say("Interrupted.")
        return EXIT_INTERRUPTED
    except SystemExit:
        # The reader of our output has gone, as `| head` does, and typer ends the process: there is nobody to tell.
        return EXIT_DONE
    return result if isinstance(result, int) else EXIT_DONE


def _explain(error: Exception) -> int:
    """Turn an error into its text and exit code."""
    if isinstance(error, TfexecError):
        _say(str(error))
        return error.exit_code
    if isinstance(error, _usage_error()):
        message = " ".join((error.format_message() if hasattr(error, "format_message") else str(error)).split())
        _say(message if message.endswith(".") else f"{message}.", "See: mlflow-tfexec --help")
        return EXIT_BAD_REQUEST
    if isinstance(error, typer.Abort):
        _say("Interrupted.")
        return EXIT_INTERRUPTED
    text = " ".join(f"{type(error).__name__}: {error}".split())
    _say(
        text if text.endswith(".") else f"{text}.", "This should not happen. Run again with --debug for the traceback."
    )
    return EXIT_INCOMPLETE


def _usage_error() -> type[Exception]:
    """Return the class of wrong command lines: Click's, which some versions of typer carry as their own."""
    return next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")


def _say(*lines: str) -> None:
    # What was typed is repeated here, and it may hold a password.
    from mlflow_tfexec.measurement.variables import mask

    typer.echo(f"mlflow-tfexec: {mask(' '.join(lines))}", err=True)
