"""Recordings and rounds written by hand, number by number."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from mlflow_tfexec.records.recording import AnyLine, Header, Recording
from mlflow_tfexec.records.spec import Spec
from mlflow_tfexec.statistics.rounds import Rounds


def _recording_of(*lines: AnyLine, modes: Sequence[str] = ("eager", "xla")) -> Recording:
    header = Header(
        format="tfexec-recording",
        version=1,
        benchmark_id="b",
        created="2026-01-31T12:00:00Z",
        spec=Spec(model="M", modes=tuple(modes)),
    )
    return Recording(header=header, lines=lines)


def _rounds_of(medians_ns: Mapping[str, Sequence[Sequence[float]]]) -> Rounds:
    """Mode → launch after launch → block medians. Each block is one call."""
    return Rounds(
        medians_ns={
            mode: {launch: np.array(series, dtype=float) for launch, series in enumerate(launches)}
            for mode, launches in medians_ns.items()
        },
        calls_ns={
            mode: {launch: np.array(series) for launch, series in enumerate(launches)}
            for mode, launches in medians_ns.items()
        },
    )


@pytest.fixture(scope="session")
def recording_of() -> Callable[..., Recording]:
    return _recording_of


@pytest.fixture(scope="session")
def rounds_of() -> Callable[..., Rounds]:
    return _rounds_of
