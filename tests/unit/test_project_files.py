"""MLproject, conda.yaml and pyproject.toml agree with one another and with the command line."""

import dataclasses
import inspect
import re
import shlex
import sys
from pathlib import Path

import pytest
import yaml

from mlflow_tfexec.benchmarking.request import RunOptions
from mlflow_tfexec.cli import app, compare, report, run

ROOT = Path(__file__).parents[2]
PROJECT = yaml.safe_load((ROOT / "MLproject").read_text(encoding="utf-8"))
CONDA = yaml.safe_load((ROOT / "conda.yaml").read_text(encoding="utf-8"))

# MLflow itself says where a project's run goes, and a project's run is there to be logged. What remains says how the
# command ends and what it shows of an error, and nothing of what is measured.
NOT_OF_A_PROJECT = {"experiment", "tracking_uri", "offline", "dry_run", "strict", "debug"}


def options(command):
    """Return the options of a command by name, `report_format` as the `format` that it is typed as."""
    parameters = inspect.signature(command).parameters
    return {name.replace("report_format", "format"): parameter.default for name, parameter in parameters.items()}


def test_the_parameters_of_the_project_are_the_options_of_run():
    parameters = PROJECT["entry_points"]["main"]["parameters"]

    assert set(parameters) == set(options(run.command)) - NOT_OF_A_PROJECT


def test_the_defaults_of_the_project_are_those_of_run():
    parameters = PROJECT["entry_points"]["main"]["parameters"]
    defaults = options(run.command)

    for name, parameter in parameters.items():
        assert parameter["type"] == "string"
        if name != "model":
            # A switch has a word for its default.
            assert parameter["default"] in {defaults[name], str(defaults[name]).lower()}, name
    assert parameters["model"]["default"] == "EfficientNetV2S"


def test_every_field_of_the_options_is_an_option_of_run():
    assert set(RunOptions.__dataclass_fields__) <= set(options(run.command))


def test_every_field_of_the_options_is_a_parameter_of_the_project():
    assert set(RunOptions.__dataclass_fields__) <= set(PROJECT["entry_points"]["main"]["parameters"])


def asked(monkeypatch, **parameters):
    """Run the command of the project with these parameters, up to the options that it asks for."""
    found = []
    monkeypatch.setattr("mlflow_tfexec.cli.sizes.build_specs", lambda options: found.append(options) or sys.exit())
    point = PROJECT["entry_points"]["main"]
    values = {name: parameter["default"] for name, parameter in point["parameters"].items()} | parameters
    app.run(shlex.split(point["command"].format(**values))[3:])
    return found[0]


def test_the_project_without_parameters_asks_for_what_run_asks_for(monkeypatch):
    assert asked(monkeypatch) == RunOptions(model="EfficientNetV2S")


@pytest.mark.parametrize("name", sorted(RunOptions.__dataclass_fields__))
def test_a_parameter_of_the_project_reaches_the_option_of_its_name(monkeypatch, name):
    default = getattr(RunOptions(model="EfficientNetV2S"), name)
    value = not default if isinstance(default, bool) else "something_else"

    options = asked(monkeypatch, **{name: str(value).lower()})

    assert options == dataclasses.replace(RunOptions(model="EfficientNetV2S"), **{name: value})


def test_the_parameters_of_report_are_the_options_of_report():
    parameters = PROJECT["entry_points"]["report"]["parameters"]
    # The project's own store, and always its own run.
    defaults = {
        name: default for name, default in options(report.command).items() if name not in {"tracking_uri", "log"}
    }
    defaults["run"] = defaults.pop("references")

    # What may be given several times has no text for its absence, and a parameter of a project needs one.
    assert {name: parameter["default"] for name, parameter in parameters.items()} == {
        name: default or "auto" for name, default in defaults.items()
    }


def test_the_parameters_of_compare_are_options_of_compare():
    parameters = dict(PROJECT["entry_points"]["compare"]["parameters"])
    defaults = options(compare.command)

    assert "default" not in parameters.pop("old")
    assert "default" not in parameters.pop("new")
    assert {name: parameter["default"] for name, parameter in parameters.items()} == {
        name: defaults[name] for name in parameters
    }


@pytest.mark.parametrize("entry_point", ["report", "compare"])
def test_a_report_of_the_project_is_logged_to_its_run(entry_point):
    assert PROJECT["entry_points"][entry_point]["command"].endswith(" --log")


@pytest.mark.parametrize("entry_point", PROJECT["entry_points"])
def test_a_command_is_one_line_that_every_shell_reads_alike(entry_point):
    command = PROJECT["entry_points"][entry_point]["command"]

    assert len(command.splitlines()) == 1
    assert not set("'\\\"$`;|&<>%") & set(command)


@pytest.mark.parametrize("entry_point", PROJECT["entry_points"])
def test_a_command_uses_every_parameter_once_and_no_other(entry_point):
    point = PROJECT["entry_points"][entry_point]

    assert sorted(re.findall(r"{(\w+)}", point["command"])) == sorted(point["parameters"])


@pytest.mark.parametrize("entry_point", PROJECT["entry_points"])
def test_each_parameter_stands_behind_the_option_of_its_name(entry_point):
    command = PROJECT["entry_points"][entry_point]["command"]

    for option, parameter in re.findall(r"--([\w-]+) {(\w+)}", command):
        assert option.replace("-", "_") == parameter


def pip_requirements():
    return next(item["pip"] for item in CONDA["dependencies"] if isinstance(item, dict))


def project_requirements():
    """Read the dependencies; tomllib is not in Python 3.10."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    block = re.search(r"^dependencies = \[\n(.*?)^\]", text, re.MULTILINE | re.DOTALL)[1]
    return re.findall(r'^\s*"([^"]+)"', block, re.MULTILINE)


def test_conda_gives_python_and_pip_and_leaves_the_rest_to_pip():
    conda_packages = [item for item in CONDA["dependencies"] if isinstance(item, str)]

    assert [re.match(r"\w+", package)[0] for package in conda_packages] == ["python", "pip"]


def test_conda_s_python_is_one_that_the_package_supports():
    version = next(item for item in CONDA["dependencies"] if str(item).startswith("python="))

    assert version in {"python=3.10", "python=3.11", "python=3.12", "python=3.13"}
    assert 'requires-python = ">=3.10,<3.14"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_conda_asks_for_the_same_ranges_as_the_package():
    asked = [requirement for requirement in pip_requirements() if not requirement.startswith("tensorflow")]

    assert sorted(asked) == sorted(r for r in project_requirements() if not r.startswith("tensorflow"))


def test_conda_brings_cuda_where_its_wheels_exist_and_plain_tensorflow_elsewhere():
    tensorflow = next(r for r in project_requirements() if r.startswith("tensorflow"))
    version = tensorflow.removeprefix("tensorflow")

    assert [requirement for requirement in pip_requirements() if requirement.startswith("tensorflow")] == [
        f"tensorflow[and-cuda]{version}; platform_system == 'Linux' and platform_machine == 'x86_64'",
        f"tensorflow{version}; platform_system != 'Linux' or platform_machine != 'x86_64'",
    ]
