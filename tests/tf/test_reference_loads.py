"""The reference loads themselves, by TensorFlow on this machine."""

import numpy as np
import pytest

from mlflow_tfexec.records.reference_loads import LOADS
from mlflow_tfexec.worker.reference_loads import reference_loads, time_loads

pytestmark = pytest.mark.tf


@pytest.fixture(scope="module")
def loads(device_facts):
    return reference_loads("CPU")


def test_they_are_the_ones_that_recordings_know(loads):
    assert set(loads) == set(LOADS)


def test_they_compute_what_their_names_say(loads):
    """What is left out by a clever library would tell nothing of the machine."""
    assert np.allclose(loads["compute"].run(), 1 / 512)
    assert float(loads["memory"].run()) == 32 * 2**20 / 4
    assert np.array_equal(loads["dispatch"].run(), np.full(16, 21.0))


def test_every_load_is_timed_for_as_long_as_was_asked(loads):
    times = time_loads(loads, duration_ns=5_000_000)

    assert set(times.calls_ns) == set(LOADS)
    for calls_ns in times.calls_ns.values():
        assert all(ns > 0 for ns in calls_ns)
        # The last call is the one that reaches the end, unless there are as many as a block may hold.
        assert sum(calls_ns[:-1]) < 5_000_000
        assert sum(calls_ns) >= 5_000_000 or len(calls_ns) == 1000
