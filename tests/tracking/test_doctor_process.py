"""`doctor` as a process of its own, with a TensorFlow that is absent, hangs, or tells who imported it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).parents[2]
PATIENCE_S = 120

pytestmark = [pytest.mark.mlflow, pytest.mark.skipif(os.name != "posix", reason="signals")]


@pytest.fixture
def start(tmp_path, store):
    """Start the command beside a `tensorflow` that runs *code* at import."""
    processes = []

    def run(code, *arguments):
        fake = tmp_path / "fake"
        fake.mkdir()
        (fake / "tensorflow.py").write_text(code, encoding="utf-8")
        (fake / "keras.py").write_text("", encoding="utf-8")
        environment = os.environ | {
            "PYTHONPATH": f"{fake}:{ROOT}",
            "MLFLOW_TRACKING_URI": store,
            "MLFLOW_EXPERIMENT_NAME": "mine",
            "MLFLOW_TFEXEC_SPOOL": str(tmp_path / "spool"),
            "NOTE": str(tmp_path / "imported"),
            "TMPDIR": str(tmp_path),
        }
        processes.append(
            subprocess.Popen(
                [sys.executable, "-m", "mlflow_tfexec", "doctor", *arguments],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        return processes[-1]

    yield run
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.wait()


NOTE = "import os\nwith open(os.environ['NOTE'], 'a') as note:\n    print(os.getpid(), file=note)\n"


def importers(tmp_path):
    path = tmp_path / "imported"
    return [int(pid) for pid in path.read_text(encoding="utf-8").split()] if path.exists() else []


def test_an_absent_tensorflow_is_a_diagnosis_and_no_traceback(start, tmp_path):
    absent = "raise ModuleNotFoundError(\"No module named 'tensorflow'\", name='tensorflow')\n"
    process = start(NOTE + absent, "--format", "json")
    out, err = process.communicate(timeout=PATIENCE_S)
    (result,) = [result for result in json.loads(out)["results"] if result["check"] == "tensorflow"]

    assert (process.returncode, result["found"]) == (1, "TensorFlow is not installed in this environment")
    assert "Traceback" not in out + err
    (importer,) = importers(tmp_path)
    assert importer != process.pid


def test_an_import_that_hangs_costs_its_time_limit_and_one_answer(start, tmp_path):
    process = start(NOTE + "import time\ntime.sleep(600)\n", "--timeout", "1")
    out, err = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 1
    assert "TensorFlow was ended while importing TensorFlow: no answer within 1 s" in out
    assert "MLflow answers at sqlite:///" in out
    assert "mlflow-tfexec: importing TensorFlow\n" in err
    assert not any(psutil.pid_exists(pid) for pid in importers(tmp_path))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_leaves_nothing_running_and_nothing_lying_about(start, tmp_path, number):
    process = start(NOTE + "import time\ntime.sleep(600)\n")
    until = time.monotonic() + PATIENCE_S
    while not importers(tmp_path) and time.monotonic() < until:
        time.sleep(0.05)
    (importer,) = importers(tmp_path)
    # The wait for TensorFlow is the part that is worth interrupting.
    for line in process.stderr:
        if "importing TensorFlow" in line:
            break
    process.send_signal(number)
    process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 130
    assert not psutil.pid_exists(importer)
    assert not list(tmp_path.glob("mlflow-tfexec-doctor-*"))
