"""What TensorFlow of the calling process keeps from the processes that measure."""

import sys
from types import SimpleNamespace

import pytest

from mlflow_tfexec.models._caller import holds_gpu_memory


def tensorflow(growth, limits=()):
    return SimpleNamespace(
        config=SimpleNamespace(
            get_visible_devices=lambda _: list(range(len(growth))),
            experimental=SimpleNamespace(get_memory_growth=lambda gpu: growth[gpu]),
            get_logical_device_configuration=lambda gpu: limits[gpu] if limits else None,
        )
    )


@pytest.mark.parametrize(
    ("growth", "limits", "held"),
    [
        ([], (), False),
        ([True], (), False),
        ([False], (), True),
        ([True, False], (), True),
        ([False], (["1 GiB"],), False),
    ],
)
def test_without_growth_or_a_limit_tensorflow_takes_the_gpu(monkeypatch, growth, limits, held):
    monkeypatch.delenv("TF_FORCE_GPU_ALLOW_GROWTH", raising=False)
    monkeypatch.setitem(sys.modules, "tensorflow", tensorflow(growth, limits))

    assert holds_gpu_memory() is held


def test_the_variable_that_forces_growth_counts(monkeypatch):
    monkeypatch.setenv("TF_FORCE_GPU_ALLOW_GROWTH", "true")
    monkeypatch.setitem(sys.modules, "tensorflow", tensorflow([False]))

    assert not holds_gpu_memory()


def test_where_tensorflow_is_not_loaded_nothing_is_held(monkeypatch):
    monkeypatch.delitem(sys.modules, "tensorflow", raising=False)

    assert not holds_gpu_memory()
    assert "tensorflow" not in sys.modules
