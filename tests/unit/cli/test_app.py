"""The one place where errors become text and exit codes."""

import os
import subprocess
import sys

import pytest
import typer
from sessions import REPOSITORY

import mlflow_tfexec
from mlflow_tfexec import errors
from mlflow_tfexec.cli import app


@pytest.fixture
def outcome(monkeypatch, capsys):
    """Run the command `modes`, replaced by one that raises or returns what is given."""

    def run(result=None, *, arguments=("modes",)):
        def command():
            if isinstance(result, BaseException):
                raise result
            return result

        monkeypatch.setattr("mlflow_tfexec.cli.modes.command", command)
        code = app.run(arguments)
        return code, capsys.readouterr().err

    return run


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.TfexecError, 1),
        (errors.RequestError, 2),
        (errors.RecordingError, 2),
        (errors.TrackingError, 2),
        (errors.SpoolError, 1),
        (errors.LoggingFailed, 1),
    ],
)
def test_our_errors_are_their_text_and_their_exit_code(outcome, error, code):
    assert outcome(error("The disk is full.\nMake room.")) == (code, "mlflow-tfexec: The disk is full.\nMake room.\n")


@pytest.mark.parametrize(("result", "code"), [(None, 0), (0, 0), (1, 1), (3, 3), (130, 130)])
def test_what_a_command_returns_is_the_exit_code(outcome, result, code):
    assert outcome(result) == (code, "")


def test_an_error_that_should_not_happen_is_one_line(outcome):
    code, text = outcome(ValueError("first\n  second\n\nthird"))

    assert code == 1
    assert text == (
        "mlflow-tfexec: ValueError: first second third. "
        "This should not happen. Run again with --debug for the traceback.\n"
    )


def test_debug_lets_the_traceback_through(outcome):
    with pytest.raises(ValueError, match="first"):
        outcome(ValueError("first"), arguments=("--debug", "modes"))
    with pytest.raises(errors.RequestError):
        outcome(errors.RequestError("wrong"), arguments=("--debug", "modes"))


@pytest.mark.parametrize("interruption", [KeyboardInterrupt(), typer.Abort()])
def test_an_interruption_is_130_and_no_traceback(outcome, interruption):
    code, text = outcome(interruption)

    assert code == 130
    assert text in {"", "mlflow-tfexec: Interrupted.\n"}


def test_a_reader_who_has_gone_is_no_error(outcome):
    assert outcome(BrokenPipeError(32, "Broken pipe"))[0] == 0


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["frobnicate"], "No such command 'frobnicate'"),
        (["--frob"], "No such option"),
        (["run"], "Missing argument"),
        (["run", "ResNet50", "--frob", "1"], "No such option"),
        (["run", "ResNet50", "--seed"], "requires an argument"),
        (["run", "ResNet50", "surplus"], "unexpected extra argument"),
        (["modes", "surplus"], "unexpected extra argument"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_2(capsys, arguments, problem):
    code = app.run(arguments)

    captured = capsys.readouterr()
    assert (code, captured.out) == (2, "")
    assert captured.err.startswith("mlflow-tfexec: ")
    assert problem in captured.err
    assert captured.err.endswith("See: mlflow-tfexec --help\n")
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_help_lists_the_commands(capsys, arguments):
    assert app.run(arguments) == 0

    help_ = capsys.readouterr().out
    for command in ("run", "runs", "report", "compare", "check", "export", "sync", "attach", "pull", "modes", "doctor"):
        assert f"\n  {command} " in help_


@pytest.mark.parametrize(
    "command", ["run", "runs", "report", "compare", "check", "export", "sync", "attach", "pull", "modes", "doctor"]
)
def test_every_command_has_help_that_begins_with_what_it_does(capsys, command):
    assert app.run([command, "--help"]) == 0

    assert f"Usage: mlflow-tfexec {command}" in capsys.readouterr().out


def test_the_version_is_printed_alone(capsys):
    assert app.run(["--version"]) == 0
    assert capsys.readouterr().out == f"{mlflow_tfexec.__version__}\n"


def test_main_ends_the_process_with_the_exit_code(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["mlflow-tfexec", "frobnicate"])

    with pytest.raises(SystemExit) as caught:
        app.main()

    assert caught.value.code == 2


def python(*arguments, **options):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, cwd=REPOSITORY, timeout=60, **options
    )


def imported(code):
    """Run *code* in a fresh interpreter and say which heavy packages it imported."""
    heavy = {"tensorflow", "keras", "mlflow", "pandas", "numpy", "scipy", "matplotlib", "rich", "pydantic"}
    result = python("-c", f"import sys\n{code}\nprint(*sorted({heavy} & set(sys.modules)), file=sys.stderr)")
    assert result.returncode == 0, result.stderr
    return set(result.stderr.split())


def test_importing_the_package_imports_nothing_heavy():
    assert imported("import mlflow_tfexec") == set()


@pytest.mark.parametrize(
    "arguments",
    [["--help"], *([name, "--help"] for name in ("run", "report", "compare", "check")), ["modes"], ["frobnicate"]],
)
def test_light_commands_import_nothing_heavy(arguments):
    found = imported(
        f"from mlflow_tfexec.cli import app; sys.stderr = None; app.run({arguments}); sys.stderr = sys.__stderr__"
    )

    assert found & {"tensorflow", "keras", "mlflow", "pandas", "numpy", "scipy", "matplotlib", "rich"} == set()


def test_checking_a_request_imports_no_tensorflow():
    found = imported(
        "from mlflow_tfexec.benchmarking.request import RunOptions, build_spec\n"
        "assert build_spec(RunOptions(model='resnet50')).model == 'ResNet50'"
    )

    assert found & {"tensorflow", "keras", "mlflow", "pandas", "numpy", "rich"} == set()


def test_judging_a_recording_imports_neither_tensorflow_nor_mlflow():
    path = REPOSITORY / "tests" / "golden" / "recordings" / "v1"

    found = imported(f"import mlflow_tfexec; mlflow_tfexec.judge(mlflow_tfexec.load_recording({str(path)!r}))")

    assert found & {"tensorflow", "keras", "mlflow", "pandas", "matplotlib", "rich"} == set()


def test_the_module_runs_as_the_command():
    result = python("-m", "mlflow_tfexec", "modes")

    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines()[0].split(maxsplit=1) == ["eager", "model(x, training=False)"]


def test_output_into_a_closed_pipe_is_silent():
    read, write = os.pipe()
    os.close(read)
    try:
        result = subprocess.run(
            [sys.executable, "-m", "mlflow_tfexec", "modes"],
            stdout=write,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            cwd=REPOSITORY,
            timeout=60,
        )
    finally:
        os.close(write)

    assert (result.returncode, result.stderr) == (0, "")


def test_public_names_are_listed_and_found():
    for name in mlflow_tfexec.__all__:
        assert getattr(mlflow_tfexec, name).__module__.startswith("mlflow_tfexec.")
    assert set(mlflow_tfexec.__all__) < set(dir(mlflow_tfexec))
    with pytest.raises(AttributeError, match="module 'mlflow_tfexec' has no attribute 'benchmrk'"):
        mlflow_tfexec.benchmrk  # noqa: B018 - looking it up is the test
