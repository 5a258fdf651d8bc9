"""A sweep at a glance: one row per batch size and shape, one column per mode."""

from collections.abc import Sequence
from dataclasses import dataclass

from mlflow_tfexec import units
from mlflow_tfexec.reports._table import BenchmarkTable
from mlflow_tfexec.text import plain

_UNKNOWN = "–"


@dataclass(frozen=True)
class SizeTable:
    """The benchmarks of one family. Every text is one line and free of control characters."""

    title: str
    modes: tuple[str, ...]
    """Heads of the columns of medians."""
    rows: tuple[tuple[str, ...], ...]
    """Size, the median of each mode, ordering."""

    @property
    def heads(self) -> tuple[str, ...]:
        """All heads, in the order of the cells of a row."""
        return ("input", *self.modes, "ordering")


def size_tables(benchmarks: Sequence[BenchmarkTable]) -> tuple[SizeTable, ...]:
    """Make a table of each family of which two benchmarks or more are here, in the order of their first."""
    families: dict[str, list[BenchmarkTable]] = {}
    for benchmark in benchmarks:
        family = benchmark.header.spec.family
        if family is not None:
            families.setdefault(family, []).append(benchmark)
    return tuple(_table(group) for group in families.values() if len(group) > 1)


def _table(group: Sequence[BenchmarkTable]) -> SizeTable:
    modes = tuple(dict.fromkeys(row.mode for benchmark in group for row in benchmark.rows if not row.control))
    return SizeTable(
        title=f"{', '.join(dict.fromkeys(benchmark.title for benchmark in group))}: median by size",
        modes=modes,
        rows=tuple(_row(benchmark, modes) for benchmark in group),
    )


def _row(benchmark: BenchmarkTable, modes: Sequence[str]) -> tuple[str, ...]:
    by_mode = {row.mode: row for row in benchmark.rows}
    cells = []
    for mode in modes:
        row = by_mode.get(mode)
        # The median without its interval: the benchmark's own table has that.
        median_ms = None if row is None else row.figures.get("latency_ms/median")
        unknown = _UNKNOWN if row is None else row.status
        cells.append(unknown if median_ms is None else units.duration(median_ms))
    return (benchmark.size or plain(benchmark.header.benchmark_id), *cells, benchmark.ordering)
