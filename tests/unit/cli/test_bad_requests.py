"""Requests that cannot be right are refused in a line or two, before anything is started, and leave nothing behind."""

import os

import pytest
from bad_files import make_files
from bad_requests import REFUSED_AT_ONCE, REFUSED_BY_WORKERS, SECRETS

from mlflow_tfexec.cli import app


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    directory = tmp_path_factory.mktemp("files")
    make_files(directory)
    return directory


def test_there_are_a_hundred_of_them_each_once():
    names = [one.name for one in (*REFUSED_AT_ONCE, *REFUSED_BY_WORKERS)]
    assert len(names) >= 100
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("request_", REFUSED_AT_ONCE, ids=lambda one: one.name)
def test_it_is_refused_at_once(request_, files, tmp_path, monkeypatch, capfd):
    def started(*_):
        raise AssertionError("a worker was started")

    store = tmp_path / "store" / "mlflow.db"
    monkeypatch.setattr("mlflow_tfexec.session.crew.Crew.start", started)
    monkeypatch.setenv("MLFLOW_TFEXEC_SPOOL", str(tmp_path / "spool"))
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{store}")
    monkeypatch.chdir(tmp_path)
    before = sorted(os.walk(files))

    code = app.run(request_.command(files))

    out, err = capfd.readouterr()
    assert code == request_.exit_code, err
    assert out == ""
    assert 1 <= len(err.splitlines()) <= 2
    assert all(line.isprintable() for line in err.splitlines())
    assert "should not happen" not in err
    for word in request_.words:
        assert word in err
    for secret in SECRETS:
        assert secret not in err
    assert not (tmp_path / "spool").exists() or list((tmp_path / "spool").iterdir()) == []
    assert not store.parent.exists()
    assert sorted(os.walk(files)) == before
