"""Whether a benchmark could be written, found out without making anything."""

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
    """True: a local database that is not there yet, in a directory that is."""


def reach(*, tracking_uri: str | None, experiment: str | None, environ: Mapping[str, str]) -> Reachability:
    """Ask the tracking server or store for the experiment or run that `run` would write to.

    A SQLite database that is not there is not opened: MLflow would make it.
    """
    wanted = unreached(tracking_uri=tracking_uri, experiment=experiment, environ=environ)
    path = Path(wanted.tracking_uri.removeprefix(_SQLITE))
    if wanted.tracking_uri.startswith(_SQLITE) and path.name and not path.exists() and path.parent.is_dir():
        return Reachability(wanted.tracking_uri, is_new=True)
    try:
        resolve(tracking_uri=tracking_uri, experiment=experiment, environ=environ)
    except TrackingError as error:
        return Reachability(wanted.tracking_uri, problem=str(error))
    return Reachability(wanted.tracking_uri)
