"""What a benchmark can be attached to: a run, a LoggedModel, a version of a registered model."""

from collections.abc import Mapping
from typing import Any, Protocol

from mlflow_tfexec.errors import TfexecError, TrackingError
from mlflow_tfexec.text import plain
from mlflow_tfexec.tracking.connection import is_absent
from mlflow_tfexec.tracking.models import MODEL_PREFIX, find_version, has_no_model, is_logged_model

_RUN_PREFIX = "runs:/"


class Target(Protocol):
    """One thing in MLflow as it was found, and how to write to it."""

    @property
    def uri(self) -> str:
        """A reference that always means the same one."""

    @property
    def tags(self) -> Mapping[str, str]:
        """Its tags."""

    def metrics(self, benchmark_run: str | None) -> Mapping[str, float] | None:
        """Give its metrics, the latest value of each. None: it takes none of a benchmark with this run."""

    def log_metrics(self, metrics: Mapping[str, float], time_ms: int, benchmark_run: str | None) -> None:
        """Write metrics so that they are the latest."""

    def set_tags(self, tags: Mapping[str, str]) -> None:
        """Set tags in order; what is set before an error stays set."""

    def delete_tag(self, key: str) -> None:
        """Delete a tag that is there."""


class RunTarget:
    """A run. It is neither ended nor reopened."""

    def __init__(self, client: Any, run: Any) -> None:
        self._client = client
        self.run_id = str(run.info.run_id)
        self.uri = f"{_RUN_PREFIX}{self.run_id}"
        self.tags: Mapping[str, str] = dict(run.data.tags)
        self._metrics: Mapping[str, float] = dict(run.data.metrics)

    def metrics(self, benchmark_run: str | None) -> Mapping[str, float] | None:  # noqa: ARG002 - the target's own run takes them
        """Give its metrics, the latest value of each."""
        return self._metrics

    def log_metrics(self, metrics: Mapping[str, float], time_ms: int, benchmark_run: str | None) -> None:  # noqa: ARG002 - the target's own run takes them
        """Write each metric behind its earlier points: the latest is the one of the highest step."""
        from mlflow.entities import Metric

        points = [Metric(key, value, time_ms, self._next_step(key)) for key, value in metrics.items()]
        self._client.log_batch(self.run_id, metrics=points, synchronous=True)

    def set_tags(self, tags: Mapping[str, str]) -> None:
        """Set all tags in one request."""
        from mlflow.entities import RunTag

        batch = [RunTag(key, value) for key, value in tags.items()]
        self._client.log_batch(self.run_id, tags=batch, synchronous=True)

    def delete_tag(self, key: str) -> None:
        """Delete a tag that is there."""
        self._client.delete_tag(self.run_id, key)

    def _next_step(self, key: str) -> int:
        if key not in self._metrics:
            return 0
        return 1 + max((int(point.step) for point in self._client.get_metric_history(self.run_id, key)), default=-1)


class LoggedModelTarget:
    """A LoggedModel. MLflow keeps its metrics as points of a run: here of the benchmark's own, if that is known."""

    def __init__(self, client: Any, model: Any) -> None:
        self._client = client
        self._model_id = str(model.model_id)
        self.uri = f"{MODEL_PREFIX}{self._model_id}"
        self.tags: Mapping[str, str] = dict(model.tags)
        points = sorted(model.metrics or (), key=lambda point: (point.step, point.timestamp))
        self._latest = {str(point.key): point for point in points}

    def metrics(self, benchmark_run: str | None) -> Mapping[str, float] | None:
        """Give its metrics, the latest value of each. None: there is no run that could hold them."""
        if benchmark_run is None:
            return None
        return {key: float(point.value) for key, point in self._latest.items()}

    def log_metrics(self, metrics: Mapping[str, float], time_ms: int, benchmark_run: str | None) -> None:
        """Write each metric behind its earlier points, into the run of the benchmark."""
        from mlflow.entities import Metric

        named = {"model_id": self._model_id, "run_id": benchmark_run}
        steps = {key: int(self._latest[key].step) + 1 if key in self._latest else 0 for key in metrics}
        points = [Metric(key, value, time_ms, steps[key], **named) for key, value in metrics.items()]
        self._client.log_batch(benchmark_run, metrics=points, synchronous=True)

    def set_tags(self, tags: Mapping[str, str]) -> None:
        """Set all tags in one request."""
        self._client.set_logged_model_tags(self._model_id, dict(tags))

    def delete_tag(self, key: str) -> None:
        """Delete a tag that is there."""
        self._client.delete_logged_model_tag(self._model_id, key)


class VersionTarget:
    """A version of a registered model, which has tags and no metrics."""

    def __init__(self, client: Any, version: Any) -> None:
        self._client = client
        self._place = (str(version.name), str(version.version))
        self.uri = f"{MODEL_PREFIX}{'/'.join(self._place)}"
        self.tags: Mapping[str, str] = dict(version.tags)

    def metrics(self, benchmark_run: str | None) -> Mapping[str, float] | None:  # noqa: ARG002 - there are none
        """Give None: there are none."""
        return None

    def log_metrics(self, metrics: Mapping[str, float], time_ms: int, benchmark_run: str | None) -> None:
        """Take none."""

    def set_tags(self, tags: Mapping[str, str]) -> None:
        """Set one tag after another."""
        for key, value in tags.items():
            self._client.set_model_version_tag(*self._place, key, value)

    def delete_tag(self, key: str) -> None:
        """Delete a tag that is there."""
        self._client.delete_model_version_tag(*self._place, key)


def find_target(client: Any, reference: str, *, store: str) -> Target:
    """Find what *reference* names.

    Args:
        client: of the store.
        reference: a run id, alone or as `runs:/…`; `models:/m-…`; `models:/name/version` or `models:/name@alias`.
        store: the store in words.

    Raises:
        TrackingError: there is no such thing, or it is deleted.
        Exception: MLflow's own, where the store does not answer.
    """
    try:
        if is_logged_model(reference):
            return LoggedModelTarget(client, client.get_logged_model(reference.removeprefix(MODEL_PREFIX)))
        if reference.startswith(MODEL_PREFIX):
            return VersionTarget(client, find_version(client, reference.removeprefix(MODEL_PREFIX)))
        return RunTarget(client, active_run(client, reference.removeprefix(_RUN_PREFIX)))
    except TfexecError:
        raise
    except Exception as error:
        if has_no_model(error) or is_absent(error):
            raise TrackingError(
                f"{plain(reference)!r} does not exist in {store}. Give a run id, models:/m-…, models:/name/version "
                "or models:/name@alias, or another store with --tracking-uri."
            ) from None
        raise


def active_run(client: Any, run_id: str) -> Any:
    """Fetch a run. Raises TrackingError for a deleted one, and MLflow's own error where there is none."""
    run = client.get_run(run_id)
    if run.info.lifecycle_stage == "deleted":
        raise TrackingError(f"Run {run_id!r} is deleted. Restore it with `mlflow runs restore --run-id {run_id}`.")
    return run
