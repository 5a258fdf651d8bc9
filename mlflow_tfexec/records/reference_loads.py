"""Work of our own, always the same, that tells the machine's speed from the model's."""

from types import MappingProxyType
from typing import Literal

from mlflow_tfexec.records.line import Line

LOADS = MappingProxyType(
    {
        "compute": "a product of two matrices",
        "memory": "a sum over a vector too long for the caches of a core",
        "dispatch": "a row of tiny operations, one after another",
    }
)
"""Name → what is done. One that changed would need another name: recordings of years are held against one another."""


class ReferenceLoad(Line):
    """One reference load, timed once in a round, in a process that no mode runs in."""

    kind: Literal["reference_load"] = "reference_load"
    launch: int
    round: int
    position: int
    """Of the mode that came next in the round's order; as many as there were modes: the round ended with the loads."""
    load: str
    """One of LOADS, or one of a later version."""
    calls_ns: tuple[int, ...]
    """One figure per call, fence included."""
