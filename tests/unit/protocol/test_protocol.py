"""What travels between the parent and a worker."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sessions import make_spec

from mlflow_tfexec.protocol import (
    MARKER,
    BlockTimes,
    Built,
    Failure,
    Finished,
    FirstCall,
    Hello,
    Pilot,
    Request,
    Start,
    read_reply,
    read_request,
    send,
)
from mlflow_tfexec.records.answers import OutputDifference
from mlflow_tfexec.records.recording import InputFacts

REPLIES = [
    Failure(status="oom", reason="too large: “quoted”\nand a second line", wrong_request=True),
    Hello(tensorflow={"version": "2.21.0", "device_details": {"compute_capability": "9.0"}}),
    Built(inputs=(InputFacts(name="x", shape=(1, 384, 384, 3), dtype="float32"),), weights_sha256="ab"),
    FirstCall(
        first_call_ns=2, second_call_ns=1, traces=0, output=OutputDifference(max_abs_error=1e-7, within_tolerance=True)
    ),
    Pilot(call_ns=10),
    BlockTimes(latency_ns=[1, 2], dispatch_ns=[1, 1], throughput_calls=2, throughput_total_ns=3, valid=False),
    Finished(traces=1, peak_memory_bytes=None),
]
REQUESTS = [
    Request(do="start", start=Start(spec=make_spec(input_shape=(4,)), mode="xla", scratch="/a b/c")),
    Request(do="build"),
    Request(do="block", calls=7),
]


def sent(message):
    stream = io.BytesIO()
    send(stream, message)
    return stream.getvalue()


@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: type(reply).__name__)
def test_a_reply_arrives_as_it_was_sent(reply):
    assert read_reply(sent(reply)) == reply


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: request.do)
def test_a_request_arrives_as_it_was_sent(request_):
    assert read_request(sent(request_)) == request_


@pytest.mark.parametrize("message", [*REPLIES, *REQUESTS])
def test_a_message_is_one_line(message):
    line = sent(message)

    assert line.startswith(MARKER)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")


@given(line=st.binary())
def test_anything_without_the_marker_is_passed_over(line):
    if MARKER not in line:
        assert read_reply(line) is None
        assert read_request(line) is None


def test_a_message_behind_a_print_without_a_line_break_is_read():
    assert read_reply(b"loading... 99 %" + sent(Pilot(call_ns=10))) == Pilot(call_ns=10)


@pytest.mark.parametrize("length", [1, 5, 9, 20, 40])
def test_half_a_message_is_passed_over(length):
    assert read_reply(sent(REPLIES[0])[:length]) is None
    assert read_request(sent(REQUESTS[0])[:length]) is None


def test_a_message_is_flushed():
    class Stream(io.BytesIO):
        flushed_at = 0

        def flush(self):
            self.flushed_at = len(self.getvalue())

    stream = Stream()
    send(stream, Pilot(call_ns=10))

    assert stream.flushed_at == len(stream.getvalue()) > 0
