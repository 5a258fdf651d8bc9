"""Where a benchmark or a report will be written, settled before anything is measured."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from mlflow_tfexec.errors import TrackingError
from mlflow_tfexec.tracking import keys
from mlflow_tfexec.tracking.connection import MEASURING, REACHING, Purpose, connect, is_absent, quiet, reached
from mlflow_tfexec.tracking.credentials import without_credentials

DEFAULT_EXPERIMENT_ID = "0"


class Destination(BaseModel):
    """Where a benchmark or a report is to be written. Its JSON and its repr hold no credentials."""

    model_config = ConfigDict(frozen=True)

    tracking_uri: str
    experiment_id: str | None = None
    """None: by name, or MLflow's default experiment."""
    experiment_name: str | None = None
    """Asked for by name; created when the benchmark is written, if it is not there."""
    run_id: str | None = None
    """The run to resume, as set by `mlflow run`. None: a run is opened."""
    parent_run_id: str | None = None
    """The active run of the calling program, of which the run that is opened becomes a child. None: there was none."""
    access_uri: str | None = Field(default=None, exclude=True, repr=False)
    """The tracking URI as given, with its credentials. Lives in memory only."""

    @field_validator("tracking_uri")
    @classmethod
    def _strip(cls, value: str) -> str:
        return without_credentials(value)

    def to_json(self) -> dict[str, Any]:
        """Give the JSON form, without credentials."""
        return self.model_dump(mode="json", exclude_none=True)

    @classmethod
    def from_json(cls, data: Any) -> "Destination":
        """Read what `to_json` gave. Raises TrackingError if it is something else."""
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise TrackingError(f"This is no destination of a benchmark: {error.errors()[0]['msg']}.") from None

    def reachable_uri(self, environ: Mapping[str, str]) -> str:
        """Give the URI to connect with: the one with credentials where this process knows it."""
        if self.access_uri is not None:
            return self.access_uri
        given = environ.get("MLFLOW_TRACKING_URI", "")
        return given if given and without_credentials(given) == self.tracking_uri else self.tracking_uri


def settle(
    *, tracking_uri: str | None, experiment: str | None, environ: Mapping[str, str], is_reached: bool = True
) -> Destination:
    """Settle where a benchmark of a Python program goes.

    That is beneath its active run, if there is one and no other place is asked for; otherwise as for `run`.

    Args:
        tracking_uri: MLflow store. None: as MLflow is set.
        experiment: by name. None: as MLflow is set.
        environ: the environment.
        is_reached: False contacts nothing.

    Raises:
        TrackingError: as `resolve`.
    """
    active = beneath_active_run() if experiment is None and tracking_uri is None else None
    wanted = active or unreached(tracking_uri=tracking_uri, experiment=experiment, environ=environ)
    return reach(wanted, environ) if is_reached else wanted


def beneath_active_run() -> Destination | None:
    """Settle the destination of a benchmark inside the calling program's active run. None: no run is active.

    The run itself is neither changed nor ended.
    """
    fluent = sys.modules.get("mlflow")
    active = fluent.active_run() if fluent is not None else None
    if active is None:
        return None
    uri = _absolute(_default_uri())
    return Destination(
        tracking_uri=uri,
        access_uri=uri,
        experiment_id=str(active.info.experiment_id),
        parent_run_id=str(active.info.run_id),
    )


def unreached(*, tracking_uri: str | None, experiment: str | None, environ: Mapping[str, str]) -> Destination:
    """Settle the destination from options and environment alone, contacting nothing.

    The run of MLFLOW_RUN_ID goes before any experiment. Alone: *experiment* (a name), else MLFLOW_EXPERIMENT_NAME,
    else MLFLOW_EXPERIMENT_ID, else MLflow's default experiment.
    """
    uri = _absolute(tracking_uri or environ.get("MLFLOW_TRACKING_URI") or _default_uri())
    place: dict[str, str | None] = {}
    if environ.get("MLFLOW_RUN_ID"):
        place = {"run_id": environ["MLFLOW_RUN_ID"]}
    elif experiment or environ.get("MLFLOW_EXPERIMENT_NAME"):
        place = {"experiment_name": experiment or environ["MLFLOW_EXPERIMENT_NAME"]}
    else:
        place = {"experiment_id": environ.get("MLFLOW_EXPERIMENT_ID") or DEFAULT_EXPERIMENT_ID}
    return Destination(tracking_uri=uri, access_uri=uri, **place)


def resolve(
    *,
    tracking_uri: str | None,
    experiment: str | None,
    environ: Mapping[str, str],
    purpose: Purpose = MEASURING,
) -> Destination:
    """Settle the destination and make sure, before any work, that it can be written to.

    Nothing is created, save the tables of a new SQLite database, which MLflow makes on opening it.

    Raises:
        TrackingError: the server does not answer (within about ten seconds, unless MLFLOW_HTTP_REQUEST_* say
            otherwise), refuses the credentials, or does not have the run or experiment asked for.
    """
    return reach(unreached(tracking_uri=tracking_uri, experiment=experiment, environ=environ), environ, purpose=purpose)


def reach(wanted: Destination, environ: Mapping[str, str], *, purpose: Purpose = MEASURING) -> Destination:
    """Make sure that a destination can be written to, and fill in what the store knows of it.

    Raises:
        TrackingError: as `resolve`.
    """
    uri = wanted.reachable_uri(environ)
    with quiet(REACHING, uri), reached(uri, purpose):
        client = connect(uri)
        if wanted.run_id is not None:
            return wanted.model_copy(update={"experiment_id": _experiment_of_run(client, wanted.run_id)})
        return wanted.model_copy(update=_existing_experiment(client, wanted))


def _experiment_of_run(client: Any, run_id: str) -> str:
    """Find the experiment of the run to resume, and make sure that the run can be resumed."""
    try:
        run = client.get_run(run_id)
    except Exception as error:
        if is_absent(error):
            raise TrackingError(_no_run(run_id, "does not exist")) from None
        raise
    if run.info.lifecycle_stage == "deleted":
        raise TrackingError(_no_run(run_id, "is deleted"))
    held = holding(run.data.tags)
    if held is not None:
        raise TrackingError(
            f"Run {run_id!r} (MLFLOW_RUN_ID) already holds {held}. "
            "Unset MLFLOW_RUN_ID to give this one a run of its own."
        )
    return str(run.info.experiment_id)


def holding(tags: Mapping[str, str]) -> str | None:
    """Say what of ours a run with these tags holds, in words. None: nothing."""
    if keys.BENCHMARK_ID in tags:
        # A run that a benchmark was attached to has its id, and is of no kind.
        what = "benchmark" if keys.KIND in tags else "the attached values of benchmark"
        return f"{what} {tags[keys.BENCHMARK_ID]}"
    return "a report" if tags.get(keys.KIND) == keys.KIND_REPORT else None


def _no_run(run_id: str, what: str) -> str:
    return (
        f"Run {run_id!r} (MLFLOW_RUN_ID) {what} in this tracking store. "
        "Unset MLFLOW_RUN_ID, or set MLFLOW_TRACKING_URI."
    )


def _existing_experiment(client: Any, wanted: Destination) -> dict[str, str]:
    """Find the experiment asked for. One named that is missing is made later, when there is something to write."""
    try:
        if wanted.experiment_name is not None:
            experiment = client.get_experiment_by_name(wanted.experiment_name)
        else:
            experiment = client.get_experiment(wanted.experiment_id)
    except Exception as error:
        if is_absent(error):
            raise TrackingError(
                f"Experiment {wanted.experiment_id!r} does not exist in this tracking store. "
                "Correct MLFLOW_EXPERIMENT_ID, or name one with --experiment."
            ) from None
        raise
    if experiment is None:
        return {}
    if experiment.lifecycle_stage == "deleted":
        raise TrackingError(
            f"Experiment {experiment.name!r} is deleted. Name another with --experiment, or restore it with "
            f"`mlflow experiments restore --experiment-id {experiment.experiment_id}`."
        )
    return {"experiment_id": str(experiment.experiment_id), "experiment_name": str(experiment.name)}


def _default_uri() -> str:
    """Ask MLflow where it would write: what `mlflow.set_tracking_uri` said, or a store in the working directory."""
    with quiet(REACHING):
        import mlflow

        return str(mlflow.get_tracking_uri())


def _absolute(uri: str) -> str:
    """Anchor a relative SQLite path, so that a later `sync` from another directory finds the same database."""
    prefix = "sqlite:///"
    path = uri.removeprefix(prefix)
    if not uri.startswith(prefix) or not path or path.startswith(":memory:") or Path(path).is_absolute():
        return uri
    return prefix + Path(path).absolute().as_posix()
