"""Against a real tracking server."""

import http.server
import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import requests
from recordings import make_recording, to_text

import mlflow_tfexec
from mlflow_tfexec.errors import LoggingFailed
from mlflow_tfexec.statistics.judge import judge
from mlflow_tfexec.tracking.destination import Destination, resolve
from mlflow_tfexec.tracking.reader import find_recording
from mlflow_tfexec.tracking.writer import log_benchmark

pytestmark = pytest.mark.mlflow


@pytest.fixture
def sent(monkeypatch):
    """Give the list of (method, path) of every HTTP request, filled as they are sent."""
    paths = []
    send = requests.Session.send

    def counted(session, request, **kwargs):
        paths.append((request.method, request.path_url.split("?")[0]))
        return send(session, request, **kwargs)

    monkeypatch.setattr(requests.Session, "send", counted)
    return paths


def write(recording, destination, artifacts=None):
    files = artifacts or {"recording.jsonl": to_text(recording).encode(), "report.md": b"# report\n"}
    return log_benchmark(recording, judge(recording), destination, artifacts=files, note="note")


def to(server, experiment):
    return resolve(tracking_uri=server, experiment=experiment, environ={})


def test_a_benchmark_goes_to_the_server_and_comes_back(server, snapshot, environment):
    recording = make_recording(environment=environment)
    logged = write(recording, to(server, "whole"))
    runs = snapshot(server, logged.experiment_id, recording.header.benchmark_id)
    assert {run["status"] for run in runs.values()} == {"FINISHED"}
    assert [path for path, _ in runs["tfexec EfficientNetV2S"]["artifacts"]] == [
        "tfexec/recording.jsonl",
        "tfexec/report.md",
    ]
    assert logged.url == f"{server}/#/experiments/{logged.experiment_id}/runs/{logged.run_id}"
    assert requests.get(logged.url, timeout=10).status_code == 200
    assert find_recording(logged.child_run_ids["xla"], tracking_uri=server) == recording


def test_requests_stay_within_eight_per_mode_and_ten_per_benchmark(server, sent):
    recording = make_recording(calls=200)  # 6,000 calls per mode: the series is at its longest
    files = dict.fromkeys(("recording.jsonl", "environment.json", "report.md", "report.html", "latency.png"), b"x")
    destination = to(server, "budget")
    write(recording, destination, files)
    modes = len(recording.spec.modes)
    creates = sum(path.endswith("/runs/create") for _, path in sent)
    batches = sum(path.endswith("/runs/log-batch") for _, path in sent)
    assert creates == modes + 1
    assert batches == 2 * modes + 1  # 1,000 points and a summary are two requests
    assert len(sent) <= 8 * modes + 10
    assert len(sent) <= 4 * modes + 18


def test_writing_again_only_asks(server, sent):
    recording = make_recording({"eager": 10.0, "xla": 5.0}, benchmark_id="again")
    write(recording, to(server, "again"))
    destination = to(server, "again")
    sent.clear()
    write(recording, destination)
    assert sent == [("POST", "/api/2.0/mlflow/runs/search")]


def test_an_answer_lost_anywhere_leaves_no_second_copy(server, monkeypatch, snapshot):
    send = requests.Session.send
    count = {"sent": 0, "lose": 0}

    def losing(session, request, **kwargs):
        count["sent"] += 1
        response = send(session, request, **kwargs)
        if count["sent"] == count["lose"]:
            raise requests.ConnectionError("Connection reset by peer")
        return response

    monkeypatch.setattr(requests.Session, "send", losing)
    destination = to(server, "lossy")
    expected = {"tfexec EfficientNetV2S": "FINISHED", "eager": "FINISHED", "xla": "FINISHED"}
    reasons = set()
    for lose in range(1, 100):
        recording = make_recording({"eager": 10.0, "xla": 5.0}, launches=1, benchmark_id=f"lossy-{lose}")
        count.update(sent=0, lose=lose)
        try:
            logged = write(recording, destination)
        except LoggingFailed as error:
            reasons.add("Connection reset by peer" in str(error))
        reached = count["sent"]
        count.update(lose=0)
        logged = write(recording, destination)
        runs = snapshot(server, logged.experiment_id, recording.header.benchmark_id)
        assert {name: run["status"] for name, run in runs.items()} == expected
        if reached < lose:
            break
    assert reasons == {True}
    assert 12 < lose < 99  # every request of a whole attempt was lost once


def test_a_run_is_not_created_over_and_over_when_no_answer_comes():
    created = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            if self.path.endswith("/runs/create"):
                created.append(self.path)
                return  # closes the connection without an answer
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as deaf:
        threading.Thread(target=deaf.serve_forever, daemon=True).start()
        destination = Destination(tracking_uri=f"http://127.0.0.1:{deaf.server_port}", experiment_id="1")
        with pytest.raises(LoggingFailed):
            write(make_recording(), destination)
        deaf.shutdown()
    assert len(created) == 2  # once, and once more after a search did not find the first


def test_credentials_in_the_uri_are_used_and_never_written(server, sent):
    host = server.removeprefix("http://")
    recording = make_recording({"eager": 10.0, "xla": 5.0}, benchmark_id="secret")
    destination = to(f"http://admin:hunter22@{host}", "secret")
    sent_headers = []
    session_send = requests.Session.send
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            requests.Session,
            "send",
            lambda session, request, **kwargs: (
                sent_headers.append(request.headers.get("Authorization")) or session_send(session, request, **kwargs)
            ),
        )
        logged = write(recording, destination)
    assert set(sent_headers) == {"Basic YWRtaW46aHVudGVyMjI="}
    runs = requests.post(
        f"{server}/api/2.0/mlflow/runs/search", json={"experiment_ids": [logged.experiment_id]}, timeout=10
    )
    assert logged.run_id in runs.text
    for text in (runs.text, json.dumps(destination.to_json()), repr(destination), repr(logged)):
        assert "hunter22" not in text
        assert "admin" not in text


SCRIPT = """
import sys, threading
from mlflow_tfexec.tracking import keys, credentials, content
assert "mlflow" not in sys.modules and "pandas" not in sys.modules
from mlflow_tfexec.tracking.destination import resolve
from mlflow_tfexec.tracking.writer import log_benchmark
from mlflow_tfexec.tracking.reader import find_recording
assert "mlflow" not in sys.modules
sys.path.insert(0, sys.argv[2])
from recordings import make_recording, to_text
from mlflow_tfexec.statistics.judge import judge
destination = resolve(tracking_uri=sys.argv[1], experiment="quiet", environ={})
assert threading.active_count() == 1, threading.enumerate()
recording = make_recording({"eager": 10.0, "xla": 5.0}, benchmark_id=sys.argv[3])
files = {"recording.jsonl": to_text(recording).encode()}
logged = log_benchmark(recording, judge(recording), destination, artifacts=files, note="")
assert find_recording(logged.run_id, tracking_uri=sys.argv[1]) == recording
assert "tensorflow" not in sys.modules and "keras" not in sys.modules
print("done")
"""


@pytest.mark.parametrize("kind", ["server", "new database"])
def test_nothing_is_printed_no_thread_is_left_for_measuring_and_tensorflow_is_not_imported(server, tmp_path, kind):
    uri = server if kind == "server" else f"sqlite:///{tmp_path / 'new.db'}"
    package = Path(mlflow_tfexec.__file__).parent.parent
    script = tmp_path / "script.py"
    script.write_text(f"import sys; sys.path.insert(0, {str(package)!r})\n{SCRIPT}")
    command = [sys.executable, str(script), uri, str(package / "tests"), "quiet"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
