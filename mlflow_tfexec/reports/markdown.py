"""A report to paste: into a pull request, an issue, or the description of a run."""

import re
from collections.abc import Iterator

from mlflow_tfexec.reports._format import Format
from mlflow_tfexec.reports._markup import escaped, table_rows
from mlflow_tfexec.reports._sizes import size_tables
from mlflow_tfexec.reports._table import CONTROL_NOTE, BenchmarkTable, Column, Row, Table

_UNKNOWN = "–"
_UNBREAKABLE = "\u00a0"
_RIGHT = "---:"


def render(table: Table) -> str:
    """Write a report in GitHub's Markdown. Text from outside is escaped and can hold neither markup nor HTML."""
    parts = ["\n".join(_benchmark(benchmark)) for benchmark in table.benchmarks]
    if len(parts) > 1:
        parts.insert(0, "\n".join(_overview(table)))
    return "\n\n".join(parts) + "\n"


def _benchmark(benchmark: BenchmarkTable) -> Iterator[str]:
    yield f"## {escaped(benchmark.title)}"
    yield ""
    # The answer first: MLflow shows the first lines of a description and folds the rest away.
    yield f"**{escaped(benchmark.ordering)}**"
    yield ""
    yield from _claims(benchmark)
    yield ""
    yield from _modes(benchmark)
    yield ""
    for note in benchmark.notes:
        yield from (escaped(note), "")
    yield from _logs(benchmark)
    if benchmark.findings:
        yield from ("### Findings", "")
        for finding in benchmark.findings:
            yield f"- **{escaped(finding.code)}**: {escaped(finding.sentence())}"
        yield ""
    if benchmark.pairs:
        yield from ("### Pairs", "")
        heads = ["pair", "time of the first over the second", "verdict"]
        yield from table_rows(heads, _pair_cells(benchmark), rules=["---", _RIGHT, "---"])
        yield ""
    yield from ("### Where and how", "")
    yield from (f"- {escaped(label)}: {escaped(text)}" for label, text in benchmark.facts)
    yield from (f"- {escaped(label)}: {_linkable(text)}" for label, text in benchmark.where)


def _modes(benchmark: BenchmarkTable) -> Iterator[str]:
    heads = ["mode", *(_head(column) for column in benchmark.columns)]
    rules = ["---", *("---" if column.key == "status" else _RIGHT for column in benchmark.columns)]
    yield from table_rows(heads, (_mode_cells(benchmark, row) for row in benchmark.rows), rules=rules)


def _head(column: Column) -> str:
    return f"{column.head} {_whole(column.subhead)}" if column.subhead else column.head + _UNBREAKABLE


def _whole(text: str) -> str:
    """Keep a figure and its unit in one line and off the next column.

    MLflow's page of a run is narrow, gives the cells of a table no room around them, and ignores their alignment.
    """
    return text.replace(" ", _UNBREAKABLE) + _UNBREAKABLE


def _logs(benchmark: BenchmarkTable) -> Iterator[str]:
    """Show what failed modes wrote last, as indented code: nothing inside a line can end it."""
    for row in benchmark.rows:
        if row.log_tail:
            yield from (f"Last lines of {escaped(row.mode)}:", "")
            yield from (f"    {line}" for line in row.log_tail)
            yield ""


def _mode_cells(benchmark: BenchmarkTable, row: Row) -> list[str]:
    name = f"{escaped(row.name)} ({CONTROL_NOTE})" if row.control else escaped(row.name)
    cells = [f"**{name}**" if row.fastest else name]
    for column in benchmark.columns:
        if column.key == "status" and row.reason:
            cells.append(escaped(f"{row.status}: {row.reason}"))
        else:
            # Figures and the words of a status are our own and hold no markup.
            cells.append(_whole(row.cells.get(column.key, _UNKNOWN)))
    return cells


def _claims(benchmark: BenchmarkTable) -> Iterator[str]:
    if benchmark.fastest:
        yield f"- fastest: {escaped(benchmark.fastest)}"
    if benchmark.best_set:
        yield f"- one of these is fastest: {escaped(benchmark.best_set)}"
    if benchmark.scope:
        yield f"- scope: {benchmark.scope}"
    if benchmark.control:
        control = benchmark.control
        pair = f"{escaped(control.a)} against {escaped(control.b)} {control.ratio}, {control.verdict}"
        yield f"- noise floor: {pair}{benchmark.unstable}"
    if benchmark.legend:
        yield f"- legend: {escaped(benchmark.legend)}"


def _pair_cells(benchmark: BenchmarkTable) -> Iterator[list[str]]:
    for pair in benchmark.pairs:
        verdict = f"{pair.verdict}; {pair.needed}" if pair.needed else pair.verdict
        yield [_whole(escaped(f"{pair.a} {pair.sign} {pair.b}")), _whole(pair.ratio), verdict]


def _overview(table: Table) -> Iterator[str]:
    """Give one line per benchmark, for a report on several."""
    yield f"# {len(table.benchmarks)} benchmarks"
    yield ""
    cells = ([escaped(" · ".join(b.headline)), escaped(b.ordering)] for b in table.benchmarks)
    yield from table_rows(["benchmark", "ordering"], cells)
    for sweep in size_tables(table.benchmarks):
        yield from ("", f"## {escaped(sweep.title)}", "")
        yield from table_rows([escaped(head) for head in sweep.heads], ([*map(escaped, row)] for row in sweep.rows))


def _linkable(text: str) -> str:
    """Leave a web address as it is, so that readers can make a link of it; escape anything else."""
    return text if re.fullmatch(r"https?://[\w./:#?=%~-]+", text) else escaped(text)


FORMAT = Format(name="markdown", extension=".md", render=render)
