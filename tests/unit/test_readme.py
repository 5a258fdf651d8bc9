"""The README says what the code does."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mlflow_tfexec.cli import check, compare, report, run, runs
from mlflow_tfexec.metrics import all_metrics
from mlflow_tfexec.modes import all_modes
from mlflow_tfexec.records.spec import PRESETS
from mlflow_tfexec.reports import formats

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def options(command):
    names = [name for name in inspect.signature(command).parameters if not name.startswith("reference")]
    # `report_format` is typed as --format, and `filter_` as --filter.
    return [f"--{re.sub('^.*_format$', 'format', name).rstrip('_').replace('_', '-')}" for name in names]


@pytest.mark.parametrize(
    "module", [run, runs, report, compare, check], ids=lambda module: module.__name__.rpartition(".")[2]
)
def test_every_option_is_explained(module):
    # The model of `run` is an argument.
    known = [option for option in options(module.command) if module is not run or option != "--model"]
    missing = [option for option in known if not re.search(rf"`{option}`|`{option} ", README)]

    assert missing == []


@pytest.mark.parametrize("mode", all_modes().values(), ids=lambda mode: mode.id)
def test_every_mode_is_listed(mode):
    assert f"| `{mode.id}` |" in README


@pytest.mark.parametrize("metric", all_metrics(), ids=lambda metric: metric.name)
def test_every_metric_is_listed(metric):
    assert f"`{metric.name}/" in README


@pytest.mark.parametrize("name", formats())
def test_every_format_is_named(name):
    assert f"`{name}`" in README or f"| {name} |" in README


@pytest.mark.parametrize(("name", "preset"), PRESETS.items())
def test_presets_are_what_the_readme_says(name, preset):
    launches = " to ".join(map(str, dict.fromkeys((preset.looks[0], preset.looks[-1]))))
    assert re.search(rf"`{name}`: {launches}( launch)? × {preset.rounds}\b", README)


def test_every_file_that_the_readme_links_to_is_there():
    links = re.findall(r"\]\((?!http)([^)]+)\)", README)

    assert [link for link in links if not (ROOT / link).exists()] == []


def test_defaults_are_what_the_readme_says():
    signature = inspect.signature(run.command)
    for option, value in re.findall(r"^\| `--([a-z-]+)` \| ([\w.]+) \|", README, flags=re.MULTILINE):
        name = {"format": "report_format"}.get(option, option.replace("-", "_"))

        assert str(signature.parameters[name].default) == value, option


def test_the_example_in_the_readme_runs(tmp_path):
    from recordings import make_recording, write_recording

    [code] = [block for block in re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL) if "judge(" in block]
    write_recording(make_recording(), tmp_path)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.stderr == ""
    assert "eager" in done.stdout
