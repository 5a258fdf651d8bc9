"""Where the wall time of a whole benchmark goes, and how much memory its parent process takes.

Runs `mlflow-tfexec run MODEL --preset quick` in a process of its own and reads the phases from its recording.
What is none of worker start, model build, first calls, pilot, warm-up or timed blocks is our own cost: the command's
start, the bookkeeping between blocks, the workers' end, judging, reporting, and logging to MLflow.

    python benchmarks/wall_share.py [MODEL]
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from mlflow_tfexec import load_recording

WORK = ("start", "build", "first_call", "pilot", "warmup", "blocks")

# The parent prints its own peak when the command is done: what `wait4` reports would include the workers.
PARENT = """
import re, sys
from pathlib import Path
from mlflow_tfexec.cli.app import run
code = run(sys.argv[1:])
print("PEAK", re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1], file=sys.stderr)
print("TENSORFLOW", "tensorflow" in sys.modules, file=sys.stderr)
sys.exit(code)
"""


def main() -> None:
    model = sys.argv[1] if len(sys.argv) > 1 else "EfficientNetV2S"
    with tempfile.TemporaryDirectory() as directory:
        environment = {
            **os.environ,
            "MLFLOW_TFEXEC_SPOOL": directory,
            "MLFLOW_TRACKING_URI": f"sqlite:///{directory}/mlflow.db",
        }
        start_s = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", PARENT, "run", model, "--preset", "quick"],
            env=environment,
            stderr=subprocess.PIPE,
            stdout=sys.stderr,
            text=True,
            check=False,
        )
        wall_s = time.perf_counter() - start_s
        if done.returncode != 0:
            sys.exit(done.stderr)
        [path] = Path(directory).glob("*/recording.jsonl")
        phases: Counter[str] = Counter()
        for phase in load_recording(path).phases:
            phases[phase.name] += phase.duration_ns
    named = {name: phases.pop(name, 0) / 1e9 for name in WORK}
    named["own cost, in the session"] = sum(phases.values()) / 1e9
    named["own cost, around it"] = wall_s - sum(named.values())
    for name, seconds in named.items():
        print(f"{name:<26} {seconds:>8.2f} s {100 * seconds / wall_s:>6.1f} %")
    own_s = wall_s - sum(named[name] for name in WORK)
    print(f"{'all own cost':<26} {own_s:>8.2f} s {100 * own_s / wall_s:>6.1f} %")
    print(f"{'wall':<26} {wall_s:>8.2f} s")
    [peak_kb] = re.findall(r"PEAK (\d+)", done.stderr)
    [loaded] = re.findall(r"TENSORFLOW (\w+)", done.stderr)
    print(f"parent's peak memory: {int(peak_kb) / 1024:.0f} MiB")
    print(f"tensorflow in the parent: {loaded}")


if __name__ == "__main__":
    main()
