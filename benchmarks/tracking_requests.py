"""How many requests one benchmark makes to an HTTP tracking server, for few samples and for many.

Starts a tracking server on loopback, logs synthetic recordings of five modes to it, and counts what our process sends.

    python benchmarks/tracking_requests.py
"""

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from recordings import SEED_TABLE_MS, make_recording, to_text

from mlflow_tfexec.statistics.judge import judge
from mlflow_tfexec.tracking.destination import resolve
from mlflow_tfexec.tracking.writer import log_benchmark

START_S = 60.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(uri: str) -> None:
    until_s = time.monotonic() + START_S
    while time.monotonic() < until_s:
        try:
            urllib.request.urlopen(f"{uri}/health", timeout=1).close()
        except OSError:
            time.sleep(0.3)
        else:
            return
    sys.exit("the tracking server did not start")


def count(uri: str, *, calls: int) -> tuple[int, float]:
    """Log one benchmark; return the requests it took, those of the check before measuring included, and its seconds."""
    import requests

    sent = 0
    plain_send = requests.Session.send

    def counting_send(self, request, **options):  # noqa: ANN001, ANN003, ANN202 - the signature is requests' own
        nonlocal sent
        sent += 1
        return plain_send(self, request, **options)

    requests.Session.send = counting_send
    try:
        recording = make_recording(calls=calls, benchmark_id=uuid.uuid4().hex)
        start_s = time.perf_counter()
        destination = resolve(tracking_uri=uri, experiment=None, environ=os.environ)
        artifacts = {"recording.jsonl": to_text(recording).encode()}
        artifacts |= dict.fromkeys(("environment.json", "report.md", "report.html", "latency.png"), b"x")
        log_benchmark(recording, judge(recording), destination, artifacts=artifacts, note="benchmark")
        return sent, time.perf_counter() - start_s
    finally:
        requests.Session.send = plain_send


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        port = free_port()
        uri = f"http://127.0.0.1:{port}"
        backend, artifacts = f"sqlite:///{directory}/mlflow.db", f"{directory}/artifacts"
        place = ["--backend-store-uri", backend, "--artifacts-destination", artifacts]
        address = ["--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
        server = subprocess.Popen(
            [sys.executable, "-m", "mlflow", "server", *address, *place],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            wait_for(uri)
            modes = len(SEED_TABLE_MS)
            for calls in (5, 33, 1000):
                sent, seconds = count(uri, calls=calls)
                allowed = 8 * modes + 10
                print(f"{30 * calls:>6} samples a mode: {sent} requests of {allowed} allowed, {seconds:.1f} s")
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
