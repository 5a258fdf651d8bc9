"""How `mlflow run` can be called here, each of MLflow's environment managers tried as MLflow would use it.

Source: mlflow/projects/backend/local.py (local: the `python` of a fresh shell), mlflow/utils/conda.py (which conda),
mlflow/utils/virtualenv.py (pyenv, uv).
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from mlflow_tfexec.diagnosis._facts import EnvironmentManager, Project, Requirements

_PATIENCE_S = 20.0
_PYTHON = re.compile(r"^\s*-\s*python\s*=+\s*([\d.]+)\s*$", re.MULTILINE)
_WHOSE_PYTHON = "import sys, mlflow_tfexec; print(sys.prefix)"


def describe_project(environ: Mapping[str, str], packages: Requirements, candidates: Sequence[Path]) -> Project:
    """Find the project among *candidates* and try every environment manager."""
    directory = next((path for path in candidates if _is_ours(path)), None)
    if directory is None:
        return Project()
    is_here = directory.resolve() == Path.cwd().resolve()
    bash = os.name != "posix" or shutil.which("bash", path=environ.get("PATH")) is not None
    path_entry, command_problem = _command(environ, directory)
    general = command_problem or (None if bash else "MLflow runs projects in bash, which is not there")
    managers: tuple[EnvironmentManager, ...] = (
        _local(environ, directory, packages, path_entry),
        _conda(environ),
        _uv(environ, directory, path_entry),
        _virtualenv(environ),
    )
    if general is not None:
        managers = tuple(EnvironmentManager(one.name, problem=general) for one in managers)
    return Project(str(directory), is_here=is_here, managers=managers, path_entry=path_entry)


def _is_ours(directory: Path) -> bool:
    try:
        text = (directory / "MLproject").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return re.search(r"^name:\s*mlflow-tfexec\s*$", text, re.MULTILINE) is not None


def _command(environ: Mapping[str, str], directory: Path) -> tuple[str | None, str | None]:
    """Find out whether `mlflow` and `python` in PATH are this environment's.

    Returns:
        (directory to put first in PATH, None when nothing needs to; what is missing, None when nothing is).
    """
    own = Path(sys.executable).parent
    if shutil.which("mlflow", path=str(own)) is None:
        found = shutil.which("mlflow", path=environ.get("PATH"))
        return None, None if found else "the command mlflow is not there"
    first = shutil.which("mlflow", path=environ.get("PATH"))
    if first and Path(first).parent == own and _prefix_of_python(environ, directory) == sys.prefix:
        return None, None
    return str(own), None


def _local(
    environ: Mapping[str, str], directory: Path, packages: Requirements, path_entry: str | None
) -> EnvironmentManager:
    prefix = _prefix_of_python(_with_path(environ, path_entry), directory)
    if prefix is None:
        return EnvironmentManager("local", problem="no `python` in PATH that can import mlflow_tfexec")
    if prefix != sys.prefix:
        return EnvironmentManager("local", problem=f"`python` in PATH is another environment's, {prefix}")
    if packages.unmet:
        return EnvironmentManager("local", problem=f"lacks {', '.join(packages.unmet)}")
    found = f"this environment has all {packages.met} packages" if packages.version else "this environment"
    return EnvironmentManager("local", found=found)


def _conda(environ: Mapping[str, str]) -> EnvironmentManager:
    if environ.get("MLFLOW_CONDA_HOME"):
        executable = str(Path(environ["MLFLOW_CONDA_HOME"]) / "bin" / "conda")
    elif environ.get("CONDA_EXE"):
        executable = str(Path(environ["CONDA_EXE"]).parent / "conda")
    else:
        executable = "conda"
    version = _output([executable, "--version"], environ)
    if version is None:
        return EnvironmentManager("conda", problem="conda not found")
    return EnvironmentManager("conda", found=version)


def _uv(environ: Mapping[str, str], directory: Path, path_entry: str | None) -> EnvironmentManager:
    environ = _with_path(environ, path_entry)
    version = _output(["uv", "--version"], environ)
    if version is None:
        return EnvironmentManager("uv", problem="uv not found")
    python = _python_of_conda_file(directory)
    name = " ".join(version.split()[:2])
    if python is None or _output(["uv", "python", "find", python], environ) is None:
        return EnvironmentManager("uv", problem=f"{name} finds no Python {python} here and would download one")
    return EnvironmentManager("uv", found=f"{name}, Python {python}")


def _virtualenv(environ: Mapping[str, str]) -> EnvironmentManager:
    version = _output(["pyenv", "--version"], environ)
    if version is None:
        return EnvironmentManager("virtualenv", problem="pyenv not found")
    return EnvironmentManager("virtualenv", found=version)


def _python_of_conda_file(directory: Path) -> str | None:
    try:
        found = _PYTHON.search((directory / "conda.yaml").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None
    return found[1] if found else None


def _prefix_of_python(environ: Mapping[str, str], directory: Path) -> str | None:
    """Ask the `python` that a shell would find where it lives. None: there is none that can import this package."""
    answer = _output(["python", "-c", _WHOSE_PYTHON], environ, directory)
    return answer.splitlines()[-1] if answer else None


def _output(command: list[str], environ: Mapping[str, str], directory: Path | None = None) -> str | None:
    """Run a short command found through *environ*'s PATH. None: it is not there, fails, or takes too long."""
    executable = shutil.which(command[0], path=environ.get("PATH"))
    if executable is None:
        return None
    try:
        done = subprocess.run(
            [executable, *command[1:]],
            cwd=directory,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None


def _with_path(environ: Mapping[str, str], entry: str | None) -> Mapping[str, str]:
    return environ if entry is None else {**environ, "PATH": os.pathsep.join(_path_parts(entry, environ))}


def _path_parts(entry: str, environ: Mapping[str, str]) -> Iterator[str]:
    yield entry
    if environ.get("PATH"):
        yield environ["PATH"]
