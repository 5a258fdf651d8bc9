"""The entry points of pyproject.toml for processes of tests, whether or not the package is installed with them.

A distribution's description that comes first on the path hides later ones of the same name.
"""

import os
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10; pytest needs it there itself
    import tomli as tomllib

REPOSITORY = Path(__file__).parents[1]


def plugin_environment(directory: Path, *, is_plugged_in: bool = True) -> dict[str, str]:
    """Write a description of the package into *directory*; give the variables under which processes find it first."""
    groups = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    description = directory / "mlflow_tfexec-0.0.0.dist-info"
    description.mkdir(parents=True)
    (description / "METADATA").write_text("Metadata-Version: 2.1\nName: mlflow-tfexec\nVersion: 0.0.0\n")
    lines = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in names.items()) for group, names in groups.items()]
    (description / "entry_points.txt").write_text("\n".join(lines) if is_plugged_in else "")
    path = [str(directory), str(REPOSITORY), os.environ.get("PYTHONPATH", "")]
    return {"PYTHONPATH": os.pathsep.join(filter(None, path)), "MLFLOW_DISABLE_TELEMETRY": "true"}
