"""TensorFlow is asked in a process of its own: nothing that it does at import costs more than its answer."""

import subprocess
import sys

import psutil
import pytest
from sessions import REPOSITORY

from mlflow_tfexec.diagnosis import _probe
from mlflow_tfexec.diagnosis._log import fatal_message
from mlflow_tfexec.diagnosis._steps import DOING
from mlflow_tfexec.worker.probe import STEPS

PATIENCE_S = 60.0


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """Ask a `tensorflow` that runs *code* at import; a Keras that does nothing stands beside it."""

    def run(code, *, timeout_s=PATIENCE_S):
        (tmp_path / "tensorflow.py").write_text(code, encoding="utf-8")
        (tmp_path / "keras.py").write_text("", encoding="utf-8")
        monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{REPOSITORY}")
        said = []
        with _probe.tensorflow_probe() as probe:
            pid = probe._process.pid
            answer = probe.answer(timeout_s, said.append)
        assert not psutil.pid_exists(pid)
        return answer, said

    return run


def test_the_steps_that_are_waited_for_are_those_that_are_taken():
    assert list(DOING) == list(STEPS)


def test_an_absent_tensorflow_is_an_answer(ask):
    answer, said = ask("raise ModuleNotFoundError(\"No module named 'tensorflow'\", name='tensorflow')")

    assert answer.steps == {"import": {"error": "ModuleNotFoundError: No module named 'tensorflow'"}}
    assert answer.unanswered is None
    assert said == ["importing TensorFlow"]


def test_an_import_that_hangs_is_ended(ask):
    answer, _ = ask("import time; time.sleep(600)", timeout_s=0.5)

    assert (answer.steps, answer.unanswered, answer.end) == ({}, "import", "no answer within 0.5 s")


def test_an_import_that_kills_its_process_leaves_its_last_words(ask):
    line = "F0000 00:00:1 2 parse_flags_from_env.cc:234] Unknown flag in TF_XLA_FLAGS: --x"
    answer, _ = ask(f"import os, sys; print({line!r}, file=sys.stderr, flush=True); os.abort()")

    assert (answer.unanswered, answer.end) == ("import", "ended by signal 6 (SIGABRT)")
    assert fatal_message(answer.log) == "Unknown flag in TF_XLA_FLAGS: --x"


def test_an_import_that_leaves_the_process_is_an_answer(ask):
    answer, _ = ask("raise SystemExit(3)")

    assert answer.steps == {"import": {"error": "sys.exit(3) was called"}}


def test_chatter_is_no_answer(ask):
    answer, _ = ask(
        'import os\nos.write(1, b\'\\x1etfexec {"reply": "Hello"}\\n\')\n'
        "print('hello')\nraise ImportError('after all')"
    )

    assert answer.steps == {"import": {"error": "ImportError: after all"}}
    assert "hello" in answer.log


def test_a_step_that_fails_is_the_last(ask):
    answer, said = ask("config = None\n")

    assert list(answer.steps) == ["import", "driver", "device"]
    assert "error" in answer.steps["device"]
    assert said[-1] == "choosing a device"


def test_the_parent_imports_no_tensorflow():
    """In an interpreter of its own: other tests may have brought TensorFlow into this one."""
    modules = "mlflow_tfexec.cli.doctor_facts, mlflow_tfexec.cli.doctor_text, mlflow_tfexec.diagnosis._gather"
    code = f"import sys, mlflow_tfexec.cli.doctor, {modules}; sys.exit('tensorflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, check=False).returncode == 0
