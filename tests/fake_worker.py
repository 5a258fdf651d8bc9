"""A worker without TensorFlow: the real channel, protocol and `serve` around figures that are made up.

Started in place of `python -m mlflow_tfexec.worker`; `sessions.py` says how. What it does comes from FAKE_WORKER,
JSON: mode → the fields of `Behaviour` that differ. FAKE_WORKER_STARTS is a directory in which each worker leaves
its process id as `<mode>.<launch>`.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Longer than any test waits, short enough that a worker which is lost does not stay for good.
HANG_S = 60


@dataclass(frozen=True)
class Behaviour:
    """What a worker of one mode does. Stages are the worker's requests: start, build, first_call, pilot, block, finish.

    A stage with a colon and a number is one block, from 0 and warm-up included, as in `block:3`.
    """

    call_ns: int = 10_000_000
    noise: float = 0.01
    drift: float = 1.0
    """Each block takes this many times what the one before took."""
    launch_factors: list[float] = field(default_factory=list)
    """Launch → how many times `call_ns` its calls take; 1 where there is no figure."""
    device: str | None = "CPU"
    gpus_seen: int = 0
    signals: dict[str, int] = field(default_factory=dict)
    """Stage → signal by which the worker dies there."""
    exits: dict[str, int] = field(default_factory=dict)
    """Stage → exit code with which it ends there, without an answer."""
    raises: dict[str, list[str]] = field(default_factory=dict)
    """Stage → class and text of the exception there."""
    hangs: str | None = None
    half_reply: str | None = None
    """Stage in which it dies in the middle of its answer."""
    only_launch: int | None = None
    """All the misfortunes above happen in this launch only."""
    retraces: str | None = None
    weights: str | None = "ab" * 32
    inputs_sha256: str | None = None
    batch_size: int | None = None
    """The only batch that the model takes. None: any."""
    fits: int | None = None
    """The largest batch that memory is enough for. None: any."""
    output: dict[str, Any] = field(default_factory=lambda: {"max_abs_error": 0.0, "within_tolerance": True})
    output_spread: float | None = None
    ignores_sigterm: bool = False
    has_child: bool = False
    has_daemon: str | None = None
    """Starts a process in a session of its own: `marked` has the worker's environment, `bare` has none, `orphan` is the
    child of one that has ended."""
    lingers: bool = False
    """Does not end after its last word."""


class FakeModeWorker:
    """Answers as `ModeWorker` does."""

    def __init__(self, start: Any) -> None:
        self.stage = "start"
        behaviour = json.loads(os.environ["FAKE_WORKER"]).get(start.mode, {})
        self._launch = note_start(Path(os.environ["FAKE_WORKER_STARTS"]), start.mode)
        self._behaviour = Behaviour(**behaviour)
        factors = self._behaviour.launch_factors
        factor = factors[self._launch] if self._launch < len(factors) else 1.0
        self._call_ns = int(self._behaviour.call_ns * factor)
        self._generator = random.Random(f"{start.mode}/{self._launch}")
        self._spec = start.spec
        self._blocks = 0
        self._traces = 1
        if self._behaviour.ignores_sigterm:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if self._behaviour.has_child:
            child = subprocess.Popen([sys.executable, "-S", "-c", f"import time; time.sleep({10 * HANG_S})"])
            sys.stdout.write(f"child {child.pid}\n")
            sys.stdout.flush()

        if self._behaviour.has_daemon:
            start_daemon(self._behaviour.has_daemon)

    def start(self) -> Any:
        from mlflow_tfexec.protocol import Hello

        self._misbehave("start", "start")
        facts = {"version": "0.0", "device": self._behaviour.device, "gpus_seen": self._behaviour.gpus_seen}
        return Hello(tensorflow={key: value for key, value in facts.items() if value is not None})

    def build(self) -> Any:
        from mlflow_tfexec.protocol import Built
        from mlflow_tfexec.records.recording import InputFacts

        self._misbehave("build", "build")
        if self._spec.batch_asked and self._behaviour.batch_size not in {None, self._spec.batch_size}:
            raise ValueError(f"batch size {self._spec.batch_size} does not fit the model")
        return Built(
            inputs=(InputFacts(shape=(self._behaviour.batch_size or 1, 4), dtype="float32"),),
            batch_size=self._behaviour.batch_size,
            inputs_sha256=self._behaviour.inputs_sha256,
            weights_sha256=self._behaviour.weights,
        )

    def first_call(self) -> Any:
        from mlflow_tfexec.protocol import FirstCall
        from mlflow_tfexec.records.recording import OutputDifference

        self._misbehave("first_call", "first_call")
        if self._behaviour.fits is not None and self._spec.batch_size > self._behaviour.fits:
            raise MemoryError("Unable to allocate 1.00 EiB")
        return FirstCall(
            trace_ns=1_000_000,
            first_call_ns=20_000_000,
            second_call_ns=self._call_ns,
            traces=self._traces,
            output=OutputDifference(**{"rtol": 1e-3, "atol": 1e-4, **self._behaviour.output}),
            output_spread=self._behaviour.output_spread,
        )

    def pilot(self) -> Any:
        from mlflow_tfexec.protocol import Pilot

        self._misbehave("pilot", "measure")
        return Pilot(call_ns=self._call_ns)

    def block(self, calls: int, input_set: int) -> Any:
        from mlflow_tfexec.protocol import BlockTimes

        label = f"block:{self._blocks}"
        self._misbehave(label, "measure")
        self._blocks += 1
        retraced = self._behaviour.retraces == label
        self._traces += retraced
        center = self._call_ns * self._behaviour.drift**self._blocks
        latency_ns = [int(center * (1 + self._generator.gauss(0, self._behaviour.noise))) for _ in range(calls)]
        return BlockTimes(
            latency_ns=latency_ns,
            dispatch_ns=[ns // 3 for ns in latency_ns],
            throughput_calls=calls,
            throughput_total_ns=latency_ns[0] if calls == 1 else int(sum(latency_ns) * 0.9),
            again="trace" if retraced else None,
        )

    def finish(self) -> Any:
        from mlflow_tfexec.protocol import Finished

        self._misbehave("finish", "measure")
        return Finished(traces=self._traces, peak_memory_bytes=1_000_000)

    def last_facts(self, failure: Any) -> dict[str, int]:
        del failure
        return {"peak_memory_bytes": 2_000_000}

    def linger(self) -> None:
        """Stay, where that is asked for, though nothing more will come."""
        if self._behaviour.lingers:
            time.sleep(HANG_S)
            chatter("awake again")

    def _misbehave(self, label: str, stage: str) -> None:
        """Print, die, raise or hang, if that is due here."""
        self.stage = stage
        chatter(label)
        behaviour = self._behaviour
        if behaviour.only_launch not in {None, self._launch}:
            return
        if label in behaviour.signals:
            # The C library would otherwise dump its stacks into the log, by the environment's faulthandler.
            signal.raise_signal(behaviour.signals[label])
        if label in behaviour.exits:
            os._exit(behaviour.exits[label])
        if label == behaviour.half_reply:
            half_reply()
        if label == behaviour.hangs:
            time.sleep(HANG_S)
            chatter("awake again")
        if label in behaviour.raises:
            name, text = behaviour.raises[label]
            raise named_exception(name)(text)


def note_start(directory: Path, mode: str) -> int:
    """Leave our process id behind, and return the number of our launch."""
    launch = len(list(directory.glob(f"{mode}.*")))
    (directory / f"{mode}.{launch}").write_text(str(os.getpid()))
    return launch


def start_daemon(kind: str) -> None:
    """Start a process that leaves our session, and say its id."""
    sleep = [sys.executable, "-S", "-c", f"import time; time.sleep({10 * HANG_S})"]
    if kind == "orphan":
        code = f"import subprocess; print(subprocess.Popen({sleep!r}, start_new_session=True, stdout=-3).pid)"
        made = subprocess.run([sys.executable, "-S", "-c", code], stdout=subprocess.PIPE, check=True, text=True)
        pid = int(made.stdout)
    else:
        pid = subprocess.Popen(sleep, start_new_session=True, env={} if kind == "bare" else None).pid
    sys.stdout.write(f"child {pid}\n")
    sys.stdout.flush()


def chatter(label: str) -> None:
    """Write to every stream that a library may write to."""
    sys.stdout.write(f"python prints in {label}\n")
    sys.stdout.flush()
    os.write(1, f"descriptor 1 in {label}\n".encode())
    os.write(2, f"descriptor 2 in {label}\n".encode())
    if label == "start":
        sys.stdout.write(f"standard input holds {os.read(0, 10)!r} and {sys.stdin.read()!r}\n")
        sys.stdout.flush()


def named_exception(name: str) -> type[BaseException]:
    """Return the built-in exception of this name, or make one, as TensorFlow has its own."""
    import builtins

    return getattr(builtins, name, None) or type(name, (Exception,), {})


def half_reply() -> None:
    """Die in the middle of a message."""
    from mlflow_tfexec.protocol import MARKER

    channel._replies.write(MARKER + b'{"reply":"Hello","bo')
    channel._replies.flush()
    os._exit(0)


if __name__ == "__main__":
    # Before the channel is taken over, as an interpreter's start-up files might; the last has no line break.
    sys.stdout.write("early print\n")
    os.write(1, b"early descriptor 1\nand no line break")
    from mlflow_tfexec.worker import serve
    from mlflow_tfexec.worker.channel import Channel

    channel = Channel.take_over()
    workers: list[FakeModeWorker] = []
    serve.ModeWorker = lambda start: workers.append(FakeModeWorker(start)) or workers[0]
    serve.serve(channel)
    workers[0].linger()
