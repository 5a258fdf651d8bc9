"""One file = one format. A module here exports `FORMAT`; nothing else needs to know of it.

`table` turns recordings and their judgements into the neutral middle that every format renders.
"""

from mlflow_tfexec._registry import discover
from mlflow_tfexec.reports._drawing import Drawing
from mlflow_tfexec.reports._drawings import drawings
from mlflow_tfexec.reports._format import Format
from mlflow_tfexec.reports._table import BenchmarkTable, Table, table

__all__ = ["BenchmarkTable", "Drawing", "Format", "Table", "drawings", "formats", "table"]


def formats() -> dict[str, Format]:
    """Every format by its name, in the order of the names."""
    return {found.name: found for found in discover(__name__, "FORMAT")}
