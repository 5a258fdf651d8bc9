"""Collect what the checks judge. Everything here looks and changes nothing."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import psutil

from mlflow_tfexec import _version
from mlflow_tfexec.diagnosis._cuda_files import find_cuda_files
from mlflow_tfexec.diagnosis._facts import Facts, Spool, Tracking
from mlflow_tfexec.diagnosis._project import describe_project
from mlflow_tfexec.diagnosis._requirements import requirements_of
from mlflow_tfexec.measurement.environment import describe_host
from mlflow_tfexec.modes import default_modes
from mlflow_tfexec.units import BYTES_PER_MB


def load_now() -> float | None:
    """Give the load of the last minute. None: the system keeps none."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def gather(environ: Mapping[str, str], *, spool: Path, tracking: Tracking, load: float | None) -> Facts:
    """Collect all but TensorFlow's own answers."""
    host = describe_host(environ)
    packages = requirements_of("mlflow-tfexec")
    candidates = [Path.cwd(), Path(_version.__file__).parents[1]]
    return Facts(
        host=host,
        cuda_files=find_cuda_files(environ),
        cuda_wheels=requirements_of("tensorflow", extra="and-cuda"),
        packages=packages,
        available_memory_mb=_available_mb(host.get("memory", {}).get("cgroup_limit_mb")),
        load=load,
        default_modes=len(default_modes()),
        tracking=tracking,
        spool=describe_spool(spool),
        project=describe_project(environ, packages, candidates),
    )


def describe_spool(directory: Path) -> Spool:
    """Say whether *directory*, or the nearest one above it that exists, can be written to, and how much fits in."""
    existing = directory.absolute()
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    problem = None
    if not existing.is_dir():
        problem = f"{existing} is no directory"
    elif not os.access(existing, os.W_OK | os.X_OK):
        problem = f"{existing} may not be written to"
    return Spool(str(directory), problem=problem, free_mb=shutil.disk_usage(existing).free // BYTES_PER_MB)


def _available_mb(limit_mb: int | None) -> int:
    available_mb = int(psutil.virtual_memory().available) // BYTES_PER_MB
    return available_mb if limit_mb is None else min(available_mb, limit_mb)
