"""What finding benchmarks costs beside the bare `search_runs` calls that fetch the same rows, for stores that grow.

Fills a store with benchmarks and five times as many runs of other tools, then alternates both in random order. Whole
commands are started apart, for their time and peak memory.

    python benchmarks/query_time.py --sizes 1000 10000
    python benchmarks/query_time.py --uri postgresql://user:password@127.0.0.1/empty_database
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from make_store import MODELS, fill

from mlflow_tfexec.tracking.filters import Query, benchmark_filter, mode_filter
from mlflow_tfexec.tracking.query import NEWEST_FIRST, find_benchmarks

MODEL = MODELS[7]
LIMIT = 20
FOREIGN_PER_BENCHMARK = 5
QUERIES = {
    "--model": Query(model=MODEL, limit=LIMIT),
    "--model --mode": Query(model=MODEL, mode="xla", limit=LIMIT),
    "(none)": Query(limit=LIMIT),
}

BARE = """
import sys
from mlflow import MlflowClient
client = MlflowClient(sys.argv[1])
ids = [experiment.experiment_id for experiment in client.search_experiments()]
print(len(client.search_runs(ids, sys.argv[2], max_results=int(sys.argv[3]), order_by=["attributes.start_time DESC"])))
"""


def bare_calls(client: Any, ids: Sequence[str], query: Query) -> Callable[[], int]:
    """Give the function that fetches what `find_benchmarks` fetches and does no more."""

    def search(conditions: str, rows: int) -> list[Any]:
        return list(client.search_runs(ids, conditions, max_results=rows, order_by=list(NEWEST_FIRST)))

    def benchmarks() -> int:
        return len(search(benchmark_filter(query), query.limit))

    def modes() -> int:
        children = search(mode_filter(query), query.limit + 1)
        parents = sorted({child.data.tags["mlflow.parentRunId"] for child in children})
        return len(search(benchmark_filter(query, parents), len(parents)))

    return benchmarks if query.mode is None else modes


def seconds(call: Callable[[], Any]) -> float:
    start_s = time.perf_counter()
    call()
    return time.perf_counter() - start_s


class Searching:
    """The time that passes inside `MlflowClient.search_runs`, so that the rest of a call is known apart."""

    def __init__(self) -> None:
        from mlflow import MlflowClient

        self.total_s = 0.0
        plain = MlflowClient.search_runs

        def timed(client: Any, *given: Any, **named: Any) -> Any:
            start_s = time.perf_counter()
            try:
                return plain(client, *given, **named)
            finally:
                self.total_s += time.perf_counter() - start_s

        MlflowClient.search_runs = timed


def side_by_side(uri: str, query: Query, repeat: int, searching: Searching) -> tuple[float, float, float]:
    """Return the median seconds of the bare calls and of ours, and the least that ours spends outside `search_runs`.

    Both alternate in random order; the first turn is left out. The least, because the rest is waiting for other work.
    """
    from mlflow import MlflowClient

    client = MlflowClient(uri)
    ids = [experiment.experiment_id for experiment in client.search_experiments()]
    calls = {"bare": bare_calls(client, ids, query), "ours": lambda: find_benchmarks(query, tracking_uri=uri)}
    times: dict[str, list[float]] = {"bare": [], "ours": [], "own": []}
    for turn in range(repeat + 1):
        for name in random.sample(list(calls), len(calls)):
            searching.total_s = 0.0
            elapsed_s = seconds(calls[name])
            if turn:
                times[name].append(elapsed_s)
            if turn and name == "ours":
                times["own"].append(elapsed_s - searching.total_s)
    return statistics.median(times["bare"]), statistics.median(times["ours"]), min(times["own"])


# Linux keeps for a process the peak of the one that it was forked from, so a small one stands in between.
LAUNCHER = """
import os, subprocess, sys, time
start_s = time.perf_counter()
process = subprocess.Popen([sys.executable, *sys.argv[1:]], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(status, time.perf_counter() - start_s, usage.ru_maxrss)
"""


def whole(command: Sequence[str]) -> tuple[float, float]:
    """Run a command; return its seconds and its peak memory in MiB."""
    done = subprocess.run([sys.executable, "-c", LAUNCHER, *command], stdout=subprocess.PIPE, text=True, check=True)
    status, elapsed_s, peak = done.stdout.split()
    if status != "0":
        sys.exit(f"{' '.join(command[:4])} failed")
    # Linux counts KiB here, macOS bytes.
    return float(elapsed_s), int(peak) / (1024 if sys.platform != "darwin" else 1024 * 1024)


def measure(uri: str, repeat: int, searching: Searching) -> None:
    print(f"{'query':<16} {'bare':>9} {'ours':>9} {'ratio':>6} {'own part':>9}")
    for name, query in QUERIES.items():
        bare_s, ours_s, own_s = side_by_side(uri, query, repeat, searching)
        print(
            f"{name:<16} {bare_s * 1e3:>6.1f} ms {ours_s * 1e3:>6.1f} ms {ours_s / bare_s:>6.2f} {own_s * 1e3:>6.1f} ms"
        )
    ours = ["-m", "mlflow_tfexec"]
    asked = ["--model", MODEL, "--limit", str(LIMIT), "--tracking-uri", uri]
    commands = {
        "bare search_runs": ["-c", BARE, uri, benchmark_filter(QUERIES["--model"]), str(LIMIT)],
        "runs": [*ours, "runs", *asked],
        "report": [*ours, "report", *asked],
    }
    for name, command in commands.items():
        elapsed_s, peak_mb = whole(command)
        print(f"whole process, {name}: {elapsed_s:.1f} s, peak {peak_mb:.0f} MiB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000], help="benchmarks, growing")
    parser.add_argument("--uri", help="an empty database; without it, a new SQLite file")
    parser.add_argument("--repeat", type=int, default=11)
    options = parser.parse_args()
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    with tempfile.TemporaryDirectory() as directory:
        uri = options.uri or f"sqlite:///{directory}/store.db"
        first, searching = 0, Searching()
        for size in sorted(options.sizes):
            foreign = (size - first) * FOREIGN_PER_BENCHMARK
            start_s = time.perf_counter()
            fill(uri, first=first, benchmarks=size, foreign=foreign, artifacts=Path(directory) / "artifacts")
            filled_s = time.perf_counter() - start_s
            print(
                f"\n{size} benchmarks, {5 * size} nested runs, {FOREIGN_PER_BENCHMARK * size} others; {filled_s:.0f} s"
            )
            measure(uri, options.repeat, searching)
            first = size


if __name__ == "__main__":
    main()
