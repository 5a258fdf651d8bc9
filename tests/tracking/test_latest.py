"""`check --against latest` on a real store."""

import dataclasses

import pytest
from recordings import SEED_TABLE_MS, make_recording, to_text, write_recording

from mlflow_tfexec.cli import app
from mlflow_tfexec.cli.latest import latest_before
from mlflow_tfexec.statistics.judge import judge
from mlflow_tfexec.tracking.writer import log_benchmark

pytestmark = pytest.mark.mlflow


def recording(name, hour, *, times_ms=SEED_TABLE_MS, **more):
    """Make a benchmark named by one letter that began at *hour*."""
    made = make_recording(
        times_ms, **{"benchmark_id": name * 32, "seed": ord(name), "launches": 5, "rounds": 3, **more}
    )
    begun = made.header.model_copy(update={"created": f"2026-01-31T{hour:02}:00:00Z"})
    return dataclasses.replace(made, header=begun)


@pytest.fixture
def log(mine):
    def write(one):
        return log_benchmark(one, judge(one), mine, artifacts={"recording.jsonl": to_text(one).encode()}, note="")

    return write


def test_the_newest_earlier_one_of_the_same_kind_is_found(store, log, environment):
    here = {"environment": environment}
    elsewhere = {"environment": environment | {"cpu": {"name": "Other"}}}
    for one in (
        recording("a", 8, **here),
        recording("b", 9, **here),
        recording("c", 10, batch_size=8, **here),
        recording("d", 10, **elsewhere),
        recording("e", 10, model="ResNet50", **here),
        recording("f", 13, **here),
    ):
        log(one)
    new = recording("n", 12, **here)
    log(new)

    found = latest_before(new, tracking_uri=store, any_machine=False)

    assert found.header.benchmark_id == "b" * 32


def test_a_run_is_checked_against_the_one_before_it(store, log, tmp_path, capsys):
    log(recording("a", 8))
    slower = {mode: time_ms * 1.1 for mode, time_ms in SEED_TABLE_MS.items()}
    run_id = log(recording("n", 12, times_ms=slower)).run_id

    code = app.run(["check", run_id, "--against", "latest", "--tracking-uri", store])

    assert code == 3
    assert f"against benchmark {'a' * 32}" in capsys.readouterr().out


def test_in_an_empty_store_there_is_none_and_the_request_is_wrong(store, tmp_path, capsys):
    path = write_recording(recording("n", 12), tmp_path)

    code = app.run(["check", str(path), "--against", "latest", "--tracking-uri", store])

    assert code == 2
    assert "No earlier benchmark of 'EfficientNetV2S'" in capsys.readouterr().err
