"""What the parent and a worker say to each other, and how it travels.

One message is one line: a marker, then JSON. Lines without the marker are not ours (something in the
interpreter's start-up printed them) and are passed over. The channel is the worker's original stdin and
stdout, which the worker moves to private descriptors before it runs anybody else's code.
"""

import json
from typing import Any, BinaryIO, Literal

from pydantic import BaseModel, ConfigDict, Field

from mlflow_tfexec.records.answers import OutputDifference, TrainingFacts
from mlflow_tfexec.records.findings import Finding
from mlflow_tfexec.records.origin import LiveObject, ModelOrigin
from mlflow_tfexec.records.recording import Again, InputFacts
from mlflow_tfexec.records.spec import Spec

MARKER = b"\x1etfexec "
"""Begins with the ASCII record separator, which no print statement writes by accident."""

Action = Literal["start", "build", "first_call", "pilot", "block", "finish"]


class Message(BaseModel):
    """Anything that travels. Frozen."""

    model_config = ConfigDict(frozen=True, protected_namespaces=())


class ModelSource(Message):
    """Where on this machine a model lies that its reference names elsewhere, or inputs that no reference names."""

    path: str | None = None
    """A model's file or directory, absolute. None: the reference says itself where the model is."""
    origin: ModelOrigin | None = None
    """None: the model is not from MLflow."""
    live: LiveObject | None = None
    """What the model was in the calling program, which wrote it to `path`. None: it is no live object."""
    live_inputs: str | None = None
    """File of inputs that the calling program gave. None: it gave none."""
    module_paths: tuple[str, ...] = ()
    """Where the calling program finds its modules, beside the places that every process knows."""
    import_path: str | None = None
    """Directory of Python modules that came with the model."""
    pickles: tuple[str, ...] = ()
    """Files of pickled custom objects that came with the model. Opening one runs whatever code it holds."""
    input_shape: tuple[int, ...] | None = None
    """Shape of one item, as whoever logged the model described its one input. None: it has several, or an open size."""


class Start(Message):
    """What a worker is for; sent once, with the first request."""

    spec: Spec
    mode: str
    scratch: str
    """Directory in which the workers of one launch exchange the baseline's outputs."""
    log: str | None = None
    """File that the worker's standard error goes to, in which it finds what TensorFlow says of itself."""
    source: ModelSource | None = None
    """None: the spec's references say themselves where model and inputs are."""


class Request(Message):
    """One thing a worker shall do."""

    do: Action
    start: Start | None = None
    calls: int | None = None
    """For `block`: how many calls to time."""
    input_set: int = 0
    """For `block`: number of the set of inputs to time them on; the same for all modes of a round."""
    duration_ns: int = 0
    """For a `block` of reference loads: how long to time each of them."""


class Failure(Message):
    """Why a request was not fulfilled."""

    status: str
    """A status of the mode, such as `compile_failed`."""
    reason: str
    wrong_request: bool = False
    """True: it would fail in every mode, because of what was asked (a shape the model refuses)."""
    cause: str | None = None
    """Code of a known kind of trouble. None: it is not one of them."""
    op: str | None = None
    layer: str | None = None
    source: str | None = None
    """Line of the model's code, as `model.py:7 in call`."""
    peak_memory_bytes: int | None = None


class Hello(Message):
    """TensorFlow is imported and the device chosen."""

    tensorflow: dict[str, Any]
    """Facts for the environment; `device` is absent when the device asked for is not there."""


class Built(Message):
    """The model stands, its inputs are on the device."""

    inputs: tuple[InputFacts, ...]
    batch_size: int | None = None
    """Items per call, as the inputs have it. None: as asked."""
    inputs_sha256: str | None = None
    input_sets: int | None = None
    weights_sha256: str | None = None
    training: TrainingFacts | None = None
    numerics: dict[str, Any] = Field(default_factory=dict)
    """What bends the arithmetic once the model is loaded, for TensorFlow's facts of the environment."""
    findings: tuple[Finding, ...] = ()
    """What loading brought to light; told once for all modes and launches."""


class FirstCall(Message):
    """Traced, compiled and called twice."""

    trace_ns: int | None = None
    first_call_ns: int
    second_call_ns: int
    traces: int
    xla_compiles: int | None = None
    """What XLA has compiled in this process so far. None: not known."""
    xla_compile_ns: int | None = None
    fence_ns: int | None = None
    output: OutputDifference
    details: dict[str, Any] | None = None
    """What only the mode knows of itself."""
    output_spread: float | None = None
    """Relative spread of the baseline's outputs; None in other modes."""


class Pilot(Message):
    """About how long one call takes."""

    call_ns: int


class BlockTimes(Message):
    """The raw figures of one block."""

    latency_ns: list[int]
    dispatch_ns: list[int]
    throughput_calls: int
    throughput_total_ns: int
    again: Again | None = None
    """What happened again inside the block, which is then not valid. None: nothing did."""


class LoadTimes(Message):
    """What the reference loads took: load → one figure per call, in nanoseconds."""

    calls_ns: dict[str, list[int]]


class Finished(Message):
    """Last words."""

    traces: int
    xla_compiles: int | None = None
    xla_compile_ns: int | None = None
    peak_memory_bytes: int | None = None


class Probed(Message):
    """What one step of `worker.probe` found out."""

    step: str
    facts: dict[str, Any]
    """`error` is among them where the step failed."""


class _Envelope(BaseModel):
    """Tags a reply with its type, so that it can be read back."""

    reply: str
    body: dict[str, Any] = Field(default_factory=dict)


_REPLIES: dict[str, type[Message]] = {
    reply.__name__: reply
    for reply in (Failure, Hello, Built, FirstCall, Pilot, BlockTimes, LoadTimes, Finished, Probed)
}


def send(stream: BinaryIO, message: Message) -> None:
    """Write one message and flush it. Raises OSError when the other side is gone."""
    if isinstance(message, Request):
        payload = message.model_dump_json()
    else:
        payload = _Envelope(reply=type(message).__name__, body=message.model_dump(mode="json")).model_dump_json()
    stream.write(MARKER + payload.encode() + b"\n")
    stream.flush()


def read_request(line: bytes) -> Request | None:
    """Read a request from one line. None: the line is not a message, or not a whole one."""
    payload = _payload(line)
    return None if payload is None else Request.model_validate_json(payload)


def read_reply(line: bytes) -> Message | None:
    """Read a reply from one line. None: the line is not a message, or not a whole one."""
    payload = _payload(line)
    if payload is None:
        return None
    envelope = json.loads(payload)
    return _REPLIES[envelope["reply"]].model_validate(envelope["body"])


def _payload(line: bytes) -> bytes | None:
    """Return what follows the marker: a print without a line break may stand before it on the same line.

    None: there is no marker, or the sender died inside the line.
    """
    _, marker, payload = line.partition(MARKER)
    return payload if marker and line.endswith(b"\n") else None
