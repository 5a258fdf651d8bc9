"""What a report format is: a name, a file extension, and a function from a table to text."""

from collections.abc import Callable
from dataclasses import dataclass

from mlflow_tfexec.reports._table import Table


@dataclass(frozen=True)
class Format:
    """One way to write a report."""

    name: str
    """As `--format` takes it."""
    extension: str
    """Of a file that holds it, dot included."""
    render: Callable[[Table], str]
