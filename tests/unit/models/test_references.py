"""Which model is meant: recognised without importing TensorFlow."""

import pytest

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.models import load_model, reference_kinds, resolve_reference
from mlflow_tfexec.models.applications import application_names
from mlflow_tfexec.records.spec import Spec


@pytest.mark.parametrize(
    ("reference", "canonical"),
    [
        ("EfficientNetV2S", "EfficientNetV2S"),
        ("efficientnetv2s", "EfficientNetV2S"),
        ("RESNET50", "ResNet50"),
        ("mobilenetv2", "MobileNetV2"),
        ("package.module:make", "package.module:make"),
        ("module:make", "module:make"),
    ],
)
def test_a_reference_has_one_canonical_form(reference, canonical):
    assert resolve_reference(reference) == canonical
    assert resolve_reference(canonical) == canonical


@pytest.mark.parametrize("name", ["my_model.py", "with space.py", "c:model.py"])
def test_a_python_file_is_kept_as_it_was_given(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text("raise AssertionError('recognising must not run the file')")

    assert resolve_reference(f"{name}:make") == f"{name}:make"
    assert resolve_reference(f"{tmp_path / name}:make") == f"{tmp_path / name}:make"


@pytest.mark.parametrize("where", ["nowhere.py", "a/b.py", "x" * 300 + ".py", "nul\0.py"])
def test_a_python_file_that_is_not_there_is_a_wrong_request(where):
    with pytest.raises(RequestError) as caught:
        resolve_reference(f"{where}:make")

    assert str(caught.value) == (
        f"No file {where!r} for {f'{where}:make'!r}. Give the path of an existing Python file."
    )


def test_a_directory_named_like_a_python_file_is_a_wrong_request(tmp_path):
    (tmp_path / "package.py").mkdir()

    with pytest.raises(RequestError, match="Give the path of an existing Python file"):
        resolve_reference(f"{tmp_path / 'package.py'}:make")


@pytest.mark.parametrize(
    "reference",
    [
        "",
        "NoSuchNet",
        ":make",
        "module:",
        "module:two words",
        "a..b:make",
        "a-b:make",
        "module:1st",
        "1:f",
    ],
)
def test_anything_else_is_a_wrong_request_that_says_what_would_do(reference):
    with pytest.raises(RequestError) as caught:
        resolve_reference(reference)

    text = str(caught.value)
    assert text.startswith(f"No model named {reference!r}. ")
    assert text.endswith(
        "Give a name from keras.applications, a model's file, path/to/file.py:function, or models:/name/version."
    )
    assert len(text.splitlines()) == 1


@pytest.mark.parametrize(
    ("reference", "meant"), [("EfficentNetV2S", "EfficientNetV2S"), ("resnet-50", "ResNet50"), ("vgg61", "VGG16")]
)
def test_a_misspelt_name_gets_the_close_ones(reference, meant):
    with pytest.raises(RequestError, match=rf"Did you mean .*{meant}"):
        resolve_reference(reference)


def test_the_applications_are_models_and_no_modules():
    names = application_names()

    assert {"EfficientNetV2S", "ResNet50", "VGG16", "MobileNetV2", "Xception"} <= set(names)
    assert not {"efficientnet_v2", "resnet"} & set(names)
    assert list(names) == sorted(names)


@pytest.fixture
def fresh_names():
    """Forget the names before and after: they are remembered for the process."""
    application_names.cache_clear()
    yield
    application_names.cache_clear()


def test_without_keras_the_error_says_how_to_install_it(monkeypatch, fresh_names):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    with pytest.raises(
        RequestError, match=r"^Keras is not installed\. Install it with TensorFlow: pip install tensorflow$"
    ):
        resolve_reference("ResNet50")


def test_a_keras_without_a_list_of_applications_is_named_as_too_old(monkeypatch, fresh_names, tmp_path):
    class Found:
        submodule_search_locations = (str(tmp_path),)

    monkeypatch.setattr("importlib.util.find_spec", lambda name: Found)

    with pytest.raises(RequestError, match="Install Keras 3"):
        application_names()


def test_kinds_are_asked_in_the_order_of_their_positions():
    positions = [kind.position for kind in reference_kinds()]

    assert positions == sorted(set(positions))
    assert reference_kinds()[0].title == "a name from keras.applications"


def test_loading_a_name_that_no_kind_knows_is_a_wrong_request():
    with pytest.raises(RequestError, match=r"^No model named 'NoSuchNet'\.$"):
        load_model(Spec(model="NoSuchNet", modes=("eager",)))
