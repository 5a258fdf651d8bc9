"""What `report --limit 20` needs where recordings are large: time and peak memory of the whole command.

Fills SQLite stores with benchmarks of one model, whose recordings all hold as much: by size (launches × rounds × calls,
of five modes), number of benchmarks and format.

    python benchmarks/report_memory.py
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from make_store import MODELS, SIZES, fill
from whole_process import whole

MOST_MB = 300.0
BENCHMARKS = {"small": 20, "large": 20, "rigorous": 20, "largest": 1}
"""Of each size; `largest` holds as much as ten of `rigorous`, the longest preset, and is held to no limit."""
UNLIMITED = "largest"
FORMATS = ("console", "json", "html")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--formats", nargs="+", default=list(FORMATS))
    options = parser.parse_args()
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    kept = True
    print(f"{'recordings':<10} {'number':>6} {'format':<8} {'time':>7} {'peak':>7}, of at most {MOST_MB:.0f} MB")
    for size in options.sizes:
        with tempfile.TemporaryDirectory() as directory:
            uri = f"sqlite:///{directory}/store.db"
            number = BENCHMARKS[size]
            # One benchmark in so many is of the model that is asked for.
            last = number * len(MODELS)
            fill(
                uri,
                first=0,
                benchmarks=last,
                foreign=0,
                artifacts=Path(directory) / "artifacts",
                size=SIZES[size],
                recorded=MODELS[:1],
            )
            for name in options.formats:
                asked = ["--model", MODELS[0], "--limit", "20", "--tracking-uri", uri, "--format", name]
                elapsed_s, peak_mb = whole(["-m", "mlflow_tfexec", "report", *asked])
                kept = kept and (peak_mb <= MOST_MB or size == UNLIMITED)
                print(f"{size:<10} {number:>6} {name:<8} {elapsed_s:>5.1f} s {peak_mb:>4.0f} MB", flush=True)
    sys.exit(0 if kept else 1)


if __name__ == "__main__":
    main()
