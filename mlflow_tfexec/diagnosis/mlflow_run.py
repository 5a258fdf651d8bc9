"""Which line starts a benchmark here?"""

import shlex
from collections.abc import Iterator

from mlflow_tfexec.diagnosis._check import Check, Result
from mlflow_tfexec.diagnosis._facts import EnvironmentManager, Facts, Project

_MODEL = "EfficientNetV2S"
_PREFERENCE = ("local", "conda", "uv", "virtualenv")
"""What is here already goes first; the others build an environment and download TensorFlow into it."""


def start_line(project: Project) -> str | None:
    """Write the line to type. None: `mlflow run` works in no way here."""
    if project.directory is None:
        return f"mlflow-tfexec run {_MODEL}"
    manager = _best(project)
    if manager is None:
        return None
    where = "." if project.is_here else shlex.quote(project.directory)
    path = f"PATH={shlex.quote(project.path_entry)}:$PATH " if project.path_entry else ""
    # MLproject names a conda environment, so that conda needs no option.
    option = "" if manager.name == "conda" else f" --env-manager {manager.name}"
    return f"{path}mlflow run {where}{option} -P model={_MODEL}"


def judge(facts: Facts) -> Iterator[Result]:
    """Say which of MLflow's environment managers work, and the line for the best of them."""
    project = facts.project
    line = start_line(project)
    if project.directory is None:
        yield Result(
            "ok", "Installed without a clone, so that there is no project for `mlflow run`", do=f"Start with: {line}"
        )
        return
    found = "; ".join(map(_describe, project.managers))
    if line is None:
        yield Result(
            "problem",
            f"`mlflow run` has no environment to run in: {found}",
            do="Install what `local` lacks into this environment, or install uv: pip install uv",
        )
    else:
        yield Result("ok", f"Environments for `mlflow run`: {found}", do=f"Start with: {line}")


def _best(project: Project) -> EnvironmentManager | None:
    usable = {manager.name: manager for manager in project.managers if manager.problem is None}
    return next((usable[name] for name in _PREFERENCE if name in usable), None)


def _describe(manager: EnvironmentManager) -> str:
    if manager.problem is None:
        return f"{manager.name} works ({manager.found})" if manager.found else f"{manager.name} works"
    return f"{manager.name} does not ({manager.problem})"


CHECK = Check(name="mlflow_run", group="Start", position=61, judge=judge)
