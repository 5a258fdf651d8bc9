"""A comparison of benchmarks for the browser: one file that needs nothing from outside itself."""

from mlflow_tfexec.reports._across._matrix_picture import matrix_drawing
from mlflow_tfexec.reports._across._table import AcrossFormat, AcrossTable
from mlflow_tfexec.reports._page import page_template


def render(table: AcrossTable) -> str:
    """Write a self-contained HTML page: no script, no network. Text from outside is escaped."""
    return page_template("across.html.j2").render(table=table, drawing=matrix_drawing(table))


FORMAT = AcrossFormat(name="html", extension=".html", render=render)
