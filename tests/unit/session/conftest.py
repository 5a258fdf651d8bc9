import psutil
import pytest
from sessions import Bench


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """A place to measure in; afterwards no worker is left, whatever happened."""
    bench = Bench(tmp_path, monkeypatch)
    bench.behave()
    yield bench
    assert not [pid for pid in bench.pids() if psutil.pid_exists(pid)]
