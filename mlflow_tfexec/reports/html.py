"""A report for the browser: one file that needs nothing from outside itself."""

from mlflow_tfexec.reports._drawings import drawings
from mlflow_tfexec.reports._format import Format
from mlflow_tfexec.reports._outputs import output_tables
from mlflow_tfexec.reports._page import page_template
from mlflow_tfexec.reports._pairs import matrix
from mlflow_tfexec.reports._sizes import size_tables
from mlflow_tfexec.reports._table import CONTROL_NOTE, Table


def render(table: Table) -> str:
    """Write a self-contained HTML page: no script, no network, no storage, so that a sandboxed frame can show it.

    Text from outside passes through Jinja's autoescape, and the page's own content policy forbids scripts.
    """
    return page_template("report.html.j2").render(
        benchmarks=table.benchmarks,
        sweeps=size_tables(table.benchmarks),
        control_note=CONTROL_NOTE,
        matrix=lambda benchmark: matrix(benchmark.judgement),
        output_tables=lambda benchmark: output_tables(benchmark.judgement),
    )


FORMAT = Format(name="html", extension=".html", render=render, draw=drawings)
