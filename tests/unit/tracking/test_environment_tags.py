"""Which facts become tags on runs that are no benchmarks, and how the tags are switched off. No MLflow."""

import logging

import pytest

from mlflow_tfexec.tracking import environment_tags as tags_module
from mlflow_tfexec.tracking.environment_tags import environment_tags, is_switched_on, tags_of

H100 = {"name": "NVIDIA H100", "uuid": "GPU-1", "compute_capability": "9.0", "memory_mb": 81559}
DRIVER = {"version": "575.57.08", "cuda_version": "12.9"}


@pytest.fixture
def fresh():
    environment_tags.cache_clear()
    yield
    environment_tags.cache_clear()


def test_one_gpu_gives_all_its_facts():
    host = {"gpus": [H100], "gpu_driver": DRIVER, "cpu": {"name": "Xeon"}}
    assert tags_of(host, tensorflow="2.21.0", keras="3.12.0", fingerprint="f" * 16) == {
        "tfexec.tf.version": "2.21.0",
        "tfexec.keras.version": "3.12.0",
        "tfexec.host.fingerprint": "f" * 16,
        "tfexec.cpu.name": "Xeon",
        "tfexec.gpu.name": "NVIDIA H100",
        "tfexec.gpu.uuid": "GPU-1",
        "tfexec.gpu.compute_capability": "9.0",
        "tfexec.gpu.memory_mb": "81559",
        "tfexec.gpu.driver": "575.57.08",
        "tfexec.gpu.driver_cuda": "12.9",
    }


def test_of_several_gpus_only_what_they_share_is_told():
    host = {"gpus": [H100, {**H100, "uuid": "GPU-2", "memory_mb": 95830}], "gpu_driver": DRIVER}
    tags = tags_of(host, tensorflow="2.21.0", keras=None)
    assert tags["tfexec.gpu.name"] == "NVIDIA H100"
    assert tags["tfexec.gpu.driver"] == "575.57.08"
    assert not {"tfexec.gpu.uuid", "tfexec.gpu.memory_mb", "tfexec.keras.version"} & tags.keys()


@pytest.mark.parametrize(
    "host", [{}, {"gpus": [], "gpu_driver": DRIVER, "cpu": {"name": " "}}], ids=["nothing", "no GPU"]
)
def test_what_is_not_there_is_no_tag(host):
    assert tags_of(host, tensorflow="2.21.0", keras=None) == {"tfexec.tf.version": "2.21.0"}


@pytest.mark.parametrize("value", [None, "", "1", "true", "YES", " on "])
def test_the_tags_are_on_unless_switched_off(value):
    assert is_switched_on({} if value is None else {"MLFLOW_TFEXEC_CONTEXT": value})


@pytest.mark.parametrize("value", ["0", "false", "No", " off "])
def test_the_tags_are_switched_off(value, caplog):
    assert not is_switched_on({"MLFLOW_TFEXEC_CONTEXT": value})
    assert not caplog.records


def test_a_value_that_is_neither_switches_off_and_is_told(caplog):
    with caplog.at_level(logging.WARNING):
        assert not is_switched_on({"MLFLOW_TFEXEC_CONTEXT": "never"})
    assert "MLFLOW_TFEXEC_CONTEXT='never'" in caplog.text


def test_whatever_fails_leaves_out_only_what_it_would_have_told(monkeypatch, fresh):
    from mlflow_tfexec.measurement import environment

    def fail(*_):
        raise RuntimeError("broken")

    monkeypatch.setattr(environment, "tensorflow_version", lambda: "2.21.0")
    monkeypatch.setattr(environment, "describe_host", fail)
    monkeypatch.setattr(environment, "package_version", fail)
    assert environment_tags() == {"tfexec.tf.version": "2.21.0"}


def test_an_interruption_is_not_swallowed_and_the_next_run_asks_again(monkeypatch, fresh):
    from mlflow_tfexec.measurement import environment

    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr(environment, "tensorflow_version", interrupt)
    with pytest.raises(KeyboardInterrupt):
        environment_tags()
    monkeypatch.setattr(environment, "tensorflow_version", lambda: None)
    assert tags_module.environment_tags() == {}
