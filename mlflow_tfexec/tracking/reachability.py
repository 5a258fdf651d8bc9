"""Whether a benchmark could be written, found out without making anything."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from mlflow_tfexec.errors import TrackingError
from mlflow_tfexec.tracking.destination import resolve, unreached

_SQLITE = "sqlite:///"


class Reachability(NamedTuple):
    """What was found."""

    uri: str
    """Where to, without credentials."""
    problem: str | None = None
    """Why not, in one or two lines. None: it can be written to."""
    is_new: bool = False
    """True: a local database that is not there yet; MLflow makes it, and its directory."""


def reach(*, tracking_uri: str | None, experiment: str | None, environ: Mapping[str, str]) -> Reachability:
    """Ask the tracking server or store for the experiment or run that `run` would write to.

    A SQLite database that is not there is not opened: MLflow would make it.
    """
    wanted = unreached(tracking_uri=tracking_uri, experiment=experiment, environ=environ)
    database = _database_to_be_made(wanted.tracking_uri)
    if database is not None:
        return Reachability(wanted.tracking_uri, problem=_cannot_be_made(database), is_new=True)
    try:
        resolve(tracking_uri=tracking_uri, experiment=experiment, environ=environ)
    except TrackingError as error:
        return Reachability(wanted.tracking_uri, problem=str(error))
    return Reachability(wanted.tracking_uri)


def _database_to_be_made(uri: str) -> Path | None:
    """Return the file of a SQLite database that is not there. None: it is there, or it is something else."""
    name = uri.removeprefix(_SQLITE).partition("?")[0]
    path = Path(name)
    return None if not uri.startswith(_SQLITE) or name in {"", ":memory:"} or path.exists() else path


def _cannot_be_made(path: Path) -> str | None:
    """Say why a file cannot be made, judged by the nearest directory that exists. None: it can."""
    existing = next(parent for parent in path.absolute().parents if parent.exists())
    if existing.is_dir() and os.access(existing, os.W_OK | os.X_OK):
        return None
    return f"Cannot make the database {path}: {existing} may not be written to.\nName another with --tracking-uri."
