"""A real tracking server with MLflow's UI, on this machine alone."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Before the first import of MLflow: tests report to nobody.
os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"


@contextmanager
def serving(directory: Path, database: Path) -> Iterator[str]:
    """Serve the SQLite store *database* on a free port; artifacts go below *directory*. Yields the server's URI.

    Raises:
        RuntimeError: the server ended at once, or did not start within a minute.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    command += ["--backend-store-uri", f"sqlite:///{database}"]
    command += ["--artifacts-destination", str(directory / "artifacts")]
    environ = {**os.environ, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=directory, env=environ, stdout=log, stderr=log, start_new_session=os.name == "posix"
        )
    try:
        _wait_for(f"http://127.0.0.1:{port}/health", process, directory / "log")
        yield f"http://127.0.0.1:{port}"
    finally:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGTERM)
        else:
            process.terminate()
        process.wait(timeout=30)


def _wait_for(url: str, process: subprocess.Popen, log: Path) -> None:
    for _ in range(600):
        if process.poll() is not None:
            raise RuntimeError(f"The server ended at once:\n{log.read_text()[-2000:]}")
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"The server did not start within a minute:\n{log.read_text()[-2000:]}")
