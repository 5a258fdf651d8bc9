"""The README's reference of the commands is what the commands say of themselves."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from mlflow_tfexec import errors, exports, reports
from mlflow_tfexec.cli import app
from mlflow_tfexec.cli.query_options import QueryOptions
from mlflow_tfexec.records.spec import PRESETS
from mlflow_tfexec.reports._across import across_formats

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "docs" / "reference.py"
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def reference():
    """Load the script that writes the reference."""
    spec = importlib.util.spec_from_file_location("tfexec_reference", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up by name.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def section(text, command):
    """Cut one command's part out."""
    [found] = re.findall(rf"^### `mlflow-tfexec {command}\b.*?(?=^### )", text, re.MULTILINE | re.DOTALL)
    return found


def test_the_readme_is_up_to_date(reference):
    assert reference.updated(README) == README, "Write it anew: python docs/reference.py"


def test_the_text_does_not_depend_on_the_terminal(reference, monkeypatch):
    before = reference.reference()
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setenv("TERMINAL_WIDTH", "30")
    monkeypatch.setenv("FORCE_COLOR", "1")

    assert reference.reference() == before


def test_every_option_that_typer_reads_is_there_and_no_other(reference):
    group = typer.main.get_command(app.build_app())

    for name, command in group.commands.items():
        known = {option for parameter in command.params for option in parameter.opts if option.startswith("--")}
        told = {parameter.flag for parameter in reference.parameters(command.callback) if parameter.flag}
        shown = set(re.findall(r"^\| `(--[\w-]+)`", section(reference.reference(), name), re.MULTILINE))
        query = {f"--{field.replace('_', '-')}" for field in QueryOptions.__dataclass_fields__}
        assert told == known, name
        assert shown == (known - query if name in {"report", "runs"} else known), name


def test_a_text_that_is_not_the_code_s_is_found_and_mended(reference):
    wrong = README.replace("| `--warmup` | 10 |", "| `--warmup` | 11 |")

    assert wrong != README
    assert reference.updated(wrong) == README


@pytest.mark.parametrize("marks", ["", "{end}\n{begin}", "{begin}\n{begin}\n{end}"])
def test_a_readme_without_its_marks_is_refused(reference, marks):
    with pytest.raises(ValueError, match="needs the lines"):
        reference.updated(marks.format(begin=reference.BEGIN, end=reference.END))


def test_check_says_what_to_do_and_changes_nothing(reference, tmp_path, monkeypatch, capsys):
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{reference.BEGIN}\nold\n{reference.END}\nafter\n", encoding="utf-8")
    monkeypatch.setattr(reference, "README", readme)

    assert reference.main(["--check"]) == 1
    assert capsys.readouterr().err.endswith("python docs/reference.py\n")
    assert "\nold\n" in readme.read_text(encoding="utf-8")
    assert reference.main([]) == 0
    assert reference.main(["--check"]) == 0
    text = readme.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")


def test_the_script_runs_on_its_own():
    assert subprocess.run([sys.executable, SCRIPT, "--check"], check=False).returncode == 0


def test_a_text_cannot_end_its_cell(reference):
    assert reference._markdown("a | b <c> *d*\ne") == r"a \| b &lt;c> \*d\* e"


@pytest.mark.parametrize(
    ("command", "known"),
    [
        ("report", reports.formats()),
        ("run", reports.formats()),
        ("compare", across_formats()),
        ("export", exports.formats()),
    ],
    ids=["report", "run", "compare", "export"],
)
def test_help_names_every_format(reference, command, known):
    [row] = re.findall(r"^\| `--format` .*", section(reference.reference(), command), re.MULTILINE)

    assert [name for name in known if not re.search(rf"\b{name}\b", row)] == []


def test_help_says_what_the_presets_are(reference):
    text = section(reference.reference(), "run")

    assert (
        "quick: 1 launch × 10 rounds; standard: 3 to 5 launches × 10 rounds; rigorous: 5 to 20 launches × 20 rounds."
    ) in text
    assert set(PRESETS) == {"quick", "standard", "rigorous"}


def test_every_exit_code_has_a_meaning_in_readme_and_help(reference, capsys):
    codes = {value for name, value in vars(errors).items() if name.startswith("EXIT_") and isinstance(value, int)}
    app.run(["--help"])
    shown = " ".join(capsys.readouterr().out.split())

    assert set(errors.EXIT_MEANINGS) == codes
    for code, meaning in errors.EXIT_MEANINGS.items():
        assert f"- {code}: {meaning}.\n" in reference.reference()
        assert f"{code} {meaning}" in shown
