"""Interruptions and full disks: what was measured is kept, and nothing is left running."""

import errno
import os

import pytest
from sessions import Witness, make_spec

from mlflow_tfexec.errors import Interrupted, SpoolError
from mlflow_tfexec.session.benchmark import run_session
from mlflow_tfexec.session.observer import Silence


@pytest.mark.parametrize(
    ("stage", "exception"),
    [
        ("first_call", Interrupted("Interrupted by SIGINT.")),
        ("warmup", Interrupted("Interrupted by SIGTERM.")),
        ("rounds", KeyboardInterrupt()),
        ("finish", Interrupted("Interrupted by SIGINT.")),
    ],
)
def test_an_interrupted_session_leaves_a_readable_recording_that_says_so(bench, stage, exception):
    at = (stage, 0 if stage == "finish" else 1)

    with pytest.raises(type(exception)):
        bench.measure(make_spec(rounds=3), Witness(raises=exception, at=at))

    recording = bench.spool.load()
    assert recording.end.status == "interrupted"
    assert recording.reading_findings == ()
    assert recording.phases[-1].name == "other"


@pytest.mark.parametrize("stage", ["start", "build"])
def test_an_interruption_before_anything_was_recorded_removes_the_spool(bench, stage):
    with pytest.raises(Interrupted):
        bench.measure(make_spec(), Witness(raises=Interrupted("Interrupted by SIGINT."), at=(stage, 0)))

    assert not bench.spool.directory.exists()


def test_blocks_before_the_interruption_are_kept(bench):
    with pytest.raises(Interrupted):
        bench.measure(make_spec(rounds=9), Witness(raises=Interrupted("stop"), at=("rounds", 5)))

    measured = [b.round for b in bench.spool.load().blocks if (b.metric, b.warmup) == ("latency", False)]
    assert measured == [0, 0, 1, 1, 2]


class FillingDisk:
    """A stream whose disk is full after some lines."""

    def __init__(self, stream, lines):
        self._stream = stream
        self._lines = lines

    def write(self, text):
        self._lines -= 1
        if self._lines < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._stream.write(text)

    def flush(self):
        self._stream.flush()

    def close(self):
        self._stream.close()


def test_a_full_disk_stops_the_session_and_keeps_what_was_written(bench):
    spool = bench.spool
    spool.create()
    spool._stream = FillingDisk(spool.recording_path.open("w", encoding="utf-8"), lines=20)

    with pytest.raises(SpoolError) as caught:
        run_session(make_spec(), spool, Silence(), variables={})

    first, second = str(caught.value).split("\n")
    assert first == f"Cannot write to {str(spool.recording_path)!r}: No space left on device. Measuring stopped."
    assert second.endswith(f"make room, then: mlflow-tfexec sync {spool.directory}")
    recording = spool.load()
    assert len(recording.lines) == 19
    assert recording.end is None


def test_an_error_of_ours_ends_the_recording_as_failed(bench):
    with pytest.raises(ZeroDivisionError):
        bench.measure(make_spec(), Witness(raises=ZeroDivisionError(), at=("rounds", 0)))

    assert bench.spool.load().end.status == "failed"
