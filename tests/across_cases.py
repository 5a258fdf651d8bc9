"""Comparisons across benchmarks made of recordings with known numbers, by name."""

from functools import cache

from recordings import SEED_TABLE_MS, make_recording

from mlflow_tfexec.reports._across import across_table
from mlflow_tfexec.statistics.across import compare_across

HOSTILE = "<img src=x onerror=alert(1)> |pipe| `tick`\n# heading\x1b[2J"
MACHINE = {
    "tensorflow": {"version": "2.19.0", "keras_version": "3.9.2", "device": "GPU:0"},
    "cpu": {"name": "Example CPU 9000"},
    "gpus": [{"name": "Example GPU 80GB"}],
    "gpu_driver": {"version": "550.54.15"},
}


def recording(name, times_ms=SEED_TABLE_MS, *, version="2.19.0", **more):
    tensorflow = MACHINE["tensorflow"] | {"version": version}
    given = {"benchmark_id": name * 32, "seed": ord(name), "environment": MACHINE | {"tensorflow": tensorflow}}
    return make_recording(times_ms, **(given | more))


def upgrade():
    """A newer TensorFlow whose XLA is a tenth slower."""
    return [recording("a"), recording("b", SEED_TABLE_MS | {"xla": 11.6 * 1.1}, version="2.20.0")]


def three():
    """The second has lost a mode, and the third is noisy."""
    return [recording("a"), recording("b", statuses={"xla": "oom"}), recording("c", launch_noise=0.05)]


def drift():
    """The machine became slower between two benchmarks of the same."""
    loads = {"compute": 2.0, "memory": 3.0, "dispatch": 0.2}
    slower = {load: 1.2 * time_ms for load, time_ms in loads.items()}
    times = {mode: 1.2 * time_ms for mode, time_ms in SEED_TABLE_MS.items()}
    return [recording("a", loads_ms=loads), recording("b", times, loads_ms=slower)]


def one_launch():
    return [recording("a", launches=1), recording("b", launches=1)]


def hostile():
    environment = {"cpu": {"name": "=1+1 | <b>"}}
    return [recording("a", model=HOSTILE), recording("b", environment=environment, model=HOSTILE)]


RELATIVE = {"relative": "eager"}
CASES = {
    "relative": upgrade,
    "upgrade": upgrade,
    "three": three,
    "drift": drift,
    "one_launch": one_launch,
    "hostile": hostile,
}


@cache
def make(case):
    recordings = CASES[case]()
    return across_table(recordings, compare_across(recordings, relative_to=RELATIVE.get(case), allow_mixed=True))
