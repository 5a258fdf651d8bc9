"""Reports on several benchmarks against one another. One file = one format, as for reports on single ones."""

from mlflow_tfexec._registry import discover
from mlflow_tfexec.reports._across._matrix_picture import matrix_drawing
from mlflow_tfexec.reports._across._table import AcrossFormat, AcrossTable, across_table

__all__ = ["AcrossFormat", "AcrossTable", "across_formats", "across_table", "matrix_drawing"]


def across_formats() -> dict[str, AcrossFormat]:
    """Every format by its name, in the order of the names."""
    return {found.name: found for found in discover(__name__, "FORMAT")}
