"""Models in MLflow: found by every kind of reference, brought here by the native flavor, refused in a line or two."""

import json
import shutil
import threading
from pathlib import Path

import pytest

from mlflow_tfexec.errors import TrackingError
from mlflow_tfexec.tracking import downloading
from mlflow_tfexec.tracking.downloading import Download
from mlflow_tfexec.tracking.models import fetch_model

pytestmark = pytest.mark.mlflow

KERAS = "flavors:\n  keras:\n    data: data\n    save_exported_model: false\n  python_function: {}\n"
TENSORFLOW = "flavors:\n  tensorflow:\n    data: data\n    code: code\n    model_type: keras\n    save_format: tf\n"
MODULE = "flavors:\n  tensorflow:\n    saved_model_dir: tf2model\n    model_type: tf2-module\n"


class Registry:
    """A store with models that nobody has to load."""

    def __init__(self, uri, place):
        from mlflow import MlflowClient

        self.uri = uri
        self.client = MlflowClient(uri)
        self._place = place
        self._experiment = self.client.get_experiment_by_name("mine").experiment_id

    def files(self, description, *names):
        """Write a model's directory with empty files in it."""
        root = self._place / "written"
        shutil.rmtree(root, ignore_errors=True)
        for name in names:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("")
        root.mkdir(exist_ok=True)
        (root / "MLmodel").write_text(description)
        return root

    def logged(self, root):
        """Log a model by id, as MLflow 3 does."""
        model = self.client.create_logged_model(self._experiment, name="net")
        self.client.log_model_artifacts(model.model_id, str(root))
        self.client.finalize_logged_model(model.model_id, "READY")
        return f"models:/{model.model_id}"

    def in_run(self, root):
        """Log a model as artifacts of a run, as MLflow 2 did."""
        run_id = self.client.create_run(self._experiment).info.run_id
        self.client.log_artifacts(run_id, str(root), "net")
        return f"runs:/{run_id}/net"

    def registered(self, source, alias=None):
        """Register a new version of the model `net`."""
        from mlflow.exceptions import MlflowException

        try:
            self.client.get_registered_model("net")
        except MlflowException:
            self.client.create_registered_model("net")
        model_id = source.removeprefix("models:/") if source.startswith("models:/m-") else None
        version = self.client.create_model_version("net", source, model_id=model_id).version
        if alias:
            self.client.set_registered_model_alias("net", alias, version)
        return version


@pytest.fixture
def registry(store, tmp_path, monkeypatch):
    # A registry in a database looks for logged models where the environment says.
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store)
    return Registry(store, tmp_path)


@pytest.fixture
def fetch(registry, tmp_path):
    return lambda reference: fetch_model(reference, uri=registry.uri, directory=tmp_path / "fetched")


@pytest.fixture
def refusal(fetch):
    def refuse(reference):
        with pytest.raises(TrackingError) as caught:
            fetch(reference)
        assert len(str(caught.value).splitlines()) <= 2
        return str(caught.value)

    return refuse


def test_every_reference_leads_to_the_file_and_to_one_that_never_moves(registry, fetch, tmp_path):
    by_id = registry.logged(registry.files(KERAS, "data/model.keras"))
    registry.registered(by_id, alias="best")
    in_run = registry.in_run(registry.files(TENSORFLOW, "data/model.keras"))
    registry.registered(in_run)
    found = {
        reference: fetch(reference)
        for reference in (by_id, in_run, "models:/net/1", "models:/net@best", "models:/net/latest")
    }

    assert {reference: source.origin.uri for reference, source in found.items()} == {
        by_id: by_id,
        in_run: in_run,
        "models:/net/1": "models:/net/1",
        "models:/net@best": "models:/net/1",
        "models:/net/latest": "models:/net/2",
    }
    for source in found.values():
        assert Path(source.path).is_file()
        assert Path(source.path).name == "model.keras"
        assert Path(source.path).is_relative_to(tmp_path / "fetched")
    assert found["models:/net@best"].origin.model_id == by_id.removeprefix("models:/")
    assert found["models:/net@best"].origin.flavor == "keras"
    assert found["models:/net/latest"].origin.flavor == "tensorflow"
    assert found[in_run].origin.run_id == in_run.split("/")[1]


@pytest.mark.parametrize(
    ("description", "file"),
    [
        (KERAS, "data/model.keras"),
        (KERAS.replace("false", "true"), "data/model/saved_model.pb"),
        (TENSORFLOW, "data/model.h5"),
        (TENSORFLOW, "data/model/saved_model.pb"),
        (MODULE, "tf2model/saved_model.pb"),
    ],
)
def test_the_file_is_where_the_flavor_keeps_it(registry, fetch, description, file):
    source = fetch(registry.logged(registry.files(description, file)))

    wanted = file.removesuffix("/saved_model.pb")
    assert source.path.endswith(f"/{wanted}")


def test_code_and_pickles_that_came_with_a_model_are_found_and_not_opened(registry, fetch):
    files = (
        "data/model.keras",
        "data/custom_objects.cloudpickle",
        "data/global_custom_objects.cloudpickle",
        "code/a.py",
    )
    source = fetch(registry.logged(registry.files(TENSORFLOW, *files)))

    assert source.import_path.endswith("/code")
    assert [Path(path).name for path in source.pickles] == [
        "custom_objects.cloudpickle",
        "global_custom_objects.cloudpickle",
    ]


@pytest.mark.parametrize("reference", ["models:/net/7", "models:/nothing/1", "models:/net@worst", "models:/m-nothing"])
def test_what_is_not_there_is_named_with_the_store(registry, refusal, reference):
    registry.registered(registry.logged(registry.files(KERAS, "data/model.keras")))
    text = refusal(reference)

    assert text.startswith(f"No model {reference!r} in the MLflow store at {registry.uri}: ")
    assert "--tracking-uri" in text


def test_a_run_or_a_path_in_it_that_is_not_there_is_named(registry, refusal):
    in_run = registry.in_run(registry.files(KERAS, "data/model.keras"))

    assert refusal("runs:/" + "0" * 32 + "/net").startswith("No model 'runs:/0000")
    assert f"{in_run}s" in refusal(f"{in_run}s")


@pytest.mark.parametrize(
    ("description", "flavor"),
    [
        ("flavors:\n  sklearn: {}\n  python_function: {}\n", "is of flavor sklearn. Only"),
        ("flavors:\n  python_function: {}\n", "is of flavor python_function alone. Only"),
        ("flavors: none\n", "is no MLflow model"),
        ("flavors: [\n", "is no MLflow model"),
        ("", "is no MLflow model"),
    ],
)
def test_another_flavor_or_no_description_is_refused_before_the_rest_is_fetched(
    registry, refusal, tmp_path, description, flavor
):
    assert flavor in refusal(registry.logged(registry.files(description, "model.pkl")))
    assert [file.name for file in (tmp_path / "fetched").rglob("*") if file.is_file()] == ["MLmodel"]


@pytest.mark.parametrize("setting", ["data: ../../..", "data: /etc", "data: data\n    code: ../.."])
def test_a_description_that_leads_out_of_the_model_is_refused(registry, refusal, setting):
    root = registry.files(f"flavors:\n  keras:\n    {setting}\n", "data/model.keras")

    assert "a path that leads out of it. It was not opened." in refusal(registry.logged(root))


def signature(shape, times=1):
    one = {"type": "tensor", "tensor-spec": {"dtype": "float32", "shape": shape}}
    return KERAS + f"signature:\n  inputs: '{json.dumps([one] * times)}'\n"


@pytest.mark.parametrize(
    ("description", "shape"),
    [
        (signature([-1, 32, 32, 3]), (32, 32, 3)),
        (signature([-1, -1, 3]), None),
        (signature([-1]), None),
        (signature([-1, 4], times=2), None),
        (KERAS, None),
        (KERAS + "signature:\n  inputs: nonsense\n", None),
        (KERAS + "signature: 7\n", None),
    ],
)
def test_the_shape_of_the_one_input_is_read_off_the_signature(registry, fetch, description, shape):
    assert fetch(registry.logged(registry.files(description, "data/model.keras"))).input_shape == shape


def test_a_model_without_its_file_is_refused(registry, refusal):
    assert "holds no model where its file MLmodel says" in refusal(registry.logged(registry.files(KERAS, "data/other")))


def test_a_server_that_is_not_there_is_said_without_credentials(tmp_path):
    with pytest.raises(TrackingError) as caught:
        fetch_model("models:/net/1", uri="http://me:secret@127.0.0.1:9", directory=tmp_path)

    text = str(caught.value)
    assert text.startswith("Cannot fetch 'models:/net/1' from the MLflow store at http://127.0.0.1:9: ")
    assert "secret" not in text
    assert len(text.splitlines()) == 2


def test_a_model_comes_from_a_server_as_well(server, tmp_path):
    from mlflow import MlflowClient

    client = MlflowClient(server)
    (tmp_path / "store").mkdir()
    registry = object.__new__(Registry)
    registry.uri, registry.client, registry._place = server, client, tmp_path / "store"
    registry._experiment = client.create_experiment(f"models of {tmp_path.name}")
    registry.registered(registry.logged(registry.files(KERAS, "data/model.keras")), alias="served")

    source = fetch_model("models:/net@served", uri=server, directory=tmp_path / "fetched")

    assert Path(source.path).is_file()
    assert source.origin.uri == "models:/net/1"


def test_a_download_is_told_with_its_files_and_its_size_before_it_begins(registry, tmp_path):
    root = registry.files(KERAS, "data/model.keras", "data/more/weights")
    (root / "data" / "model.keras").write_bytes(bytes(1000))
    told = []

    def tell(download):
        told.append((download, list(tmp_path.glob("fetched-*/**/model.keras"))))

    for number, reference in enumerate((registry.logged(root), registry.in_run(root))):
        directory = tmp_path / f"fetched-{number}"
        source = fetch_model(reference, uri=registry.uri, directory=directory, tell=tell)

        ((begun, there),) = told
        assert begun == Download(reference, files=3, total_bytes=1000 + len(KERAS))
        assert there == []
        Path(source.path).unlink()
        told.clear()


def test_a_long_download_is_told_again_and_again_with_what_has_come(registry, tmp_path, monkeypatch):
    root = registry.files(KERAS, "data/model.keras")
    reference = registry.logged(root)
    told, is_told = [], threading.Event()

    def tell(download):
        told.append(download)
        if download.done_bytes == 70 + len(KERAS):
            is_told.set()

    def slowly(uri, directory):
        (directory / "data").mkdir(parents=True, exist_ok=True)
        (directory / "data" / "model.keras").write_bytes(bytes(70))
        assert uri.endswith("MLmodel") or is_told.wait(60)
        return plain(uri, directory)

    plain = downloading.download
    monkeypatch.setattr(downloading, "download", slowly)
    monkeypatch.setattr(downloading, "_INTERVAL_S", 0.01)
    fetch_model(reference, uri=registry.uri, directory=tmp_path / "fetched", tell=tell)

    assert told[0].done_bytes is None
    assert {one.total_bytes for one in told} == {len(KERAS)}
    assert is_told.is_set()


def test_a_store_that_does_not_say_how_large_its_files_are_leaves_the_size_out(registry, fetch, tmp_path, monkeypatch):
    from mlflow.entities import FileInfo

    reference = registry.logged(registry.files(KERAS, "data/model.keras"))
    monkeypatch.setattr("mlflow.artifacts.list_artifacts", lambda artifact_uri: [FileInfo("model.keras", False, None)])
    told = []
    fetch_model(reference, uri=registry.uri, directory=tmp_path / "fetched", tell=told.append)

    assert told == [Download(reference, files=1, total_bytes=None)]
