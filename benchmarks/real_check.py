"""The gate on real benchmarks, by the commands that a build would run: the same build twice, and one a tenth slower.

Each repetition measures, one after the other, a model of ten equal heavy layers, the same again, and eleven layers, and
checks the second and the third against the first and the second. The first must never fail the gate.

    python benchmarks/real_check.py 20

Recordings stay in the folder that is printed.
"""

import collections
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MODEL = f"{Path(__file__).with_name('real_models.py')}:heavy_layers"
LAYERS = {"base": 10, "same": 10, "slower": 11}
OUTCOMES = {0: "passed or undecided", 3: "regression"}


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
    return next(spool.glob("*/recording.jsonl"))


def check(new: Path, base: Path) -> tuple[int, str]:
    done = command("check", str(new), "--against", str(base))
    return done.returncode, (done.stdout or done.stderr).strip()


def main() -> None:
    root = Path(tempfile.mkdtemp(prefix="real-check-"))
    print(f"recordings: {root}", flush=True)
    counts: dict[str, collections.Counter[str]] = {"same": collections.Counter(), "slower": collections.Counter()}
    for number in range(int(sys.argv[1])):
        start_s = time.perf_counter()
        recordings = {name: measure(root / f"{number:02}-{name}", layers) for name, layers in LAYERS.items()}
        for name, before in (("same", "base"), ("slower", "same")):
            exit_code, line = check(recordings[name], recordings[before])
            outcome = "undecided" if line.startswith("undecided") else OUTCOMES.get(exit_code, f"exit {exit_code}")
            counts[name]["passed" if outcome == OUTCOMES[0] else outcome] += 1
            print(f"{number + 1} {name}: exit {exit_code}, {line}", flush=True)
        print(f"{number + 1}: {time.perf_counter() - start_s:.0f} s, load {os.getloadavg()[0]:.1f}", flush=True)
    for name, outcomes in counts.items():
        print(f"{name}: {dict(outcomes)}")
    sys.exit(1 if counts["same"]["regression"] else 0)


if __name__ == "__main__":
    main()
