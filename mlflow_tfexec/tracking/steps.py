"""What every run that is written goes through, whatever it holds: its experiment, its origin, its files, its page."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mlflow_tfexec.tracking import keys
from mlflow_tfexec.tracking.credentials import strip_userinfo
from mlflow_tfexec.tracking.destination import DEFAULT_EXPERIMENT_ID, Destination


def experiment_id(client: Any, destination: Destination) -> str:
    """Find the experiment; one asked for by name is created if it is not there."""
    if destination.experiment_id is not None:
        return destination.experiment_id
    if destination.experiment_name is None:
        return DEFAULT_EXPERIMENT_ID
    found = client.get_experiment_by_name(destination.experiment_name)
    if found is None:
        try:
            return str(client.create_experiment(destination.experiment_name))
        except Exception:
            # Somebody else made it in the meantime, or the answer was lost.
            found = client.get_experiment_by_name(destination.experiment_name)
            if found is None:
                raise
    return str(found.experiment_id)


def origin_tags() -> dict[str, str]:
    """Give MLflow's own tags of who ran what from where, without credentials.

    Ours of this machine are left out: a benchmark may have been measured on another one, and a report on none.
    """
    from mlflow.tracking.context.registry import resolve_tags

    tags = {key: value for key, value in resolve_tags().items() if not key.startswith(keys.PREFIX)}
    return {key: strip_userinfo(str(value)) for key, value in tags.items()}


def write_artifacts(client: Any, run_id: str, artifacts: Mapping[str, bytes]) -> None:
    """Put files (name → content) under `tfexec/` of a run."""
    with tempfile.TemporaryDirectory(prefix="mlflow-tfexec-") as directory:
        for name, data in artifacts.items():
            path = Path(directory, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        if artifacts:
            client.log_artifacts(run_id, directory, keys.ARTIFACT_DIRECTORY)


def page_url(tracking_uri: str, experiment_id: str, run_id: str) -> str | None:
    """Give the address of a run's page on the tracking server. None: there is no server, only a database."""
    if not tracking_uri.startswith(("http://", "https://")):
        return None
    return f"{tracking_uri.rstrip('/')}/#/experiments/{experiment_id}/runs/{run_id}"
