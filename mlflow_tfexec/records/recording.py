"""Everything raw that a benchmark saw, line by line; never derived, never edited."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from pydantic import Field

from mlflow_tfexec.records.answers import OutputDifference, TrainingFacts
from mlflow_tfexec.records.findings import Finding
from mlflow_tfexec.records.line import Line
from mlflow_tfexec.records.origin import LiveObject, ModelOrigin
from mlflow_tfexec.records.reference_loads import ReferenceLoad
from mlflow_tfexec.records.spec import Spec, is_control

MODE_STATUSES = (
    "ok",
    "outputs_differ",
    "trace_failed",
    "compile_failed",
    "run_failed",
    "oom",
    "timeout",
    "crashed",
    "skipped",
)
MEASURED_STATUSES = frozenset({"ok", "outputs_differ"})
"""The statuses of a mode that has timings to be judged."""


def can_be_ranked(mode: str, status: str) -> bool:
    """Say whether a mode that ended so takes part in the ordering, if it was timed: `ok`, and no A/A control."""
    return status == "ok" and not is_control(mode)


Again = Literal["trace", "compile"]
"""What a block that does not count did once more: `tf.function` traced, or XLA compiled without a trace."""

BlockMetric = Literal["latency", "throughput", "dispatch"]


class InputFacts(Line):
    """One input tensor as it was fed."""

    name: str | None = None
    shape: tuple[int, ...]
    """Batch included."""
    dtype: str
    values: str | None = None
    """What the values are, such as `uniform in [0, 255)` or `token ids below 10000`."""


class Header(Line):
    """The first line: what was asked, of which machine."""

    kind: Literal["header"] = "header"
    format: str
    version: int
    benchmark_id: str
    created: str
    """UTC, ISO 8601."""
    spec: Spec
    environment: dict[str, Any] = Field(default_factory=dict)
    inputs: tuple[InputFacts, ...] = ()
    inputs_sha256: str | None = None
    """Of names, types, shapes and bytes of the first set of inputs, or of all sets where they were given."""
    input_sets: int | None = None
    """Sets of inputs that were given and are used in turn. None: every round has made-up ones of its own."""
    weights_sha256: str | None = None
    model_origin: ModelOrigin | None = None
    """None: the model is not from MLflow."""
    live_object: LiveObject | None = None
    """None: the model is named by a reference."""
    training: TrainingFacts | None = None
    """None: the task is another."""

    @property
    def measured_gpu(self) -> Mapping[str, Any]:
        """Facts of the GPU that did the work. Empty: the CPU did, or which GPU it was is not known."""
        measured = self.environment.get("gpu")
        if isinstance(measured, Mapping):
            return measured
        gpus = self.environment.get("gpus")
        tensorflow = self.environment.get("tensorflow")
        device = tensorflow.get("device") if isinstance(tensorflow, Mapping) else None
        # Of several, nothing says which; a recording that names none was not made by this version.
        if str(device).startswith("GPU") and isinstance(gpus, list) and len(gpus) == 1 and isinstance(gpus[0], Mapping):
            return gpus[0]
        return {}


class ModeLine(Line):
    """What is known of one mode in one launch. A later line for the same mode and launch adds to the earlier."""

    kind: Literal["mode"] = "mode"
    launch: int
    mode: str
    status: str
    reason: str | None = None
    cause: str | None = None
    """Code of the kind of trouble that a failed mode ran into. None: it is not a known kind."""
    op: str | None = None
    """The operation that failed, by TensorFlow's name; several are separated by commas."""
    layer: str | None = None
    source: str | None = None
    """Line of the model's own code where it failed, as `model.py:7 in call`."""
    log_tail: str | None = None
    """The last lines the worker wrote, where it failed."""
    trace_ns: int | None = None
    """Python tracing alone. None for a mode that does not trace."""
    first_call_ns: int | None = None
    """Trace, compile and the first call together, fence included."""
    second_call_ns: int | None = None
    traces: int | None = None
    xla_compiles: int | None = None
    """Compilations by XLA in the whole process so far, whatever asked for them. None: not known."""
    xla_compile_ns: int | None = None
    """What they took together."""
    peak_memory_bytes: int | None = None
    """GPU: peak of TensorFlow's allocator. CPU: peak resident set of the worker."""
    fence_ns: int | None = None
    """Median cost of a fence on the idle device; part of each latency."""
    output: OutputDifference | None = None
    details: dict[str, Any] | None = None
    """What only the mode knows of itself: `jit_compile`, as `keras_predict` resolved it."""
    weights_sha256: str | None = None
    started: str | None = None
    ended: str | None = None


class Block(Line):
    """One block: N timed calls of one mode, with nothing else running."""

    kind: Literal["block"] = "block"
    launch: int
    round: int
    position: int
    """Place of the mode in this round's random order, from 0."""
    mode: str
    metric: BlockMetric
    calls_ns: tuple[int, ...] | None = None
    """Latency and dispatch: one figure per call."""
    calls: int | None = None
    """Throughput: calls before the one fence."""
    total_ns: int | None = None
    warmup: bool = False
    valid: bool = True
    """False when the mode traced or compiled again inside the block."""
    again: Again | None = None
    """Which of the two, where it is known."""


class Health(Line):
    """The state of the machine after one round."""

    kind: Literal["health"] = "health"
    launch: int
    round: int
    cpu_load: float | None = None
    gpu: dict[str, Any] | None = None
    bad: str | None = None
    """Why the round should not count, for all modes together. None: nothing wrong was seen."""


class Phase(Line):
    """Wall time of one part of the benchmark; phases do not overlap, so they add up to the whole."""

    kind: Literal["phase"] = "phase"
    name: str
    launch: int | None = None
    duration_ns: int


STOP_REASONS = ("decided", "nothing_to_compare", "narrow", "last", "budget")
"""Why no further launch follows: no pair is undecided; fewer than two modes are left to rank; every interval is
narrower than the margin; it was the last launch asked for; the next one would outlast the time budget."""


class Look(Line):
    """What was known after so many launches, when the benchmark could have ended."""

    kind: Literal["look"] = "look"
    launches: int
    undecided: tuple[tuple[str, str], ...] = ()
    """Pairs of ranked modes."""
    stop: str | None = None
    """One of STOP_REASONS, or one of a later version. None: measuring went on."""


class FindingLine(Line):
    """A finding made while measuring."""

    kind: Literal["finding"] = "finding"
    finding: Finding


class End(Line):
    """The last line. A recording without it was cut short."""

    kind: Literal["end"] = "end"
    status: Literal["complete", "interrupted", "failed"]
    ended: str | None = None


AnyLine = ModeLine | Block | ReferenceLoad | Health | Phase | Look | FindingLine | End


@dataclass(frozen=True)
class Recording:
    """A whole recording in memory."""

    header: Header
    lines: tuple[AnyLine, ...]
    reading_findings: tuple[Finding, ...] = ()
    """What reading the file itself brought to light: unknown kinds, a cut last line."""

    @property
    def spec(self) -> Spec:
        """What was asked for."""
        return self.header.spec

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """All blocks in measured order, warm-up included."""
        return tuple(line for line in self.lines if isinstance(line, Block))

    @cached_property
    def reference_loads(self) -> tuple[ReferenceLoad, ...]:
        """Work of our own, timed in the rounds beside the modes. Empty: there was none."""
        return tuple(line for line in self.lines if isinstance(line, ReferenceLoad))

    @cached_property
    def health(self) -> tuple[Health, ...]:
        """The machine's state, round by round."""
        return tuple(line for line in self.lines if isinstance(line, Health))

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """Where the wall time went."""
        return tuple(line for line in self.lines if isinstance(line, Phase))

    @cached_property
    def looks(self) -> tuple[Look, ...]:
        """What was known each time that the benchmark could have ended."""
        return tuple(line for line in self.lines if isinstance(line, Look))

    @cached_property
    def end(self) -> End | None:
        """How the benchmark ended. None: it was cut short."""
        ends = [line for line in self.lines if isinstance(line, End)]
        return ends[-1] if ends else None

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Findings made while measuring and while reading."""
        made = tuple(line.finding for line in self.lines if isinstance(line, FindingLine))
        return made + self.reading_findings

    @cached_property
    def mode_lines(self) -> dict[str, dict[int, ModeLine]]:
        """Mode → launch → everything known of it, later lines laid over earlier ones."""
        merged: dict[str, dict[int, ModeLine]] = {}
        for line in self.lines:
            if isinstance(line, ModeLine):
                by_launch = merged.setdefault(line.mode, {})
                by_launch[line.launch] = _overlay(by_launch.get(line.launch), line)
        return merged

    def final_line(self, mode: str) -> ModeLine | None:
        """Say how *mode* ended: its first launch that failed, or the first whose outputs differ, or the first.

        None: nothing was recorded of the mode.
        """
        lines = [line for _, line in sorted(self.mode_lines.get(mode, {}).items())]
        for wanted in (lambda s: s not in MEASURED_STATUSES, lambda s: s != "ok", lambda _: True):
            for line in lines:
                if wanted(line.status):
                    return line
        return None


def _overlay(earlier: ModeLine | None, later: ModeLine) -> ModeLine:
    """Lay the known fields of *later* over *earlier*."""
    if earlier is None:
        return later
    known: Iterable[tuple[str, Any]] = ((key, value) for key, value in later if value is not None)
    return earlier.model_copy(update=dict(known))
