"""A worker does what it is asked, and turns whatever goes wrong into an answer."""

import pytest
from sessions import make_spec

from mlflow_tfexec.protocol import BlockTimes, Built, Failure, Finished, Hello, Pilot, Request, Start
from mlflow_tfexec.worker import serve as serving

START = Request(do="start", start=Start(spec=make_spec(), mode="graph", scratch=""))


class Channel:
    """Requests from a list; asking for more than there are is an error."""

    def __init__(self, *requests):
        self._requests = list(requests)
        self.replies = []

    def receive(self):
        return self._requests.pop(0)

    def reply(self, message):
        self.replies.append(message)

    @property
    def left(self):
        return len(self._requests)


class Worker:
    """Answers every request; *raises* says what is raised at which step."""

    raises = {}  # noqa: RUF012 - replaced as a whole by the tests

    def __init__(self, start):
        self.stage = "start"

    def _step(self, name, stage, reply):
        self.stage = stage
        if name in self.raises:
            raise self.raises[name]
        return reply

    def start(self):
        return self._step("start", "start", Hello(tensorflow={}))

    def build(self):
        return self._step("build", "build", Built(inputs=()))

    def pilot(self):
        return self._step("pilot", "measure", Pilot(call_ns=1))

    def first_call(self):
        return self._step("first_call", "first_call", Pilot(call_ns=2))

    def block(self, calls, input_set):
        times = BlockTimes(
            latency_ns=[1] * calls,
            dispatch_ns=[1] * calls,
            throughput_calls=calls,
            throughput_total_ns=input_set,
        )
        return self._step("block", "measure", times)

    def finish(self):
        return self._step("finish", "measure", Finished(traces=1))

    def last_facts(self, failure):
        del failure
        return {"peak_memory_bytes": 7}


@pytest.fixture
def serve(monkeypatch):
    """Serve requests with a worker that raises what is given, and return the channel."""

    def run(*requests, **raises):
        monkeypatch.setattr(serving, "ModeWorker", type("Worker", (Worker,), {"raises": raises}))
        channel = Channel(*requests)
        serving.serve(channel)
        return channel

    return run


def test_every_request_is_answered_until_the_last(serve):
    channel = serve(
        START,
        Request(do="build"),
        Request(do="pilot"),
        Request(do="block", calls=3, input_set=7),
        Request(do="finish"),
        Request(do="pilot"),
    )

    assert [type(reply).__name__ for reply in channel.replies] == ["Hello", "Built", "Pilot", "BlockTimes", "Finished"]
    assert (channel.replies[3].latency_ns, channel.replies[3].throughput_total_ns) == ([1, 1, 1], 7)
    assert channel.left == 1


@pytest.mark.parametrize(
    "error", [ValueError("no such layer"), KeyError("x"), RecursionError(), AssertionError(), NotImplementedError("y")]
)
def test_whatever_a_model_raises_is_an_answer_and_the_last_one(serve, error):
    channel = serve(START, Request(do="build"), Request(do="pilot"), build=error)

    assert isinstance(channel.replies[-1], Failure)
    assert channel.replies[-1].reason.startswith(type(error).__name__)
    assert channel.left == 1


def test_a_model_that_exits_has_failed(serve):
    channel = serve(START, Request(do="build"), build=SystemExit(0))

    assert channel.replies[-1].reason == "the model called sys.exit(0)"


def test_the_stage_of_the_failure_is_the_worker_s(serve):
    error = ValueError("compile-time constant")

    assert serve(START, Request(do="build"), build=error).replies[-1].wrong_request
    assert serve(START, Request(do="first_call"), first_call=error).replies[-1].status == "compile_failed"
    assert serve(START, Request(do="pilot"), pilot=error).replies[-1].status == "run_failed"


def test_a_worker_that_fails_to_start_is_asked_nothing_more(serve):
    channel = serve(START, Request(do="build"), start=ImportError("libcudart.so.12: cannot open"))

    assert [reply.reason for reply in channel.replies] == ["ImportError: libcudart.so.12: cannot open"]
    assert not channel.replies[0].wrong_request


def test_the_first_request_must_be_start(serve):
    channel = serve(Request(do="build"), START)

    assert channel.replies == [Failure(status="run_failed", reason="the first request must be `start`")]


def test_the_traceback_goes_to_the_log(serve, capsys):
    serve(START, Request(do="build"), build=ValueError("no such layer"))

    assert "Traceback" in (errors := capsys.readouterr().err)
    assert errors.endswith("ValueError: no such layer\n")
