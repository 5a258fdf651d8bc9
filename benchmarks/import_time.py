"""What the plugin costs everybody's `import mlflow`: whole processes with its entry points and without, alternating.

python benchmarks/import_time.py [PAIRS]

The exit code tells whether the median of the differences keeps to the limit. The first run's tags are timed beside it.
"""

import os
import random
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path
from statistics import median

LIMIT_MS = 30.0
REPOSITORY = Path(__file__).parents[1]
IMPORT = "import mlflow"
FIRST_TAGS = """
import time, mlflow
from mlflow_tfexec.plugin.run_context import EnvironmentContext
start_s = time.perf_counter()
provider = EnvironmentContext()
assert provider.in_context() and provider.tags()
print((time.perf_counter() - start_s) * 1e3)
"""


def description(directory: Path, entry_points: str) -> dict[str, str]:
    """Describe the package anew in *directory*, which comes first on the path and hides what is installed."""
    place = directory / "mlflow_tfexec-0.0.0.dist-info"
    place.mkdir(parents=True)
    (place / "METADATA").write_text("Metadata-Version: 2.1\nName: mlflow-tfexec\nVersion: 0.0.0\n")
    (place / "entry_points.txt").write_text(entry_points)
    path = [str(directory), str(REPOSITORY), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}


def process(code: str, environment: dict[str, str]) -> tuple[float, str]:
    start_s = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return (time.perf_counter() - start_s) * 1e3, done.stdout


def has_provider(environment: dict[str, str]) -> bool:
    code = "import mlflow, sys; print('mlflow_tfexec.plugin.run_context' in sys.modules)"
    return process(code, environment)[1].strip() == "True"


def main() -> int:
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    group = "[mlflow.run_context_provider]\ntfexec = mlflow_tfexec.plugin.run_context:EnvironmentContext\n"
    group += "[mlflow.model_evaluator]\ntfexec = mlflow_tfexec.plugin.evaluator:ExecutionModeEvaluator\n"
    with tempfile.TemporaryDirectory() as scratch:
        kinds = {"with": description(Path(scratch, "with"), group), "without": description(Path(scratch, "bare"), "")}
        assert has_provider(kinds["with"])
        assert not has_provider(kinds["without"])
        times: dict[str, list[float]] = {"with": [], "without": []}
        for _ in range(pairs):
            # In random order: the machine's speed drifts.
            for kind in random.sample(sorted(kinds), 2):
                times[kind].append(process(IMPORT, kinds[kind])[0])
        first_ms = median(float(process(FIRST_TAGS, kinds["with"])[1]) for _ in range(3))
    cost_ms = median(a - b for a, b in zip(times["with"], times["without"], strict=True))
    print(f"mlflow {metadata.version('mlflow')}, {pairs} pairs in random order")
    print(
        f"import mlflow: median {median(times['with']):.0f} ms with the plugin, {median(times['without']):.0f} without"
    )
    print(f"difference: median of pairs {cost_ms:.1f} ms, limit {LIMIT_MS:.0f} ms")
    print(f"tags of a process's first run: {first_ms:.0f} ms, once")
    return int(cost_ms > LIMIT_MS)


if __name__ == "__main__":
    sys.exit(main())
