"""The worker's end of the channel, in a process of its own: it takes the standard streams and ends the process."""

import os
import subprocess
import sys

import pytest
from sessions import REPOSITORY, make_spec

from mlflow_tfexec.protocol import Pilot, Request, Start, read_reply, send

PATIENCE_S = 30


@pytest.fixture
def worker():
    """Start a worker that runs the given code behind an open channel named `channel`."""
    processes = []

    def start(code):
        process = subprocess.Popen(
            [sys.executable, "-c", f"from mlflow_tfexec.worker.channel import Channel\n{code}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=REPOSITORY,
            env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()


ANSWER = """
channel = Channel.take_over()
from mlflow_tfexec.protocol import Pilot
request = channel.receive()
channel.reply(Pilot(call_ns=request.start.spec.seed))
"""


def ask(process, seed=5):
    start = Start(spec=make_spec(seed=seed), mode="graph", scratch="")
    send(process.stdin, Request(do="start", start=start))


def test_a_request_is_answered(worker):
    process = worker(ANSWER)
    ask(process, seed=17)

    assert read_reply(process.stdout.readline()) == Pilot(call_ns=17)


def test_lines_that_are_no_requests_are_passed_over(worker):
    process = worker(ANSWER)
    process.stdin.write(b"yes\n\n\x00\xff\n")
    ask(process)

    assert read_reply(process.stdout.readline()) == Pilot(call_ns=5)


def test_prints_of_python_and_c_go_to_standard_error(worker):
    process = worker(
        "import os, sys, ctypes\n"
        "print('before')\n"
        f"{ANSWER}"
        "print('python'); sys.stdout.flush()\n"
        "os.write(1, b'descriptor')\n"
        "libc = ctypes.CDLL(None); libc.puts(b'c library'); libc.fflush(None)\n"
        "os.system('echo a child')\n"
    )
    ask(process)
    # Kept open: closing standard input ends the worker at once.
    errors = process.stderr.read()
    replies = process.stdout.read()

    for words in (b"before", b"python", b"descriptor", b"c library", b"a child"):
        assert words in errors
    assert read_reply(replies) == Pilot(call_ns=5)
    assert process.wait(PATIENCE_S) == 0


def test_standard_input_is_at_its_end(worker):
    process = worker(
        "import os, sys\n"
        f"{ANSWER}"
        "print(os.read(0, 9), sys.stdin.read() == '', file=sys.stderr)\n"
        "try:\n    input()\nexcept EOFError:\n    print('end of file', file=sys.stderr)\n"
    )
    ask(process)

    assert process.stderr.read() == b"b'' True\nend of file\n"


@pytest.mark.parametrize(
    "busy", ["import time; time.sleep(60)", "channel.receive()", "import threading; threading.Event().wait()"]
)
def test_the_parent_s_end_ends_a_worker_in_a_long_call(worker, busy):
    process = worker(f"{ANSWER}{busy}\n")
    ask(process)
    assert process.stdout.readline()

    process.stdin.close()

    assert process.wait(PATIENCE_S) == 3


def test_a_parent_that_dies_inside_a_request_ends_the_worker(worker):
    process = worker(ANSWER)
    process.stdin.write(b'\x1etfexec {"do":"sta')
    process.stdin.close()

    assert process.wait(PATIENCE_S) == 3


def test_a_worker_that_cannot_answer_ends(worker):
    process = worker(
        "channel = Channel.take_over()\nimport time\n" + ANSWER.replace("channel = ", "other = channel; # ")
    )
    process.stdout.close()
    ask(process)

    assert process.wait(PATIENCE_S) == 3
