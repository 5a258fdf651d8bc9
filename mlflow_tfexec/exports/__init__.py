"""One file = one format. A module here exports `EXPORT`; nothing else needs to know of it.

A report says what follows from a benchmark; an export hands its numbers to other programs.
"""

from mlflow_tfexec._registry import discover
from mlflow_tfexec.exports._format import ExportFormat, Write

__all__ = ["ExportFormat", "Write", "formats"]


def formats() -> dict[str, ExportFormat]:
    """Every format by its name, in the order of the names."""
    return {found.name: found for found in discover(__name__, "EXPORT")}
