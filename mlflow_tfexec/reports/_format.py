"""What a report format is: a name, a file extension, and a function from a table to text."""

from collections.abc import Callable
from dataclasses import dataclass

from mlflow_tfexec.records.judgement import Judgement
from mlflow_tfexec.records.recording import Recording
from mlflow_tfexec.reports._drawing import Drawing
from mlflow_tfexec.reports._table import Draw, Table


def no_drawings(recording: Recording, judgement: Judgement) -> tuple[Drawing, ...]:  # noqa: ARG001 - as `Draw` has it
    """Give no pictures: for formats that show none."""
    return ()


@dataclass(frozen=True)
class Format:
    """One way to write a report."""

    name: str
    """As `--format` takes it."""
    extension: str
    """Of a file that holds it, dot included."""
    render: Callable[[Table], str]
    draw: Draw = no_drawings
    """Gives the pictures that it shows."""
