"""What finding and reporting benchmarks costs beside the bare `search_runs` calls that fetch the same rows.

Fills stores of several sizes with benchmarks and five times as many runs of other tools. In this process,
`find_benchmarks` alternates with the bare calls; `report` and a script with the bare calls are started alternately as
whole processes, for their time and peak memory. This script starts PostgreSQL itself, with an empty cluster.

The exit code is 1 if a limit is broken: `report` takes at most 1.5 times the bare script and 300 MB, and the processor
time that it spends outside `search_runs` does not grow with the store, save for a tenth, the noise of such figures.

    python benchmarks/query_time.py --store sqlite postgresql
"""

import argparse
import contextlib
import io
import os
import random
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from make_store import MODELS, fill
from postgresql_server import running
from whole_process import whole

from mlflow_tfexec.cli import app
from mlflow_tfexec.tracking.filters import Query, benchmark_filter, mode_filter
from mlflow_tfexec.tracking.query import NEWEST_FIRST, find_benchmarks

MODEL = MODELS[7]
LIMIT = 20
FOREIGN_PER_BENCHMARK = 5

MOST_TIMES_BARE = 1.5
MOST_MB = 300.0
MOST_GROWTH = 1.1
QUERIES = {
    "--model": Query(model=MODEL, limit=LIMIT),
    "--model --mode": Query(model=MODEL, mode="xla", limit=LIMIT),
    "(none)": Query(limit=LIMIT),
}

BARE = """
import sys
from mlflow import MlflowClient
client = MlflowClient()
ids = [experiment.experiment_id for experiment in client.search_experiments()]
print(len(client.search_runs(ids, sys.argv[1], max_results=int(sys.argv[2]), order_by=["attributes.start_time DESC"])))
"""

Place = Callable[[int], tuple[str, Path]]

REPORT = ("report", "--model", MODEL, "--limit", str(LIMIT))


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

        self.total_s = self.processor_s = 0.0
        plain = MlflowClient.search_runs

        def timed(client: Any, *given: Any, **named: Any) -> Any:
            start_s, start_processor_s = time.perf_counter(), time.process_time()
            try:
                return plain(client, *given, **named)
            finally:
                self.total_s += time.perf_counter() - start_s
                self.processor_s += time.process_time() - start_processor_s

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


@dataclass
class Turns:
    """What each turn at one size of a store took; those of `bare_s` and `report_s` were neighbours in time."""

    uri: str
    bare_s: list[float] = field(default_factory=list)
    report_s: list[float] = field(default_factory=list)
    bare_mb: list[float] = field(default_factory=list)
    report_mb: list[float] = field(default_factory=list)
    own_s: list[float] = field(default_factory=list)
    """Processor time of `report` outside `search_runs`, without starting Python and MLflow."""

    @property
    def ratio(self) -> float:
        """Median of what `report` takes over what the bare script takes."""
        return statistics.median(ours / bare for ours, bare in zip(self.report_s, self.bare_s, strict=True))


def take_turns(sizes: Sequence[Turns], repeat: int, searching: Searching) -> None:
    """Start whole processes, and the command in this process, at all sizes alternately: other work slows all alike."""
    bare = ["-c", BARE, benchmark_filter(QUERIES["--model"]), str(LIMIT)]
    for turn in range(repeat + 1):
        for one in random.sample(sizes, len(sizes)):
            # Not as an argument, where other accounts of the machine would see a password.
            os.environ["MLFLOW_TRACKING_URI"] = one.uri
            own_s = own_part(searching)
            if turn == 0:
                continue
            one.own_s.append(own_s)
            commands = [
                (bare, one.bare_s, one.bare_mb),
                (["-m", "mlflow_tfexec", *REPORT], one.report_s, one.report_mb),
            ]
            for command, times_s, peaks_mb in random.sample(commands, len(commands)):
                elapsed_s, peak_mb = whole(command)
                times_s.append(elapsed_s)
                peaks_mb.append(peak_mb)


def own_part(searching: Searching) -> float:
    """Return the processor seconds that the command spends outside `search_runs`: on reading, judging and writing."""
    searching.processor_s = 0.0
    start_s = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        code = app.run(list(REPORT))
    if code:
        sys.exit(f"report ended with {code}")
    return time.process_time() - start_s - searching.processor_s


def print_queries(uri: str, repeat: int, searching: Searching) -> None:
    print(f"{'query':<16} {'bare':>9} {'ours':>9} {'ratio':>6} {'own part':>9}")
    for name, query in QUERIES.items():
        bare_s, ours_s, own_s = side_by_side(uri, query, repeat, searching)
        print(
            f"{name:<16} {bare_s * 1e3:>6.1f} ms {ours_s * 1e3:>6.1f} ms"
            f" {ours_s / bare_s:>6.2f} {own_s * 1e3:>6.1f} ms",
            flush=True,
        )


def measure(store: str, place: Place, options: argparse.Namespace, searching: Searching) -> dict[int, Turns]:
    """Fill a store for each size, and measure."""
    turns = {}
    for size in sorted(options.sizes):
        uri, artifacts = place(size)
        start_s = time.perf_counter()
        fill(uri, first=0, benchmarks=size, foreign=FOREIGN_PER_BENCHMARK * size, artifacts=artifacts)
        filled_s = time.perf_counter() - start_s
        others = FOREIGN_PER_BENCHMARK * size
        print(f"\n{store}: {size} benchmarks, {5 * size} nested runs, {others} others; {filled_s:.0f} s", flush=True)
        print_queries(uri, options.repeat, searching)
        turns[size] = Turns(uri)
    take_turns(list(turns.values()), options.whole_repeat, searching)
    return turns


def print_results(store: str, turns: dict[int, Turns]) -> bool:
    """Print the limits and what became of them. True: all are kept."""
    print(f"\n{store:<11} {'size':>6} {'bare':>7} {'report':>7} {'ratio':>6} {'bare':>7} {'report':>7} {'own part':>9}")
    for size, one in turns.items():
        print(
            f"{'':<11} {size:>6} {statistics.median(one.bare_s):>5.2f} s {statistics.median(one.report_s):>5.2f} s"
            f" {one.ratio:>6.2f} {max(one.bare_mb):>4.0f} MB {max(one.report_mb):>4.0f} MB {min(one.own_s):>7.3f} s"
        )
    smallest, *_, largest = turns.values() if len(turns) > 1 else list(turns.values()) * 2
    measured = {
        "report / bare, at most": (max(one.ratio for one in turns.values()), MOST_TIMES_BARE),
        "peak memory in MB, at most": (max(max(one.report_mb) for one in turns.values()), MOST_MB),
        "growth of the own part, at most": (min(largest.own_s) / min(smallest.own_s), MOST_GROWTH),
    }
    for name, (value, limit) in measured.items():
        print(f"{name:<32} {limit:>6.1f}: {value:>7.2f}  {'kept' if value <= limit else 'BROKEN'}", flush=True)
    return all(value <= limit for value, limit in measured.values())


@contextlib.contextmanager
def opened(store: str) -> Iterator[Place]:
    """Give the function that says where the store of a size is: its URI, and the directory of its artifacts."""
    with contextlib.ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(running()) if store == "postgresql" else None

        def place(size: int) -> tuple[str, Path]:
            uri = server.create(f"of_{size}") if server else f"sqlite:///{directory}/{size}.db"
            return uri, directory / str(size)

        yield place


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", nargs="+", choices=["sqlite", "postgresql"], default=["sqlite"])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000], help="benchmarks of each store")
    parser.add_argument("--repeat", type=int, default=11, help="turns in this process")
    parser.add_argument("--whole-repeat", type=int, default=7, help="turns of whole processes")
    options = parser.parse_args()
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    # So that a server is stopped by what ends this script, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    kept, searching = [], Searching()
    for store in options.store:
        with opened(store) as place:
            kept.append(print_results(store, measure(store, place, options, searching)))
    sys.exit(0 if all(kept) else 1)


if __name__ == "__main__":
    main()
