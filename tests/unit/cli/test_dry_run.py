"""`run --dry-run` from its command line to its plan, with workers that need no TensorFlow."""

import json
import tempfile

import pytest
from sessions import Bench

from mlflow_tfexec.cli import app


@pytest.fixture
def dry_run(tmp_path, monkeypatch, capsys):
    bench = Bench(tmp_path, monkeypatch)
    bench.behave()
    monkeypatch.setenv("MLFLOW_TFEXEC_SPOOL", str(tmp_path / "spool"))
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def run(*arguments):
        code = app.run(["run", "ResNet50", "--modes", "eager,graph,xla", "--dry-run", "--timeout", "50", *arguments])
        return code, *capsys.readouterr()

    run.bench, run.root = bench, tmp_path
    return run


def test_every_preset_is_foreseen_with_its_time_and_how_closely_it_looks(dry_run):
    code, out, _ = dry_run()

    assert code == 0
    lines = out.splitlines()
    assert lines[0].startswith("ResNet50: a pilot of 2 launches × 5 rounds took ")
    rows = {
        line.split()[0]: line
        for line in lines
        if line.split()[:1] and line.split()[0] in {"quick", "standard", "rigorous"}
    }
    assert "1 × 10" in rows["quick"]
    assert rows["quick"].endswith("this launch only")
    assert "3 to 5 × 10" in rows["standard"]
    assert "5 to 20 × 20" in rows["rigorous"]
    assert rows["standard"].count("±") == rows["rigorous"].count("±") == 2


def test_what_is_asked_for_is_foreseen_beside_the_presets(dry_run):
    _, out, _ = dry_run("--launches", "7", "--rounds", "12")

    [row] = [line for line in out.splitlines() if line.startswith("as asked")]
    assert "7 × 12" in row


def test_a_preset_asked_for_is_not_shown_twice(dry_run):
    assert "as asked" not in dry_run("--preset", "rigorous")[1]


def test_json_holds_the_plan_alone(dry_run):
    code, out, _ = dry_run("--format", "json")

    plan = json.loads(out)
    assert code == 0
    assert plan["pilot_s"] > 0
    assert 5 <= plan["rounds"] <= 50
    assert [preset["name"] for preset in plan["presets"]] == ["quick", "standard", "rigorous"]
    for preset in plan["presets"]:
        least, longest = preset["seconds"]
        assert 0 < least <= longest


def test_two_launches_are_measured_and_nothing_is_kept(dry_run):
    dry_run("--preset", "rigorous", "--time-budget", "1")

    assert dry_run.bench.started() == sorted(
        f"{mode}.{launch}" for mode in ("eager", "graph", "xla") for launch in (0, 1)
    )
    assert not (dry_run.root / "spool").exists()
    assert [path.name for path in dry_run.root.iterdir() if path.name.startswith("mlflow-tfexec-")] == []


def test_only_text_and_json_are_offered(dry_run):
    code, out, err = dry_run("--format", "html")

    assert (code, out) == (2, "")
    assert err == "mlflow-tfexec: --dry-run has no format 'html'. Give one of: console, json.\n"
    assert not dry_run.bench.starts.exists() or dry_run.bench.started() == []


def test_a_pilot_that_loses_every_mode_foresees_nothing(dry_run):
    dry_run.bench.behave(**{mode: {"exits": {"build": 1}} for mode in ("eager", "graph", "xla")})

    code, out, err = dry_run()

    assert (code, out) == (1, "")
    assert err.endswith("The pilot was not measured to its end, so nothing can be foreseen.\n")


def test_a_pilot_tries_no_smaller_batches(dry_run):
    dry_run.bench.behave(xla={"fits": 2})

    dry_run("--batch-size", "8")

    assert [name for name in dry_run.bench.started() if name.startswith("xla")] == ["xla.0"]


def test_an_interruption_keeps_nothing(dry_run, monkeypatch):
    import os
    import signal

    from mlflow_tfexec.session.launch import Launch

    monkeypatch.setattr(Launch, "run", lambda self: os.kill(os.getpid(), signal.SIGINT))

    code, out, err = dry_run()

    assert (code, out) == (130, "")
    assert err.endswith("Interrupted by SIGINT. Nothing was kept.\n")
    assert [path.name for path in dry_run.root.iterdir() if path.name.startswith("mlflow-tfexec-")] == []
