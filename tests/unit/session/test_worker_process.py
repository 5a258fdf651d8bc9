"""One worker process as the parent sees it."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time

import psutil
import pytest
from sessions import make_spec

from mlflow_tfexec.protocol import Built, Finished, Hello, Request, Start
from mlflow_tfexec.session.process import ModeFailed, WorkerProcess

# No test waits this long unless it fails.
PATIENCE_S = 30


@pytest.fixture
def start(bench):
    """Start a worker that behaves as asked, and say hello to it."""
    workers = []

    def start_one(**behaviour):
        bench.behave(graph=behaviour)
        worker = WorkerProcess("graph", bench.root / "log", {})
        workers.append(worker)
        worker.send(Request(do="start", start=Start(spec=make_spec(), mode="graph", scratch=str(bench.root))))
        worker.receive(Hello, deadline_s=PATIENCE_S)
        return worker

    yield start_one
    for worker in workers:
        worker.kill()


def command(monkeypatch, code):
    """Put a worker in place that runs *code*."""
    monkeypatch.setattr("mlflow_tfexec.session.process.WORKER_COMMAND", (sys.executable, "-c", code))


def test_a_worker_that_does_not_answer_in_time_is_ended(start):
    worker = start(hangs="build")
    worker.send(Request(do="build"))

    with pytest.raises(ModeFailed) as caught:
        worker.receive(Built, deadline_s=0.1)

    assert (caught.value.status, caught.value.wrong_request) == ("timeout", False)
    assert was_ended(worker)


def test_a_worker_that_ignores_termination_is_ended_with_the_processes_it_started(start):
    worker = start(hangs="build", ignores_sigterm=True, has_child=True)
    child = psutil.Process(int(re.search(r"child (\d+)", worker.log_tail())[1]))
    worker.send(Request(do="build"))
    psutil.Process(worker.pid).terminate()

    worker.kill()

    assert was_ended(worker)
    assert gone(child)


def was_ended(worker):
    """Say whether a worker is gone and did not wait for its own end."""
    return not psutil.pid_exists(worker.pid) and "awake again" not in worker.log_tail()


def gone(process):
    """Wait until a process has ended, without asking how; a zombie has."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        try:
            if process.status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.01)
    return False


def test_a_worker_that_dies_inside_a_message_has_crashed_and_is_not_waited_for(start):
    worker = start(half_reply="build")
    worker.send(Request(do="build"))

    with pytest.raises(ModeFailed) as caught:
        worker.receive(Built, deadline_s=PATIENCE_S)

    assert (caught.value.status, caught.value.reason) == ("crashed", "ended with exit code 0")


def test_a_dead_worker_is_noticed_by_the_next_receive_and_not_by_send(start):
    worker = start()
    process = psutil.Process(worker.pid)
    process.kill()
    assert gone(process)

    worker.send(Request(do="build"))
    worker.send(Request(do="build"))

    with pytest.raises(ModeFailed, match=r"ended by signal 9 \(SIGKILL\)"):
        worker.receive(Built, deadline_s=PATIENCE_S)


def test_an_answer_to_another_question_is_a_crash(start):
    worker = start()
    worker.send(Request(do="finish"))

    with pytest.raises(ModeFailed, match="answered Finished where Built was due"):
        worker.receive(Built, deadline_s=PATIENCE_S)


@pytest.mark.parametrize(
    ("kills", "status"), [([0, 1], "oom"), ([1, 1], "crashed"), ([None, None], "crashed"), ([None, 1], "oom")]
)
def test_a_kill_counted_by_the_control_group_is_out_of_memory(monkeypatch, tmp_path, kills, status):
    counts = iter(kills)
    monkeypatch.setattr("mlflow_tfexec.session.process.oom_kills", lambda: next(counts))
    command(monkeypatch, "import os; os.kill(os.getpid(), 9)")
    worker = WorkerProcess("graph", tmp_path / "log", {})

    with pytest.raises(ModeFailed) as caught:
        worker.receive(Hello, deadline_s=PATIENCE_S)

    assert caught.value.status == status


def test_a_worker_that_does_not_end_by_itself_is_ended(start, monkeypatch):
    monkeypatch.setattr("mlflow_tfexec.session.process._END_S", 0.05)
    worker = start(lingers=True)
    worker.send(Request(do="finish"))
    worker.receive(Finished, deadline_s=PATIENCE_S)

    worker.wait_end()

    assert was_ended(worker)


def test_what_a_worker_started_ends_with_it(start):
    worker = start(has_child=True)
    child = psutil.Process(int(re.search(r"child (\d+)", worker.log_tail())[1]))
    worker.send(Request(do="finish"))
    worker.receive(Finished, deadline_s=PATIENCE_S)

    worker.wait_end()

    assert was_ended(worker)
    assert gone(child)


def child_of(worker):
    """Find what the last worker has started: all of them write into one log."""
    return psutil.Process(int(re.findall(r"child (\d+)", worker.log_tail())[-1]))


@pytest.fixture
def bystander():
    """A process of ours that no worker has started."""
    process = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"], start_new_session=True)
    yield process
    process.kill()
    process.wait()


@pytest.mark.parametrize("kind", ["marked", "bare", "orphan"])
def test_a_process_in_a_session_of_its_own_ends_with_the_worker_that_is_ended(start, kind):
    worker = start(has_daemon=kind)
    child = child_of(worker)

    worker.kill()

    assert was_ended(worker)
    assert gone(child)


@pytest.mark.parametrize("kind", ["marked", "orphan"])
@pytest.mark.parametrize("ending", [{}, {"exits": {"finish": 77}}, {"signals": {"finish": 9}}], ids=str)
def test_a_process_in_a_session_of_its_own_ends_with_the_worker_that_has_ended_by_itself(start, kind, ending):
    worker = start(has_daemon=kind, **ending)
    child = child_of(worker)
    worker.send(Request(do="finish"))
    with contextlib.suppress(ModeFailed):
        worker.receive(Finished, deadline_s=PATIENCE_S)

    worker.wait_end()

    assert gone(child)


def test_only_what_a_worker_started_ends_with_it(start, bystander):
    ended = start(has_daemon="orphan")
    child = child_of(ended)
    living = start(has_daemon="orphan")

    ended.kill()

    assert gone(child)
    assert bystander.poll() is None
    assert child_of(living).is_running()
    assert psutil.Process(living.pid).is_running()


def test_a_worker_that_closes_its_channel_and_lives_has_crashed(monkeypatch, tmp_path):
    monkeypatch.setattr("mlflow_tfexec.session.process._END_S", 0.05)
    command(monkeypatch, "import os, time; os.close(1); time.sleep(60)")
    worker = WorkerProcess("graph", tmp_path / "log", {})

    with pytest.raises(ModeFailed, match="closed its channel without a word"):
        worker.receive(Hello, deadline_s=PATIENCE_S)

    assert not psutil.pid_exists(worker.pid)


def test_a_failure_that_a_worker_reports_is_passed_on_without_credentials(monkeypatch, tmp_path):
    body = {"status": "run_failed", "reason": "cannot fetch https://me:hunter2@host/x", "wrong_request": True}
    message = json.dumps({"reply": "Failure", "body": body})
    command(monkeypatch, f"print('\\x1etfexec ' + {message!r})")
    worker = WorkerProcess("graph", tmp_path / "log", {})

    with pytest.raises(ModeFailed) as caught:
        worker.receive(Hello, deadline_s=PATIENCE_S)
    worker.wait_end()

    assert (caught.value.status, caught.value.wrong_request) == ("run_failed", True)
    assert caught.value.reason == "cannot fetch https://***@host/x"


def test_the_tail_of_a_log_is_its_last_30_lines_without_credentials(monkeypatch, tmp_path):
    command(
        monkeypatch,
        "import sys; [print(n, file=sys.stderr) for n in range(100)]; print('password=hunter2', file=sys.stderr)",
    )
    worker = WorkerProcess("graph", tmp_path / "log", {})
    worker.wait_end()

    lines = worker.log_tail().splitlines()
    assert (len(lines), lines[0], lines[-2], lines[-1]) == (30, "71", "99", "password=***")


def test_a_worker_that_printed_nothing_has_no_tail(monkeypatch, tmp_path):
    command(monkeypatch, "")
    worker = WorkerProcess("graph", tmp_path / "log", {})
    worker.wait_end()

    assert worker.log_tail() is None


def test_ending_a_worker_twice_is_harmless(start):
    worker = start()

    worker.kill()
    worker.kill()

    assert not psutil.pid_exists(worker.pid)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only a fork inherits the channel")
def test_a_dead_worker_is_noticed_though_a_fork_of_it_holds_the_channel(monkeypatch, tmp_path):
    pid_file = tmp_path / "fork"
    command(
        monkeypatch,
        f"""
import os, pathlib, signal, time
if os.fork() == 0:
    os.setsid()
    pathlib.Path({str(pid_file)!r}).write_text(str(os.getpid()))
    time.sleep(120)
    os._exit(0)
while not pathlib.Path({str(pid_file)!r}).exists():
    time.sleep(0.01)
os.kill(os.getpid(), signal.SIGKILL)
""",
    )
    worker = WorkerProcess("graph", tmp_path / "log", {})
    try:
        with pytest.raises(ModeFailed, match="SIGKILL"):
            worker.receive(Hello, deadline_s=PATIENCE_S)
    finally:
        os.kill(int(pid_file.read_text()), signal.SIGKILL)
        worker.kill()
