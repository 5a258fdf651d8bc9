"""Bring a model from MLflow to this machine, by the native flavor: what is measured is the model, never a wrapper."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mlflow_tfexec.errors import TfexecError, TrackingError
from mlflow_tfexec.protocol import ModelSource
from mlflow_tfexec.records.origin import ModelOrigin
from mlflow_tfexec.tracking.connection import REACHING, TRANSFERRING, connect, quiet, reason
from mlflow_tfexec.tracking.credentials import without_credentials
from mlflow_tfexec.tracking.downloading import Tell, download, download_told, say_nothing

_FLAVORS = ("keras", "tensorflow")
_DESCRIPTION = "MLmodel"
_MODEL_ID_PREFIX = "models:/m-"

# MLflow's words for: there is no such thing.
_ABSENT = frozenset({"RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE", "NOT_FOUND"})

MODEL_PREFIX = "models:/"


@dataclass(frozen=True)
class _Place:
    """Where a model lies, once and for all."""

    uri: str
    """A reference that always means the same model."""
    root: str
    """Where its files are."""
    model_id: str | None = None
    run_id: str | None = None


def fetch_model(reference: str, *, uri: str, directory: Path, tell: Tell = say_nothing) -> ModelSource:
    """Download the model of *reference* into *directory*.

    Args:
        reference: `models:/name/version`, `models:/name/latest`, `models:/name@alias`, `models:/m-…` or
            `runs:/run_id/path`.
        uri: of the tracking store, credentials included. The registry is MLFLOW_REGISTRY_URI's, or the same.
        directory: is made if it is not there.
        tell: told how much there is to fetch, and now and then how much has come.

    Raises:
        TrackingError: the store does not answer or has no such model, the model is of another flavor than keras and
            tensorflow, or its files are not where it says.
    """
    with quiet(REACHING, uri), _told(reference, uri):
        place = _locate(connect(uri), reference)
    with quiet(TRANSFERRING, uri), _told(reference, uri):
        # The description first: a model of another kind may be large.
        description = _read_description(reference, download(f"{place.root}/{_DESCRIPTION}", directory))
        flavor, settings = _flavor(reference, description["flavors"])
        root = download_told(place.root, directory, reference=reference, tell=tell)
    path = _model_path(reference, flavor, settings, root)
    code = _inside(reference, root, settings.get("code"))
    return ModelSource(
        path=str(path.absolute()),
        origin=ModelOrigin(uri=place.uri, flavor=flavor, model_id=place.model_id, run_id=place.run_id),
        import_path=str(code.absolute()) if code is not None and code.is_dir() else None,
        # A SavedModel says itself what each of its endpoints takes.
        input_shape=_input_shape(description.get("signature")) if path.is_file() else None,
        pickles=tuple(str(found.absolute()) for found in sorted(path.parent.glob("*custom_objects.cloudpickle"))),
    )


def _locate(client: Any, reference: str) -> _Place:
    """Follow a reference to where the files are."""
    if reference.startswith("runs:/"):
        run_id = reference.split("/")[1]
        client.get_run(run_id)
        return _Place(uri=reference, root=reference, run_id=run_id)
    if is_logged_model(reference):
        return _logged_model(client, reference)
    version = find_version(client, reference.removeprefix(MODEL_PREFIX))
    uri = f"models:/{version.name}/{version.version}"
    model_id = getattr(version, "model_id", None)
    source = f"models:/{model_id}" if model_id else str(version.source)
    if source.startswith(_MODEL_ID_PREFIX):
        return replace(_logged_model(client, source), uri=uri)
    root = client.get_model_version_download_uri(version.name, version.version)
    return _Place(uri=uri, root=str(root), run_id=version.run_id or None)


def _logged_model(client: Any, reference: str) -> _Place:
    model = client.get_logged_model(reference.removeprefix("models:/"))
    return _Place(
        uri=reference, root=str(model.artifact_location), model_id=model.model_id, run_id=model.source_run_id or None
    )


def is_logged_model(reference: str) -> bool:
    """Say whether a reference names a LoggedModel by its id, `models:/m-…`, and no version of a registered model."""
    return reference.startswith(_MODEL_ID_PREFIX) and reference.count("/") == 1


def has_no_model(error: Exception) -> bool:
    """Say whether MLflow answered that there is no such model, version or alias."""
    return getattr(error, "error_code", None) in _ABSENT and not str(error).startswith("API request")


def find_version(client: Any, name_and_version: str) -> Any:
    """Find a registered version by `name/version`, `name/latest` or `name@alias`.

    Raises:
        TrackingError: the model has no versions.
        Exception: MLflow's own, where there is no such model, version or alias.
    """
    name, at, alias = name_and_version.partition("@")
    if at:
        return client.get_model_version_by_alias(name, alias)
    name, _, version = name_and_version.partition("/")
    if version != "latest":
        return client.get_model_version(name, version)
    versions = client.get_registered_model(name).latest_versions
    if not versions:
        raise TrackingError(f"Model {name!r} has no versions in the MLflow registry.")
    return max(versions, key=lambda one: int(one.version))


def _read_description(reference: str, description: Path) -> Mapping[str, Any]:
    """Read what MLflow wrote of the model, its flavors at least."""
    import yaml

    try:
        read = yaml.safe_load(description.read_text(encoding="utf-8"))
    except (yaml.YAMLError, OSError, UnicodeDecodeError, RecursionError):
        read = None
    if not isinstance(read, dict) or not isinstance(read.get("flavors"), dict):
        raise TrackingError(f"{reference!r} is no MLflow model: its file {_DESCRIPTION} cannot be read.")
    return read


def _flavor(reference: str, flavors: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Choose the flavor that the model is loaded by, with its settings."""
    for flavor in _FLAVORS:
        if isinstance(flavors.get(flavor), dict):
            return flavor, flavors[flavor]
    names = ", ".join(sorted(str(name) for name in flavors if name != "python_function")) or "python_function alone"
    raise TrackingError(
        f"{reference!r} is of flavor {names}. Only models of the flavors keras and tensorflow are benchmarked."
    )


def _input_shape(signature: Any) -> tuple[int, ...] | None:
    """Read the shape of one item off a signature. None: it has not one tensor, or not all of its sizes.

    Source: https://mlflow.org/docs/latest/ml/model/signatures/
    """
    try:
        (tensor,) = json.loads(signature["inputs"])
        batch, *item = tensor["tensor-spec"]["shape"]
    except (TypeError, KeyError, ValueError, RecursionError):
        return None
    is_whole = batch == -1 and item and all(isinstance(size, int) and size > 0 for size in item)
    return tuple(item) if is_whole else None


def _model_path(reference: str, flavor: str, settings: Mapping[str, Any], root: Path) -> Path:
    """Find the model's own file or directory, as the flavor's `load_model` does.

    Sources: mlflow/keras/load.py, mlflow/tensorflow/__init__.py.
    """
    if settings.get("saved_model_dir") is not None:
        if settings.get("model_type", "tf2-module") != "tf2-module":
            raise TrackingError(f"{reference!r} is a TensorFlow 1 model, which cannot be benchmarked.")
        candidates = [_inside(reference, root, settings["saved_model_dir"])]
    else:
        data = _inside(reference, root, settings.get("data", "data"))
        base = data / "model" if data is not None and data.is_dir() else data
        candidates = [base and base.with_name(f"{base.name}{suffix}") for suffix in (".keras", ".h5", "")]
    for candidate in candidates:
        if candidate is not None and candidate.exists():
            return candidate
    raise TrackingError(f"{reference!r} ({flavor}) holds no model where its file {_DESCRIPTION} says.")


def _inside(reference: str, root: Path, relative: Any) -> Path | None:
    """Follow a path of the description. None: there is none. Raises TrackingError: it leads out of the model."""
    if not isinstance(relative, str):
        return None
    path = root / relative
    if not path.resolve().is_relative_to(root.resolve()):
        raise TrackingError(f"{reference!r} names {relative[:80]!r}, a path that leads out of it. It was not opened.")
    return path


@contextmanager
def _told(reference: str, uri: str) -> Iterator[None]:
    """Turn whatever MLflow raises inside into a TrackingError that says what to do."""
    try:
        yield
    except TfexecError:
        raise
    except Exception as error:  # noqa: BLE001 - store plugins, SQL drivers and HTTP raise types of their own
        shown, why = without_credentials(uri), reason(error, uri)
        if has_no_model(error) or isinstance(error, FileNotFoundError):
            raise TrackingError(
                f"No model {reference!r} in the MLflow store at {shown}: {why}.\n"
                "Correct its name, version, alias or id, or name another store with --tracking-uri."
            ) from None
        raise TrackingError(
            f"Cannot fetch {reference!r} from the MLflow store at {shown}: {why}.\n"
            "Start the server, or correct --tracking-uri."
        ) from None
