"""Time and memory of judging a large recording: 20 launches of 200 rounds of 6 modes, all of them ranked.

Each recording is written, loaded and judged in a process of its own. The first judgement of a loaded recording also
sorts its lines by kind; the median is of five in all. On a busy machine the processor time says more than the clock.

Memory is the growth of the process's peak during the first judgement (nothing, where judging fits into what loading
has freed), and the peak of what Python and NumPy allocated in a further one.

    python benchmarks/judging.py
    python benchmarks/judging.py --profile    # and where the time goes
"""

import argparse
import cProfile
import json
import pstats
import resource
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from recordings import make_recording, write_recording

from mlflow_tfexec import judge, load_recording

TIMES_MS = {
    "eager": 369.0,
    "keras_predict": 20.0,
    "graph": 15.9,
    "graph_nojit": 15.9,
    "graph_nograppler": 16.4,
    "xla": 11.6,
}
LAUNCHES, ROUNDS = 20, 200
CALLS = (1, 5, 20)
REPEATS = 5

MIB = 1024 * 1024
PEAK_UNIT = 1 if sys.platform == "darwin" else 1024


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * PEAK_UNIT / MIB


def measure(path: Path) -> dict[str, float]:
    """Load and judge in this process."""
    start_s = time.perf_counter()
    recording = load_recording(path)
    load_s = time.perf_counter() - start_s
    loaded_mib = peak_mib()
    judge_s, processor_s = [], []
    for _ in range(REPEATS):
        start_s, start_processor_s = time.perf_counter(), time.process_time()
        judge(recording)
        judge_s.append(time.perf_counter() - start_s)
        processor_s.append(time.process_time() - start_processor_s)
        if len(judge_s) == 1:
            judged_mib = peak_mib()
    tracemalloc.start()
    judge(recording)
    _, allocated = tracemalloc.get_traced_memory()
    return {
        "load s": load_s,
        "first judge s": judge_s[0],
        "median judge s": median(judge_s),
        "median processor s": median(processor_s),
        "peak after load MiB": loaded_mib,
        "growth by judge MiB": judged_mib - loaded_mib,
        "allocated by judge MiB": allocated / MIB,
    }


def profile(path: Path) -> None:
    """Print the fifteen functions in which judging spends most."""
    recording = load_recording(path)
    profiler = cProfile.Profile()
    profiler.runcall(judge, recording)
    for order in ("tottime", "cumulative"):
        pstats.Stats(profiler).strip_dirs().sort_stats(order).print_stats(15)


def write(directory: Path, calls: int) -> Path:
    looks: dict[str, Any] = {"looks": (5, 10, 15, 20)}
    recording = make_recording(TIMES_MS, launches=LAUNCHES, rounds=ROUNDS, calls=calls, **looks)
    return write_recording(recording, directory / str(calls))


def in_child(*arguments: str) -> str:
    return subprocess.run([sys.executable, __file__, *arguments], stdout=subprocess.PIPE, text=True, check=True).stdout


def print_table(directory: Path) -> None:
    for place, calls in enumerate(CALLS):
        path = in_child("--write", str(directory), str(calls)).strip()
        measured = {"file MiB": Path(path).stat().st_size / MIB, **json.loads(in_child("--measure", path))}
        if place == 0:
            print("calls a block", *measured, sep="  ")
        figures = (f"{value:>{len(name)}.{2 if name.endswith(' s') else 0}f}" for name, value in measured.items())
        print(f"{calls:>13}", *figures, sep="  ", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time and memory of judging a large recording.")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--write", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:
        print(write(Path(options.write[0]), int(options.write[1])))
    elif options.measure:
        print(json.dumps(measure(options.measure)))
    else:
        with tempfile.TemporaryDirectory() as name:
            print_table(Path(name))
            if options.profile:
                profile(Path(name) / "5" / "recording.jsonl")


if __name__ == "__main__":
    main()
