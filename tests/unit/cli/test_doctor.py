"""`doctor` as a command: what it asks, what it prints where, how it ends. TensorFlow is made up."""

import json
import os
import socket
from pathlib import Path

import pytest
from machines import answer

from mlflow_tfexec.cli import app
from mlflow_tfexec.tracking.reachability import Reachability

ANSWERS = Reachability("http://mlflow.example:5000")


@pytest.fixture
def doctor(monkeypatch, capsys, tmp_path):
    """Run the command on this machine, with TensorFlow's answer and MLflow's as given."""
    for name in [name for name in os.environ if name.startswith(("MLFLOW_", "TF_", "XLA_", "KERAS_"))]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)

    def run(*arguments, tensorflow=None, tracking=ANSWERS):
        class Probe:
            def answer(self, timeout_s, said):
                said(f"waiting {timeout_s:g} s")
                return tensorflow or answer()

        class Started:
            def __enter__(self):
                return Probe()

            def __exit__(self, *_):
                return None

        monkeypatch.setattr("mlflow_tfexec.cli.doctor_facts.tensorflow_probe", Started)
        if tracking is not None:
            monkeypatch.setattr("mlflow_tfexec.tracking.reachability.reach", lambda **_: tracking)
        code = app.run(["doctor", "--spool-dir", str(tmp_path / "spool"), *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_json_stands_alone_on_standard_output_and_progress_beside_it(doctor):
    code, out, err = doctor("--format", "json", "--timeout", "7")

    assert code == 0
    assert json.loads(out)["ready"] is True
    assert "mlflow-tfexec: waiting 7 s\n" in err


def test_the_text_ends_with_the_line_to_type(doctor):
    code, out, _ = doctor()

    assert code == 0
    assert "A benchmark can run here" in out
    assert "-P model=EfficientNetV2S" in out.splitlines()[-1]


def test_nothing_is_left_behind(doctor, tmp_path):
    doctor()

    assert list(tmp_path.iterdir()) == []


def test_what_keeps_a_benchmark_from_running_is_1(doctor):
    hung = answer(until="import", end="no answer within 120 s")

    assert doctor(tensorflow=hung)[0] == 1
    assert doctor(tracking=Reachability("http://x", problem="No answer."))[0] == 1


def test_a_problem_that_costs_one_mode_is_1_only_if_strict(doctor):
    broken = answer(xla={"error": "InternalError: libdevice not found"})

    assert doctor(tensorflow=broken)[0] == 0
    assert doctor("--strict", tensorflow=broken)[0] == 1


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--format", "html"], "No format named 'html'. Known: console, json."),
        (["--timeout", "soon"], "--timeout 'soon' is not a number."),
        (["--timeout", "0"], "--timeout '0' is out of range."),
    ],
)
def test_a_wrong_option_is_one_line_and_2(doctor, arguments, text):
    code, out, err = doctor(*arguments)

    assert (code, out) == (2, "")
    assert text in err


def results(out, check):
    return [result for result in json.loads(out)["results"] if result["check"] == check]


def test_a_server_that_does_not_answer_is_a_problem_without_its_credentials(doctor):
    with socket.socket() as taken:
        # Bound and not listening: nobody else can answer there.
        taken.bind(("127.0.0.1", 0))
        uri = f"http://me:hunter2@127.0.0.1:{taken.getsockname()[1]}"
        code, out, err = doctor("--tracking-uri", uri, "--format", "json", tracking=None)

    (result,) = results(out, "tracking_store")
    assert (code, result["status"], result["blocks"]) == (1, "problem", True)
    assert "Connection refused" in result["found"]
    assert "hunter2" not in out + err


def test_a_database_that_is_not_there_is_not_made(doctor, tmp_path):
    uri = f"sqlite:///{tmp_path / 'new.db'}"
    _, out, _ = doctor("--tracking-uri", uri, "--format", "json", tracking=None)

    (result,) = results(out, "tracking_store")
    assert (result["status"], result["found"]) == (
        "ok",
        f"MLflow will write to {uri}, which the first benchmark creates",
    )
    assert not Path(tmp_path / "new.db").exists()


def test_a_database_of_another_program_is_a_problem(doctor, tmp_path):
    path = tmp_path / "other.db"
    path.write_bytes(b"no database at all, but long enough to be read as the header of one: " * 9)
    _, out, _ = doctor("--tracking-uri", f"sqlite:///{path}", "--format", "json", tracking=None)

    assert results(out, "tracking_store")[0]["status"] == "problem"


def test_flags_are_shown_without_credentials(doctor, monkeypatch):
    # TensorFlow sets some of its own at import, and other tests may have imported it here.
    for variable in [name for name in os.environ if name.startswith(("KMP_", "TF"))]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=https://me:hunter2@bucket.example/")
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    _, out, err = doctor("--format", "json")

    assert [result["found"] for result in results(out, "flags")] == [
        "KERAS_BACKEND=jax",
        "XLA_FLAGS=--xla_dump_to=https://***@bucket.example/",
    ]
    assert "hunter2" not in out + err


def test_an_mlflow_that_cannot_be_imported_is_a_finding(doctor, monkeypatch):
    def absent(**_):
        raise ImportError("No module named 'mlflow'")

    monkeypatch.setattr("mlflow_tfexec.tracking.reachability.reach", absent)
    code, out, _ = doctor("--format", "json", tracking=None)

    assert code == 1
    assert results(out, "tracking_store")[0]["found"] == "MLflow cannot be imported: No module named 'mlflow'"
