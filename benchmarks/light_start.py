"""How long `mlflow-tfexec --help` takes, as a whole process, beside an interpreter that does nothing.

python benchmarks/light_start.py
"""

import subprocess
import sys
import time
from statistics import median

PAIRS = 20


def wall_s(*arguments: str) -> float:
    start_s = time.perf_counter()
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start_s


def main() -> None:
    pairs = [(wall_s("-m", "mlflow_tfexec", "--help"), wall_s("-c", "pass")) for _ in range(PAIRS)]
    print(f"--help: median {median(ours for ours, _ in pairs):.3f} s of {PAIRS}")
    print(f"python -c pass: median {median(bare for _, bare in pairs):.3f} s")


if __name__ == "__main__":
    main()
