"""Reference loads in a process of their own: `python -m mlflow_tfexec.worker.reference_loads`, for the session only."""

from collections.abc import Callable, Mapping
from typing import Any

from mlflow_tfexec.measurement.blocks import settle_garbage, time_for
from mlflow_tfexec.measurement.call import PreparedCall
from mlflow_tfexec.protocol import Failure, Hello, LoadTimes, Message, Request
from mlflow_tfexec.worker.channel import Channel
from mlflow_tfexec.worker.device import fence_for, make_visible
from mlflow_tfexec.worker.failures import describe_failure

_FLOAT_BYTES = 4

# Sides of the matrices: about the same few milliseconds on a core of a CPU and on a GPU.
_MATRIX_SIDE = {"CPU": 512, "GPU": 2048}

# Beyond the caches that belong to one core; beyond those of all of a GPU (50 MB on an H100).
_VECTOR_BYTES = {"CPU": 32 * 2**20, "GPU": 128 * 2**20}

_TINY_OPERATIONS = 20
_TINY_LENGTH = 16

_FIRST_CALLS = 3
"""Not timed: they allocate, and a GPU loads its kernels."""


def main() -> None:
    """Answer `start` once, then `block` until the parent has gone or something fails."""
    channel = Channel.take_over()
    loads: dict[str, PreparedCall] = {}
    reply: Message | None = None
    while not isinstance(reply, Failure):
        reply = _answer(channel.receive(), loads)
        channel.reply(reply)


def _answer(request: Request, loads: dict[str, PreparedCall]) -> Message:
    try:
        if request.start is not None:
            device = make_visible(request.start.spec.device)
            if device is None:
                return Failure(status="run_failed", reason=f"no device {request.start.spec.device!r}")
            loads.update(reference_loads(device))
            settle_garbage()
            return Hello(tensorflow={"device": device})
        return time_loads(loads, request.duration_ns)
    except BaseException as error:  # noqa: BLE001 - whatever it is, it ends the reference loads and nothing else
        return describe_failure(error, stage="measure")


def reference_loads(device: str) -> dict[str, PreparedCall]:
    """Prepare every load on *device* (`CPU`, `GPU:N`), its data there already.

    They are executed operation by operation, without `tf.function`, so that neither Grappler nor XLA, nor what bends
    them, plays a part.

    Returns:
        Name of the load (`records.reference_loads.LOADS`) → the call.
    """
    import tensorflow as tf

    kind = device.partition(":")[0]
    side = _MATRIX_SIDE[kind]
    matrix = tf.fill((side, side), 1.0 / side)
    vector = tf.ones(_VECTOR_BYTES[kind] // _FLOAT_BYTES)
    tiny = tf.ones(_TINY_LENGTH)

    def dispatch() -> Any:
        value = tiny
        for _ in range(_TINY_OPERATIONS):
            value = tf.add(value, tiny)
        return value

    functions: Mapping[str, Callable[[], Any]] = {
        "compute": lambda: tf.linalg.matmul(matrix, matrix),
        "memory": lambda: tf.reduce_sum(vector),
        "dispatch": dispatch,
    }
    fence = fence_for(device)
    return {name: PreparedCall(function, fence=fence) for name, function in functions.items()}


def time_loads(loads: Mapping[str, PreparedCall], duration_ns: int) -> LoadTimes:
    """Time each load, call by call, for about *duration_ns*."""
    times_ns = {}
    for name, call in loads.items():
        for _ in range(_FIRST_CALLS):
            call.run()
        times_ns[name] = time_for(call, duration_ns)
    return LoadTimes(calls_ns=times_ns)


if __name__ == "__main__":
    main()
