"""The gate on real benchmarks, by the commands that a build would run: the same build twice, and one a tenth slower.

A model of ten equal heavy layers is measured first. Each repetition then measures it again, every third one eleven
layers before that, and checks both against the ten of before. The same build must never fail the gate.

    python benchmarks/real_check.py 20
    python benchmarks/real_check.py FOLDER     # check again what an earlier run has measured

Recordings stay in the folder that is printed. Beside the outcome stands what the times alone would have said, without
the reference loads.
"""

import collections
import dataclasses
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from mlflow_tfexec import Recording, load_recording
from mlflow_tfexec.errors import EXIT_REGRESSION
from mlflow_tfexec.records.reference_loads import ReferenceLoad
from mlflow_tfexec.statistics.gate import check_against

MODEL = f"{Path(__file__).with_name('real_models.py')}:heavy_layers"
LAYERS = {"slower": 11, "same": 10}
SLOWER_EVERY = 3


def command(*arguments: str, layers: int = 0) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "REAL_LAYERS": str(layers)}
    return subprocess.run(
        [sys.executable, "-m", "mlflow_tfexec", *arguments],
        env=environment, text=True, capture_output=True, check=False,
    )  # fmt: skip


def measure(spool: Path, layers: int) -> Path:
    """Measure a benchmark; return the path of its recording."""
    options = ["--modes", "eager,graph", "--launches", "5", "--input-shape", "512", "--batch-size", "512"]
    short = ["--block-ms", "50", "--warmup", "3", "--device", "cpu"]
    done = command("run", MODEL, *options, *short, "--offline", "--spool-dir", str(spool), layers=layers)
    if done.returncode:
        sys.exit(done.stderr)
    return recording_in(spool)


def check(new: Path, base: Path) -> tuple[str, str]:
    """Return the outcome and the line that says why."""
    done = command("check", str(new), "--against", str(base))
    line = (done.stdout or done.stderr).strip()
    outcome = line.partition(":")[0]
    if (done.returncode == EXIT_REGRESSION) != (outcome == "regression"):
        sys.exit(f"exit {done.returncode}: {line}")
    return outcome, line


def by_times_alone(new: Path, base: Path) -> str:
    """Return what the gate would say had there been no reference loads."""
    return check_against(*(without_loads(load_recording(path)) for path in (new, base))).outcome


def without_loads(recording: Recording) -> Recording:
    lines = tuple(line for line in recording.lines if not isinstance(line, ReferenceLoad))
    return dataclasses.replace(recording, lines=lines)


def repeat(root: Path, times: int) -> Iterator[tuple[str, Path, Path]]:
    """Measure, and give each benchmark with its name and the one that it is held against."""
    base = measure(root / "00-same", LAYERS["same"])
    for number in range(1, times + 1):
        start_s = time.perf_counter()
        names = [name for name in LAYERS if name == "same" or number % SLOWER_EVERY == 0]
        new = {name: measure(root / f"{number:02}-{name}", LAYERS[name]) for name in names}
        print(f"{number}: {time.perf_counter() - start_s:.0f} s, load {os.getloadavg()[0]:.1f}", flush=True)
        yield from ((name, path, base) for name, path in new.items())
        base = new["same"]


def measured(root: Path) -> Iterator[tuple[str, Path, Path]]:
    """Give what an earlier run has measured, as `repeat` does."""
    for directory in sorted(root.glob("??-*")):
        number, _, name = directory.name.partition("-")
        if int(number):
            yield name, recording_in(directory), recording_in(root / f"{int(number) - 1:02}-same")


def recording_in(spool: Path) -> Path:
    return next(spool.glob("*/recording.jsonl"))


def main(argument: str) -> None:
    """Measure so many times, or check again what lies in a folder."""
    if argument.isdigit():
        root = Path(tempfile.mkdtemp(prefix="real-check-"))
        print(f"recordings: {root}", flush=True)
        found = repeat(root, int(argument))
    else:
        found = measured(Path(argument))
    counts: collections.Counter[tuple[str, str, str]] = collections.Counter()
    for name, new, base in found:
        outcome, line = check(new, base)
        alone = by_times_alone(new, base)
        counts[name, outcome, alone] += 1
        print(f"{name}: {line} [by times alone: {alone}]", flush=True)
    for (name, outcome, alone), times in sorted(counts.items()):
        print(f"{name}: {outcome} {times} times, by times alone {alone}")
    sys.exit(1 if any(name == "same" and outcome == "regression" for name, outcome, _ in counts) else 0)


if __name__ == "__main__":
    main(sys.argv[1])
