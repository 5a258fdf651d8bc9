"""The README says what the code does. What it says of commands and options is in test_reference.py."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from mlflow_tfexec.metrics import all_metrics
from mlflow_tfexec.modes import all_modes

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("mode", all_modes().values(), ids=lambda mode: mode.id)
def test_every_mode_is_listed(mode):
    assert f"| `{mode.id}` |" in README


@pytest.mark.parametrize("metric", all_metrics(), ids=lambda metric: metric.name)
def test_every_metric_is_listed(metric):
    assert f"`{metric.name}/" in README


def test_every_file_that_the_readme_links_to_is_there():
    links = re.findall(r"\]\((?!http)([^)]+)\)", README)

    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_example_in_the_readme_runs(tmp_path):
    from recordings import make_recording, write_recording

    [code] = [block for block in re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL) if "judge(" in block]
    write_recording(make_recording(), tmp_path)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.stderr == ""
    assert "eager" in done.stdout
