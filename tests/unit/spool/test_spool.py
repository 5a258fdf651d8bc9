"""The spool: what is measured is on disk first, and stays until MLflow has it."""

import errno
import json
import os
import platform
from pathlib import Path

import pytest
from recordings import make_recording, to_text, write_recording

from mlflow_tfexec.errors import RecordingError, RequestError, SpoolError
from mlflow_tfexec.records.recording import End, Phase
from mlflow_tfexec.spool import KEEP_LOGGED_DAYS, SpooledBenchmark, place_for_model, prune, spool_root, spooled

DAY_S = 86_400
NOW_S = 1_800_000_000.0


@pytest.fixture
def benchmark(tmp_path):
    benchmark = SpooledBenchmark(tmp_path / "spool" / "0123")
    benchmark.create()
    yield benchmark
    benchmark.close()


def keep(root, name, *, age_days=0, logged_days=None):
    """Put a benchmark into the spool that was written, and perhaps logged, some days ago."""
    benchmark = SpooledBenchmark(root / name)
    path = write_recording(make_recording(launches=1, rounds=1), benchmark.directory)
    os.utime(path, (NOW_S - age_days * DAY_S,) * 2)
    if logged_days is not None:
        benchmark.mark_logged({"run_id": name})
        os.utime(benchmark.directory / "logged.json", (NOW_S - logged_days * DAY_S,) * 2)
    return benchmark


@pytest.mark.parametrize(
    ("option", "environ", "root"),
    [
        ("/a", {"MLFLOW_TFEXEC_SPOOL": "/b"}, "/a"),
        (None, {"MLFLOW_TFEXEC_SPOOL": "/b"}, "/b"),
        ("", {"MLFLOW_TFEXEC_SPOOL": "/b"}, "/b"),
        (None, {}, "/home/me/.mlflow-tfexec/spool"),
        (None, {"MLFLOW_TFEXEC_SPOOL": ""}, "/home/me/.mlflow-tfexec/spool"),
    ],
)
def test_the_root_is_the_option_else_the_variable_else_under_home(monkeypatch, option, environ, root):
    monkeypatch.setattr(Path, "home", lambda: Path("/home/me"))

    assert spool_root(option, environ) == Path(root)


def test_a_new_benchmark_is_a_directory_that_is_ours_with_a_place_for_logs(benchmark):
    assert sorted(path.name for path in benchmark.directory.iterdir()) == ["owner.json", "workers"]
    assert benchmark.worker_log(2, "xla").parent == benchmark.directory / "workers"
    assert benchmark.benchmark_id == "0123"


def test_a_line_is_on_disk_as_soon_as_it_is_written(benchmark):
    benchmark.append(Phase(name="build", duration_ns=5))

    expected = '{"kind":"phase","name":"build","duration_ns":5}\n'
    assert benchmark.recording_path.read_text(encoding="utf-8") == expected

    benchmark.append(End(status="complete"))
    assert benchmark.recording_path.read_text(encoding="utf-8") == expected + '{"kind":"end","status":"complete"}\n'


def test_what_was_appended_is_loaded(benchmark):
    recording = make_recording(launches=1, rounds=1)
    for line in (recording.header, *recording.lines):
        benchmark.append(line)

    assert benchmark.load() == recording
    assert benchmark.recording_path.read_text(encoding="utf-8") == to_text(recording)


def test_a_benchmark_without_a_recording_cannot_be_loaded(benchmark):
    with pytest.raises(RecordingError):
        benchmark.load()


def test_a_read_only_spool_is_a_wrong_request(tmp_path, monkeypatch):
    def mkdir(path, **options):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    # Not by permissions: some users may write everywhere.
    monkeypatch.setattr(Path, "mkdir", mkdir)

    with pytest.raises(RequestError) as caught:
        SpooledBenchmark(tmp_path / "0123").create()

    assert str(caught.value) == (
        f"Cannot write to the spool directory {str(tmp_path)!r}: Read-only file system.\n"
        "Name another with --spool-dir or $MLFLOW_TFEXEC_SPOOL."
    )


@pytest.mark.parametrize(("place", "problem"), [("/dev/full", "Not a directory"), ("/proc/self", "No such file")])
def test_a_place_that_cannot_hold_directories_is_a_wrong_request(place, problem):
    if not Path(place).exists():
        pytest.skip(f"there is no {place} here")

    with pytest.raises(RequestError, match=rf"^Cannot write to the spool directory '{place}': {problem}"):
        SpooledBenchmark(Path(place) / "0123").create()


def test_a_full_disk_is_noticed_before_anything_is_measured(tmp_path, monkeypatch):
    def write_bytes(path, data):
        path.touch()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", write_bytes)
    benchmark = SpooledBenchmark(tmp_path / "0123")

    with pytest.raises(RequestError, match=r"No space left on device\.\nName another"):
        benchmark.create()

    assert not benchmark.directory.exists()


def test_creating_never_removes_what_is_already_there(tmp_path):
    benchmark = keep(tmp_path, "0123")

    with pytest.raises(RequestError, match="File exists"):
        benchmark.create()

    assert benchmark.recording_path.exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
def test_a_disk_that_fills_while_measuring_is_an_error_that_says_how_to_go_on(benchmark):
    benchmark.recording_path.symlink_to("/dev/full")

    with pytest.raises(SpoolError) as caught:
        benchmark.append(End(status="complete"))
    benchmark.close()

    assert str(caught.value) == (
        f"Cannot write to {str(benchmark.recording_path)!r}: No space left on device. Measuring stopped.\n"
        f"What was measured before is kept; make room, then: mlflow-tfexec sync {benchmark.directory}"
    )


def test_a_directory_that_has_gone_is_an_error(benchmark):
    benchmark.discard()

    with pytest.raises(SpoolError, match="No such file or directory"):
        benchmark.append(End(status="complete"))
    with pytest.raises(SpoolError, match="Cannot write"):
        benchmark.mark_logged({})


@pytest.mark.parametrize(
    "destination", [{"tracking_uri": "sqlite:///mlflow.db", "run_id": "ab"}, {"experiment_name": "λ “x”"}, {}]
)
def test_the_destination_comes_back_as_it_was(benchmark, destination):
    benchmark.write_destination(destination)

    assert SpooledBenchmark(benchmark.directory).read_destination() == destination


@pytest.mark.parametrize("content", [None, "", "{", "[1]", "null", b"\xff\xfe"])
def test_a_destination_that_cannot_be_read_is_none(benchmark, content):
    if content is not None:
        data = content if isinstance(content, bytes) else content.encode()
        (benchmark.directory / "destination.json").write_bytes(data)

    assert benchmark.read_destination() is None


def test_a_benchmark_is_logged_once_that_is_noted(benchmark):
    assert not benchmark.is_logged
    benchmark.mark_logged({"run_id": "ab"})
    assert benchmark.is_logged


def test_the_spool_lists_what_holds_a_recording_oldest_first(tmp_path):
    for name, age_days in (("b", 3), ("a", 1), ("c", 2)):
        keep(tmp_path, name, age_days=age_days)
    SpooledBenchmark(tmp_path / "empty").create()
    (tmp_path / "stray.txt").write_text("")

    assert [benchmark.benchmark_id for benchmark in spooled(tmp_path)] == ["b", "c", "a"]


def test_a_spool_that_is_not_there_is_empty(tmp_path):
    assert list(spooled(tmp_path / "nowhere")) == []


def test_pruning_removes_what_was_logged_long_ago_and_nothing_else(tmp_path):
    keep(tmp_path, "old", age_days=400, logged_days=KEEP_LOGGED_DAYS + 1)
    keep(tmp_path, "old-but-logged-lately", age_days=400, logged_days=KEEP_LOGGED_DAYS - 1)
    keep(tmp_path, "old-and-never-logged", age_days=400)

    prune(tmp_path, now_s=NOW_S)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["old-and-never-logged", "old-but-logged-lately"]


def test_pruning_twice_or_nowhere_is_harmless(tmp_path):
    keep(tmp_path, "old", logged_days=KEEP_LOGGED_DAYS + 1)

    for root in (tmp_path, tmp_path, tmp_path / "nowhere"):
        prune(root, now_s=NOW_S)

    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_session_has_left_is_removed_when_mlflow_has_the_rest(benchmark):
    benchmark.scratch.mkdir()
    (benchmark.scratch / "0000.npy").write_bytes(b"outputs")
    benchmark.mark_logged({"run_id": "ab"})

    assert not benchmark.scratch.exists()
    assert benchmark.is_logged


def test_a_place_for_a_model_is_there_until_it_is_no_longer_needed(tmp_path):
    def fetch():
        with place_for_model(tmp_path) as place:
            place.mkdir()
            (place / "model.keras").write_bytes(b"weights")
            raise KeyError

    with pytest.raises(KeyError):
        fetch()

    assert list(tmp_path.iterdir()) == []


def test_a_place_for_a_model_is_none_of_the_benchmarks(tmp_path):
    with place_for_model(tmp_path):
        assert list(spooled(tmp_path)) == []


def test_a_model_that_a_killed_process_has_left_is_removed_and_one_in_use_is_not(tmp_path):
    left = tmp_path / "fetched-ab"
    left.mkdir()
    owner = {"host": platform.node(), "pid": 2**22 + 1, "began": 0.0}
    (left / "owner.json").write_text(json.dumps(owner))

    with place_for_model(tmp_path) as in_use, place_for_model(tmp_path):
        assert in_use.parent.is_dir()
        assert not left.exists()
