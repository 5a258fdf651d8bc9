import psutil
import pytest
from sessions import Bench


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """A place to measure in; afterwards no process is left, whatever happened."""
    bench = Bench(tmp_path, monkeypatch)
    bench.behave()
    yield bench
    loads = [int(path.name) for path in bench.loads.iterdir()]
    assert not [pid for pid in [*bench.pids(), *loads] if psutil.pid_exists(pid)]
