"""A model's file is recognised, and a broken, foreign or hostile one refused in a line, without TensorFlow."""

import json
import struct
import zipfile

import pytest

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.models import _files, check_loading_options, is_fetched, resolve_reference
from mlflow_tfexec.models._files import HDF5_MAGIC
from mlflow_tfexec.records.spec import Spec

CONFIG = json.dumps({"class_name": "Sequential", "config": {}})


@pytest.fixture(autouse=True)
def _here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


def archive(path, files=None, compression=zipfile.ZIP_STORED):
    contents = {"metadata.json": "{}", "config.json": CONFIG, "model.weights.h5": b"weights"}
    with zipfile.ZipFile(path, "w", compression) as out:
        for name, content in {**contents, **(files or {})}.items():
            if content is not None:
                out.writestr(name, content)
    return str(path)


def hdf5(version=0, end=2048, size=2048):
    if version < 2:
        head = bytes([version, 0, 0, 0, 0, 8, 8, 0]) + bytes(16) + bytes(4 * version) + bytes(8)
    else:
        head = bytes([version, 8, 8, 0]) + bytes(16)
    return (HDF5_MAGIC + head + struct.pack("<Q", end)).ljust(size, b"\0")


def refusal(reference):
    with pytest.raises(RequestError) as caught:
        resolve_reference(str(reference))
    text = str(caught.value)
    assert len(text.splitlines()) == 1
    return text


def test_a_keras_file_is_kept_as_it_was_given(tmp_path):
    archive("model.keras")

    assert resolve_reference("model.keras") == "model.keras"
    assert resolve_reference(str(tmp_path / "model.keras")) == str(tmp_path / "model.keras")


@pytest.mark.parametrize("weights", ["model.weights.h5", "model.weights.npz", "model.weights.json"])
def test_every_form_of_weights_in_a_keras_file_will_do(weights):
    archive("model.keras", {"model.weights.h5": None, weights: b"weights"})

    assert resolve_reference("model.keras") == "model.keras"


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_a_whole_hdf5_file_is_taken_and_one_that_is_cut_short_is_not(tmp_path, version):
    (tmp_path / "whole.h5").write_bytes(hdf5(version))
    (tmp_path / "cut.hdf5").write_bytes(hdf5(version, end=4096))

    assert resolve_reference("whole.h5") == "whole.h5"
    assert refusal("cut.hdf5") == "File 'cut.hdf5' is cut short: it has 2048 of 4096 bytes. Copy it anew."


def test_an_hdf5_file_of_an_unknown_layout_is_left_to_the_library(tmp_path):
    (tmp_path / "later.h5").write_bytes(hdf5(version=0)[:8] + b"\x63" + bytes(100))

    assert resolve_reference("later.h5") == "later.h5"


def test_a_saved_model_is_a_directory_with_a_program(tmp_path):
    (tmp_path / "exported").mkdir()
    (tmp_path / "exported" / "saved_model.pb").write_bytes(b"graph")

    assert resolve_reference("exported") == "exported"
    assert resolve_reference("exported/") == "exported/"
    assert "Give the directory that it lies in" in refusal("exported/saved_model.pb")
    (tmp_path / "exported" / "saved_model.pb").write_bytes(b"")
    assert "is empty: the SavedModel was not copied whole" in refusal("exported")


@pytest.mark.parametrize("reference", ["nowhere.keras", "a/b.keras", "nowhere.h5", "x" * 300 + ".keras", "nul\0.h5"])
def test_a_model_s_file_that_is_not_there_is_named(reference):
    assert refusal(reference).startswith(f"No file {reference!r}. Give the path of an existing .")


@pytest.mark.parametrize("reference", ["./nowhere", "a/b", "model.onnx", "saved_model.pb", "/", "x" * 5000 + "/y"])
def test_what_looks_like_a_path_is_answered_as_one(reference):
    text = refusal(reference)

    assert text.startswith((f"No file or directory {reference!r}.", f"Directory {reference!r} holds no SavedModel"))


@pytest.mark.parametrize("name", ["model.tflite", "model", "model.zip"])
def test_a_file_of_another_kind_is_named_as_one(tmp_path, name):
    (tmp_path / name).write_bytes(b"something")

    assert refusal(name).startswith(f"File {name!r} is no model that Keras loads. Give a .keras")


def test_a_directory_without_a_model_says_what_is_missing(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "logged").mkdir()
    (tmp_path / "logged" / "MLmodel").write_text("")

    assert refusal("empty") == "Directory 'empty' holds no SavedModel: it has no saved_model.pb."
    assert "is the directory of an MLflow model. Name the model that lies in it, such as" in refusal("logged")


def test_capital_endings_which_keras_does_not_load_are_refused(tmp_path):
    archive("model.KERAS")
    (tmp_path / "model.H5").write_bytes(hdf5())

    assert "only if its name ends in .keras" in refusal("model.KERAS")
    assert "only if its name ends in .h5" in refusal("model.H5")


def test_weights_alone_are_no_model(tmp_path):
    (tmp_path / "model.weights.h5").write_bytes(hdf5())
    archive("no_weights.keras", {"model.weights.h5": None})

    assert "'model.weights.h5' is no model: it holds weights only, and no model. Give the whole" in refusal(
        "model.weights.h5"
    )
    assert "holds no weights" in refusal("no_weights.keras")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"no zip file" * 100, bytes(5000)])
def test_what_is_no_archive_is_no_keras_file(tmp_path, content):
    (tmp_path / "model.keras").write_bytes(content)
    (tmp_path / "model.h5").write_bytes(content)

    assert refusal("model.keras").startswith("File 'model.keras' is no .keras file, or not a whole one.")
    assert refusal("model.h5").startswith("File 'model.h5' is no HDF5 file")


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9, 0.99])
def test_a_keras_file_that_is_cut_short_is_refused(tmp_path, share):
    whole = archive("whole.keras", {"model.weights.h5": bytes(10_000)})
    content = (tmp_path / whole).read_bytes()
    (tmp_path / "cut.keras").write_bytes(content[: int(len(content) * share)])

    assert "is no .keras file, or not a whole one" in refusal("cut.keras")


def test_an_hdf5_file_under_the_name_of_keras_is_told_from_a_broken_one(tmp_path):
    (tmp_path / "model.keras").write_bytes(hdf5())

    assert "is an HDF5 file in spite of its name. Rename it to end in .h5." in refusal("model.keras")


@pytest.mark.parametrize(
    "name",
    ["../../evil.py", "/etc/evil", "a/../../b", "..\\evil.py", "C:\\evil.py"],
    ids=["up", "root", "in", "w", "c"],
)
def test_an_archive_that_leads_out_of_itself_is_not_opened(name):
    assert "a path that leads out of it" in refusal(archive("model.keras", {name: "evil"}))


def test_an_archive_that_expands_beyond_measure_is_not_opened(tmp_path, monkeypatch):
    assert _files._SMALLEST_BOMB == 2**30
    monkeypatch.setattr(_files, "_SMALLEST_BOMB", 2**24)
    with zipfile.ZipFile(tmp_path / "bomb.keras", "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("config.json", CONFIG)
        with out.open("model.weights.h5", "w", force_zip64=True) as stream:
            for _ in range(17):
                stream.write(bytes(2**20))

    assert "holds 0 MiB that unpack to 17 MiB, which no model's weights do. It was not opened." in refusal("bomb.keras")


def test_an_archive_of_too_many_files_or_too_large_a_description_is_not_opened():
    many = archive("many.keras", {f"{number}": "" for number in range(10_001)})
    large = archive("large.keras", {"config.json": bytes(65 * 2**20)}, zipfile.ZIP_DEFLATED)

    assert "holds 10004 files, which no model does" in refusal(many)
    assert "config.json larger than any model's" in refusal(large)


@pytest.mark.parametrize("config", ["", "{", "[" * 100_000, "[]", '"text"', "{}", "\xff"])
def test_a_description_of_no_model_is_refused(config):
    assert "describes no Keras model" in refusal(archive("model.keras", {"config.json": config.encode("latin-1")}))


def test_an_archive_of_something_else_is_told_from_a_model():
    assert "zip file without config.json: it was not saved by Keras 3" in refusal(
        archive("model.keras", {"config.json": None})
    )


def test_an_encrypted_archive_is_refused(tmp_path):
    content = bytearray((tmp_path / archive("model.keras")).read_bytes())
    for header, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = -1
        while (start := content.find(header, start + 1)) >= 0:
            content[start + place] |= 1
    (tmp_path / "locked.keras").write_bytes(content)

    assert "is no .keras file" in refusal("locked.keras")


@pytest.mark.parametrize(
    "reference",
    ["models:/net/3", "models:/net/latest", "models:/a net@best", "models:/m-0a1b", "runs:/0a1b/path/to/net"],
)
def test_a_model_in_mlflow_is_known_by_its_form_alone(reference):
    assert resolve_reference(reference) == reference
    assert is_fetched(reference)


@pytest.mark.parametrize(
    "reference", ["models:/", "models:/net", "models:/net/Production", "models:/net@", "models:/a/b/c", "runs:/0a1b"]
)
def test_a_form_that_names_no_model_is_refused(reference):
    assert refusal(reference).startswith(f"{reference!r} names no model in MLflow. Give models:/name/version")


def check(model, **fields):
    check_loading_options(Spec(model=model, modes=("eager", "graph"), **fields))


@pytest.mark.parametrize(
    ("model", "fields", "option"),
    [
        ("model.keras", {"dtype": "mixed_float16"}, "--dtype"),
        ("model.keras", {"weights": "imagenet"}, "--weights"),
        ("model.keras", {"endpoint": "serve"}, "--endpoint"),
        ("ResNet50", {"safe_mode": False}, "--no-safe-mode"),
        ("ResNet50", {"custom_objects": ("a:B",)}, "--custom-objects"),
        ("module:make", {"weights": "imagenet"}, "--weights"),
        ("models:/net/1", {"dtype": "float16"}, "--dtype"),
    ],
)
def test_an_option_that_would_have_no_effect_is_refused(model, fields, option):
    archive("model.keras")
    with pytest.raises(RequestError) as caught:
        check(model, **fields)

    assert str(caught.value).startswith(f"{option} has no effect on {model!r}: ")
    assert str(caught.value).endswith(" Leave it out.")


def test_an_option_that_is_heeded_passes(tmp_path):
    archive("model.keras")
    (tmp_path / "layers.py").touch()
    check("model.keras", custom_objects=("package.layers:Own", "layers.py:Own"), safe_mode=False)
    check("models:/net/1", custom_objects=("a:B",), safe_mode=False, endpoint="serve")
    check("ResNet50", dtype="mixed_float16", weights="imagenet")
    check("module:make", dtype="float16")


@pytest.mark.parametrize("name", ["layers", "layers.py:", ":Own", "a-b:Own", "layers:Two Words"])
def test_a_custom_object_without_a_name_is_refused(name):
    archive("model.keras")
    with pytest.raises(RequestError, match=r"names nothing\. Give module:Class or path/to/file\.py:Class\.$"):
        check("model.keras", custom_objects=(name,))


def test_a_custom_object_in_a_file_that_is_not_there_is_refused():
    archive("model.keras")
    with pytest.raises(RequestError, match=r"^No file 'nowhere\.py' for 'nowhere\.py:Own'\."):
        check("model.keras", custom_objects=("nowhere.py:Own",))
