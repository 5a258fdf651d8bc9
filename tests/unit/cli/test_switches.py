"""Switches that take a value, for projects, and none, for people."""

import sys

import pytest

from mlflow_tfexec.cli import app

SWITCHES = ("include-transfer", "safe-mode", "float64-reference")


@pytest.fixture
def asked(monkeypatch):
    """Run the command up to its options, and return them."""

    def ask(*arguments):
        found = []
        monkeypatch.setattr("mlflow_tfexec.cli.sizes.build_specs", lambda options: found.append(options) or sys.exit())
        app.run(["run", *arguments])
        return found[0]

    return ask


@pytest.mark.parametrize("switch", SWITCHES)
@pytest.mark.parametrize(
    ("given", "is_on"),
    [
        (["--{}"], True),
        (["--no-{}"], False),
        (["--{}", "true"], True),
        (["--{}", "false"], False),
        (["--{}", "False"], False),
        (["--{}", "true", "--{}", "false"], False),
        (["--{}", "false", "--{}"], True),
    ],
)
def test_a_switch_is_on_or_off_as_it_is_last_said(asked, switch, given, is_on):
    options = asked("ResNet50", *(part.format(switch) for part in given), "--seed", "5")

    assert getattr(options, switch.replace("-", "_")) is is_on
    assert (options.model, options.seed) == ("ResNet50", "5")


@pytest.mark.parametrize("switch", SWITCHES)
def test_a_model_may_stand_behind_a_switch(asked, switch):
    options = asked(f"--{switch}", "ResNet50")

    assert (options.model, getattr(options, switch.replace("-", "_"))) == ("ResNet50", True)


def test_a_switch_takes_no_other_value(capsys):
    assert app.run(["run", "ResNet50", "--include-transfer", "maybe"]) == 2
    assert "maybe" in capsys.readouterr().err


def test_a_value_of_another_option_is_not_taken_for_that_of_a_switch(asked):
    assert asked("--device", "true", "ResNet50").device == "true"
