"""The neutral middle of every report: what is said of a benchmark, before any format says how it looks."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from mlflow_tfexec import units
from mlflow_tfexec.metrics import measure
from mlflow_tfexec.records.findings import Finding
from mlflow_tfexec.records.judgement import Judgement, ModeSummary
from mlflow_tfexec.records.recording import MEASURED_STATUSES, Header, Recording
from mlflow_tfexec.records.spec import BASELINE, is_control
from mlflow_tfexec.reports import _numbers
from mlflow_tfexec.reports._drawing import Drawing
from mlflow_tfexec.reports._drawings import drawings
from mlflow_tfexec.reports._facts import Fact, Machine, facts, inputs, machine
from mlflow_tfexec.reports._pairs import Pair, pair
from mlflow_tfexec.text import plain

CONTROL_NOTE = "A/A control, not ranked"
DIFFERS_MARK = "≠"

Where = Mapping[str, Sequence[tuple[str, str]]]
Draw = Callable[[Recording, Judgement], tuple[Drawing, ...]]


@dataclass(frozen=True)
class Column:
    """One column after the mode's name."""

    key: str
    head: str
    subhead: str | None = None


COLUMNS = (
    Column("mean", "mean ± std. dev."),
    Column("median", "median", "[95 % interval]"),
    Column("speedup", f"speed-up vs {BASELINE}", "[95 % interval]"),
    Column("group", "group"),
    Column("throughput", "throughput"),
    Column("first_call", "first call"),
    Column("memory", "peak memory"),
    Column("status", "status"),
)


# The worker's last words; the recording holds more of them.
_LOG_LINES = 10


@dataclass(frozen=True)
class Row:
    """One mode."""

    mode: str
    status: str
    reason: str | None
    """Why the status is not `ok`, as far as that is known."""
    failure: str | None
    """Status and reason of a mode that has no numbers to show. None: it was measured."""
    log_tail: tuple[str, ...]
    """The last lines that a failed mode's process wrote."""
    cells: Mapping[str, str]
    """Column key → text. What is not known is absent."""
    figures: Mapping[str, float]
    """Metric key → value at full precision, such as `latency_ms/median`."""
    control: bool
    fastest: bool

    @property
    def name(self) -> str:
        """The mode's name with the mark of a mode whose outputs differ."""
        return f"{self.mode} {DIFFERS_MARK}" if self.status == "outputs_differ" else self.mode


@dataclass(frozen=True)
class BenchmarkTable:
    """Everything a report says of one benchmark. Every text is one line and free of control characters.

    It holds no recording: a report on many large ones would not fit into memory.
    """

    header: Header
    judgement: Judgement
    title: str
    machine: Machine
    facts: tuple[Fact, ...]
    columns: tuple[Column, ...]
    """Those for which some mode has a figure."""
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    """What the marks in the rows mean."""
    ordering: str
    legend: str | None
    """How to read the ordering. None: there is none."""
    fastest: str | None
    """None: nothing to rank."""
    best_set: str | None
    """The modes that may be fastest, where more than one may. None: nothing is open."""
    scope: str | None
    """None: nothing was timed."""
    control: Pair | None
    """The A/A control: its ratio is the noise of the session."""
    unstable: str
    """What to add to the control where it was found to differ. Empty where it was not."""
    pairs: tuple[Pair, ...]
    findings: tuple[Finding, ...]
    where: tuple[Fact, ...]
    """Where else to look, given by the caller."""
    drawings: tuple[Drawing, ...]
    """Its pictures, not yet drawn, as far as there is something to show and they were asked for."""

    @property
    def headline(self) -> tuple[str, ...]:
        """What tells this benchmark from others, where known: model, in a sweep the input, processor, TensorFlow."""
        version = self.machine.tensorflow
        size = self.size if self.header.spec.family is not None else None
        known = (self.title, size, self.machine.processor, version and f"TensorFlow {version}")
        return tuple(text for text in known if text)

    @property
    def size(self) -> str | None:
        """Shapes and types of the inputs. None: not recorded."""
        return inputs(self.header)


@dataclass(frozen=True)
class Table:
    """A report on any number of benchmarks."""

    benchmarks: tuple[BenchmarkTable, ...] = field(default=())


def table(
    entries: Iterable[tuple[Recording, Judgement]],
    *,
    where: Where = MappingProxyType({}),
    margin: float | None = None,
    draw: Draw = drawings,
) -> Table:
    """Bring recordings and their judgements into the form that every format renders.

    Args:
        entries: recording and judgement of each benchmark, in the order of the report. Taken one after the other, each
            recording is let go of before the next is asked for.
        where: benchmark id → (label, text) lines that tell where else to look, such as the run in MLflow.
        margin: the margin that the judgements were made with. None: each recording's own.
        draw: gives the pictures of a benchmark. A format's own `draw` spares work for pictures that it does not show.
    """
    benchmarks = []
    for recording, judgement in entries:
        benchmarks.append(_benchmark(recording, judgement, where.get(judgement.benchmark_id, ()), margin, draw))
        # It may be large, and is not held while the next one is read.
        del recording
    return Table(tuple(benchmarks))


def _benchmark(
    recording: Recording,
    judgement: Judgement,
    where: Sequence[tuple[str, str]],
    margin: float | None,
    draw: Draw,
) -> BenchmarkTable:
    rows = tuple(_row(recording, judgement, summary) for summary in judgement.modes)
    return BenchmarkTable(
        header=recording.header,
        judgement=judgement,
        title=plain(judgement.model),
        machine=machine(recording),
        facts=facts(recording),
        columns=tuple(column for column in COLUMNS if _is_needed(column, rows)),
        rows=rows,
        notes=_notes(rows),
        ordering=plain(judgement.ordering) or "No ordering: fewer than two modes were measured.",
        legend=_legend(recording.spec.margin if margin is None else margin) if judgement.ordering else None,
        scope=_scope(recording, judgement),
        fastest=_fastest(judgement) if judgement.ordering else None,
        best_set=_best_set(judgement),
        control=pair(judgement.control) if judgement.control else None,
        unstable=": this session is unstable" if judgement.unstable else "",
        pairs=tuple(pair(comparison, judgement.launch_s) for comparison in judgement.comparisons),
        findings=tuple(_plain_finding(finding) for finding in judgement.findings),
        where=tuple(Fact(plain(label), plain(text)) for label, text in where),
        drawings=draw(recording, judgement),
    )


def _row(recording: Recording, judgement: Judgement, summary: ModeSummary) -> Row:
    measured = summary.is_measured
    figures = measure(recording, judgement, summary.mode)
    cells = _cells(summary, figures) if measured else {}
    if summary.letters and any(comparison.verdict == "equivalent" for comparison in judgement.comparisons):
        cells["group"] = summary.letters
    return Row(
        mode=plain(summary.mode),
        status=plain(summary.status),
        reason=plain(summary.reason) if summary.reason else None,
        failure=None if measured else _failure(summary),
        log_tail=tuple(map(plain, (summary.log_tail or "").splitlines()[-_LOG_LINES:])),
        cells=cells | {"status": plain(summary.status)},
        figures=figures,
        control=is_control(summary.mode),
        fastest=summary.mode == judgement.fastest,
    )


def _failure(summary: ModeSummary) -> str:
    if summary.reason:
        return plain(f"{summary.status}: {summary.reason}")
    return "nothing valid was timed" if summary.status in MEASURED_STATUSES else plain(summary.status)


def _cells(summary: ModeSummary, figures: Mapping[str, float]) -> dict[str, str]:
    """Write the figures of one mode. All durations of one row are in one unit where that keeps them readable."""
    cells = {}
    latency = summary.latency_ms
    if latency:
        cells["mean"] = _numbers.mean_with_std(latency.mean, latency.std, like_ms=latency.median)
        cells["median"] = _numbers.duration_with_interval(latency.median, latency.ci95_low, latency.ci95_high)
        if "first_call_ms/total" in figures:
            cells["first_call"] = _numbers.duration_like(figures["first_call_ms/total"], like_ms=latency.median)
    if summary.speedup and summary.mode != BASELINE:
        speedup = summary.speedup
        cells["speedup"] = _numbers.ratio_with_interval(speedup.ratio, speedup.ci95_low, speedup.ci95_high)
    if "throughput/items_per_s" in figures:
        cells["throughput"] = f"{units.significant(figures['throughput/items_per_s'])} items/s"
    if "memory/peak_mb" in figures:
        cells["memory"] = units.memory(figures["memory/peak_mb"])
    return cells


def _is_needed(column: Column, rows: Sequence[Row]) -> bool:
    if column.key == "status":
        return any(row.status != "ok" for row in rows)
    return any(column.key in row.cells for row in rows)


def _notes(rows: Sequence[Row]) -> tuple[str, ...]:
    notes = []
    if any("group" in row.cells for row in rows):
        notes.append("group: modes that share a letter are equivalent")
    if any(row.status == "outputs_differ" for row in rows):
        notes.append(f"{DIFFERS_MARK} outputs differ from those of {BASELINE}: not the same computation, not ranked")
    return tuple(notes)


def _legend(margin: float) -> str:
    return f"> slower, = equivalent within {_numbers.percent(margin)}, ? undecided; slowest first"


def _fastest(judgement: Judgement) -> str:
    """Name the fastest mode together with those that are as fast, so that a tie does not read as a win."""
    if judgement.fastest is None:
        return "undecided"
    sides = [{c.a, c.b} for c in judgement.comparisons if c.verdict == "equivalent"]
    ties = sorted(set().union(*(side for side in sides if judgement.fastest in side)) - {judgement.fastest})
    return plain(f"{judgement.fastest} (equivalent: {', '.join(ties)})" if ties else judgement.fastest)


def _best_set(judgement: Judgement) -> str | None:
    """Name the modes that are not shown to be slower than another, unless it is known which of them is fastest."""
    if judgement.fastest is not None or len(judgement.best_set) < 2:  # noqa: PLR2004 - one alone is the fastest
        return None
    return plain(", ".join(sorted(judgement.best_set)))


# Why the benchmark ended before the most launches that it could have had.
_ENDED: Mapping[str, str] = MappingProxyType(
    {
        "decided": "all is decided",
        "nothing_to_compare": "fewer than two modes were left to compare",
        "narrow": "more would not decide what is open",
        "budget": "the next would have outlasted the time budget",
    }
)


def _scope(recording: Recording, judgement: Judgement) -> str | None:
    launches = max((summary.latency_ms.launches for summary in judgement.modes if summary.latency_ms), default=0)
    if not launches:
        return None
    if judgement.scope == "this launch only":
        return "this launch only: another launch may give another ordering"
    reason = next((_ENDED.get(look.stop) for look in reversed(recording.looks) if look.stop), None)
    if reason is None or launches >= recording.spec.launches:
        return f"{launches} launches"
    return f"{launches} launches of at most {recording.spec.launches}: {reason}"


def _plain_finding(finding: Finding) -> Finding:
    texts = {
        name: value for name in ("code", "what", "why", "what_to_try", "mode") if (value := getattr(finding, name))
    }
    return finding.model_copy(update={name: plain(text) for name, text in texts.items()})
