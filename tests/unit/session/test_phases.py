"""Phases add up to the whole."""

from types import SimpleNamespace

import pytest

from mlflow_tfexec.session.phases import PhaseClock


class Clock:
    """A clock that moves when it is told to."""

    now_ns = 1_000

    def perf_counter_ns(self):
        return self.now_ns


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("mlflow_tfexec.session.phases.time", clock)
    return clock


def written(phase_clock):
    lines = []
    phase_clock.write(SimpleNamespace(append=lines.append))
    return [(line.name, line.launch, line.duration_ns) for line in lines]


def test_phases_add_up_to_the_whole_and_other_is_the_rest(clock):
    phases = PhaseClock()
    clock.now_ns += 5
    for launch, duration in ((0, 100), (0, 20), (1, 3)):
        with phases.phase("blocks", launch):
            clock.now_ns += duration
        clock.now_ns += 1
    with phases.phase("finish", 1):
        clock.now_ns += 40

    assert written(phases) == [("blocks", 0, 120), ("blocks", 1, 3), ("finish", 1, 40), ("other", None, 8)]


def test_a_phase_that_ends_in_an_error_counts(clock):
    phases = PhaseClock()

    def build():
        clock.now_ns += 7
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), phases.phase("build", 0):
        build()

    assert written(phases) == [("build", 0, 7), ("other", None, 0)]
