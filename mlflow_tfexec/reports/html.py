"""A report for the browser: one file that needs nothing from outside itself."""

import base64

from mlflow_tfexec.reports._drawings import drawings
from mlflow_tfexec.reports._format import Format
from mlflow_tfexec.reports._outputs import output_tables
from mlflow_tfexec.reports._page import page_template
from mlflow_tfexec.reports._pairs import matrix
from mlflow_tfexec.reports._table import CONTROL_NOTE, BenchmarkTable, Table


def render(table: Table) -> str:
    """Write a self-contained HTML page: no script, no network, no storage, so that a sandboxed frame can show it.

    Text from outside passes through Jinja's autoescape, and the page's own content policy forbids scripts.
    """
    return page_template("report.html.j2").render(
        benchmarks=table.benchmarks,
        sweeps=table.sweeps,
        control_note=CONTROL_NOTE,
        matrix=lambda benchmark: matrix(benchmark.judgement),
        output_tables=lambda benchmark: output_tables(benchmark.judgement),
        picture=_picture,
        drawings=lambda benchmark: drawings(benchmark.recording, benchmark.judgement),
    )


def _picture(benchmark: BenchmarkTable) -> str | None:
    """Give the latency picture as a data URI. None: nothing was timed."""
    content = benchmark.picture
    return None if content is None else f"data:image/png;base64,{base64.b64encode(content).decode('ascii')}"


FORMAT = Format(name="html", extension=".html", render=render)
