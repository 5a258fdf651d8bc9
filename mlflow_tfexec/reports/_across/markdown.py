"""A comparison of benchmarks to paste into a pull request or an issue."""

from collections.abc import Iterator

from mlflow_tfexec.reports._across._table import AcrossFormat, AcrossTable, ModeRow
from mlflow_tfexec.reports._markup import escaped, table_rows

_FEW = 2


def render(table: AcrossTable) -> str:
    """Write a comparison in GitHub's Markdown. Text from outside is escaped."""
    return "\n".join(_lines(table)) + "\n"


def _lines(table: AcrossTable) -> Iterator[str]:
    yield from (f"## {escaped(table.title)}", "")
    for side in table.sides:
        yield f"- **{side.label}**: {escaped(side.title)} · {escaped(side.facts)}"
    yield from ("", *table_rows(["mode", *table.labels], ([escaped(mode.mode), *mode.medians] for mode in table.modes)))
    yield from ("", *table_rows(["mode", "pair", "ratio of times", "verdict"], _pairs(table)))
    yield from ("", escaped(f"{table.legend}; scope: {table.scope}"))
    if len(table.sides) > _FEW:
        for mode in table.modes:
            yield from ("", f"### {escaped(mode.mode)}: row over column", "", *_matrix(table, mode))
    if table.findings:
        yield from ("", "### Findings", "")
        yield from (f"- **{escaped(finding.code)}**: {escaped(finding.sentence())}" for finding in table.findings)
    yield from ("", "### What differs", "")
    if not table.differences:
        yield "Nothing that is recorded."
        return
    cells = ([row.kind, escaped(row.label), *map(escaped, row.values)] for row in table.differences)
    yield from table_rows(["", "fact", *table.labels], cells)


def _pairs(table: AcrossTable) -> Iterator[list[str]]:
    for mode in table.modes:
        for pair in mode.pairs:
            verdict = f"{pair.verdict}; {pair.needed}" if pair.needed else pair.verdict
            yield [escaped(mode.mode), escaped(f"{pair.a} {pair.sign} {pair.b}"), pair.ratio, verdict]


def _matrix(table: AcrossTable, mode: ModeRow) -> Iterator[str]:
    cells = ([f"**{label}**", *map(escaped, row)] for label, row in zip(table.labels, mode.matrix, strict=True))
    return table_rows(["", *table.labels], cells)


FORMAT = AcrossFormat(name="markdown", extension=".md", render=render)
