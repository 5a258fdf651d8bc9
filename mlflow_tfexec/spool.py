"""The spool: where a benchmark is written while it is measured, and waits until MLflow has it.

One directory per benchmark: `recording.jsonl`, `destination.json` (where it is to be logged), `workers/*.log`,
`scratch/` while it is measured, `owner.json` while a process works on it, and `logged.json` once MLflow has it. A model
that is fetched lies in a directory of its own beside them, for as long as the benchmarks of one command need it.
"""

import json
import os
import shutil
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from mlflow_tfexec import ownership
from mlflow_tfexec.errors import RequestError, SpoolError
from mlflow_tfexec.records.codec import encode, load_recording
from mlflow_tfexec.records.recording import Recording

SPOOL_VARIABLE = "MLFLOW_TFEXEC_SPOOL"

# A logged benchmark is kept this long as a second copy, then its directory is removed.
KEEP_LOGGED_DAYS = 30

RECORDING = "recording.jsonl"
_FETCHED = "fetched-"
_DESTINATION = "destination.json"
_LOGGED = "logged.json"


def spool_root(option: str | None = None, environ: Mapping[str, str] = os.environ) -> Path:
    """Say where benchmarks are spooled: the option, else $MLFLOW_TFEXEC_SPOOL, else under the home directory."""
    return Path(option or environ.get(SPOOL_VARIABLE) or Path.home() / ".mlflow-tfexec" / "spool")


class SpooledBenchmark:
    """One benchmark's directory in the spool."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._stream: Any = None

    @property
    def benchmark_id(self) -> str:
        """The benchmark's id is the directory's name."""
        return self.directory.name

    @property
    def recording_path(self) -> Path:
        """Where the recording is or will be."""
        return self.directory / RECORDING

    @property
    def is_logged(self) -> bool:
        """True: MLflow has all of it."""
        return (self.directory / _LOGGED).exists()

    def create(self) -> None:
        """Make the directory and prove that it can be written to.

        Raises:
            RequestError: the place is read-only, full, not a directory, or already holds this benchmark.
        """
        probe = self.directory / "probe"
        try:
            self.directory.mkdir(parents=True)
        except OSError as error:
            raise self._refusal(error) from None
        try:
            (self.directory / "workers").mkdir()
            # An empty file can be made on a full disk; a page of zeros cannot.
            probe.write_bytes(bytes(65536))
            probe.unlink()
            ownership.claim(self.directory)
        except OSError as error:
            self.discard()
            raise self._refusal(error) from None

    def claim(self) -> bool:
        """Say that this process works on the benchmark. False: another one measures or logs it at this moment.

        Raises:
            SpoolError: the directory cannot be written to.
        """
        try:
            return ownership.claim(self.directory)
        except OSError as error:
            raise SpoolError(f"Cannot write to {str(self.directory)!r}: {error.strerror}.") from None

    def release(self) -> None:
        """Let others work on the benchmark."""
        ownership.release(self.directory)

    def append(self, line: BaseModel) -> None:
        """Write one line of the recording and hand it to the operating system, so that our own death loses nothing.

        Raises:
            SpoolError: the disk is full or the directory has gone.
        """
        try:
            if self._stream is None:
                self._stream = self.recording_path.open("a", encoding="utf-8", newline="\n")
            self._stream.write(encode(line) + "\n")
            self._stream.flush()
        except OSError as error:
            raise SpoolError(
                f"Cannot write to {str(self.recording_path)!r}: {error.strerror}. Measuring stopped.\n"
                f"What was measured before is kept; make room, then: mlflow-tfexec sync {self.directory}"
            ) from None

    def close(self) -> None:
        """Close the recording. Reading and syncing work before that, too."""
        if self._stream is not None:
            stream, self._stream = self._stream, None
            try:
                stream.close()
            except OSError:
                # A full disk refuses the buffered line once more; `append` has already said so.
                return

    def worker_log(self, launch: int, mode: str) -> Path:
        """Where the worker of *mode* writes what it and its libraries print."""
        return self.directory / "workers" / f"launch-{launch}-{mode}.log"

    def trial_log(self, batch_size: int, mode: str) -> Path:
        """Where a worker of *mode* writes that tries whether another batch fits."""
        return self.directory / "workers" / f"batch-{batch_size}-{mode}.log"

    @property
    def scratch(self) -> Path:
        """Where the workers of one launch exchange outputs. Absolute: a model may change its directory."""
        return self.directory.absolute() / "scratch"

    def remove_scratch(self) -> None:
        """Remove what the workers exchanged, also what a killed process has left."""
        shutil.rmtree(self.scratch, ignore_errors=True)

    def write_destination(self, destination: Mapping[str, Any]) -> None:
        """Remember where this benchmark is to be logged. The caller has removed credentials."""
        self._write_json(_DESTINATION, destination)

    def read_destination(self) -> dict[str, Any] | None:
        """Return what `write_destination` wrote. None: nothing was, or it cannot be read."""
        try:
            data = json.loads((self.directory / _DESTINATION).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return data if isinstance(data, dict) else None

    def mark_logged(self, where: Mapping[str, Any]) -> None:
        """Note that MLflow has all of it, and where."""
        self.remove_scratch()
        self._write_json(_LOGGED, where)

    def load(self) -> Recording:
        """Read the recording. Raises RecordingError when there is none to read."""
        return load_recording(self.recording_path)

    def discard(self) -> None:
        """Remove the directory: nothing was measured."""
        self.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _refusal(self, error: OSError) -> RequestError:
        return RequestError(
            f"Cannot write to the spool directory {str(self.directory.parent)!r}: {error.strerror}.\n"
            f"Name another with --spool-dir or ${SPOOL_VARIABLE}."
        )

    def _write_json(self, name: str, data: Mapping[str, Any]) -> None:
        try:
            (self.directory / name).write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            raise SpoolError(f"Cannot write {str(self.directory / name)!r}: {error.strerror}.") from None


def spooled(root: Path) -> Iterator[SpooledBenchmark]:
    """Yield every benchmark in the spool that holds a recording, oldest first."""
    if root.is_dir():
        for path in sorted(root.glob(f"*/{RECORDING}"), key=_modified_s):
            yield SpooledBenchmark(path.parent)


@contextmanager
def place_for_model(root: Path) -> Iterator[Path]:
    """Give a directory in the spool for a model that lies elsewhere, and remove it in the end, whatever happens.

    What a killed process has left of such a kind is removed as well.

    Raises:
        RequestError: the spool cannot be written to.
    """
    for left in root.glob(f"{_FETCHED}*"):
        if ownership.is_abandoned(left):
            shutil.rmtree(left, ignore_errors=True)
    place = SpooledBenchmark(root / f"{_FETCHED}{uuid.uuid4().hex}")
    place.create()
    try:
        # Absolute: a model may change its directory.
        yield place.directory.absolute() / "model"
    finally:
        place.discard()


def prune(root: Path, *, now_s: float | None = None) -> None:
    """Remove benchmarks that MLflow has had for a long time. One that is not logged is never removed."""
    oldest_s = (time.time() if now_s is None else now_s) - KEEP_LOGGED_DAYS * 86_400
    for benchmark in spooled(root):
        if benchmark.is_logged and _modified_s(benchmark.directory / _LOGGED) < oldest_s:
            benchmark.discard()


def _modified_s(path: Path) -> float:
    """When a file was last written. Now, if another process has removed it in the meantime."""
    try:
        return path.stat().st_mtime
    except OSError:
        return time.time()
