"""What a command costs from its start to its end: seconds and peak memory."""

import subprocess
import sys
from collections.abc import Sequence

# Linux keeps for a process the peak of the one that it was forked from, so a small one stands in between.
_LAUNCHER = """
import os, subprocess, sys, time
start_s = time.perf_counter()
process = subprocess.Popen([sys.executable, *sys.argv[1:]], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(status, time.perf_counter() - start_s, usage.ru_maxrss)
"""


def whole(command: Sequence[str]) -> tuple[float, float]:
    """Run Python with the arguments *command*; return its seconds and its peak memory in MB (10^6 bytes).

    Ends this program if the command fails.
    """
    done = subprocess.run([sys.executable, "-c", _LAUNCHER, *command], stdout=subprocess.PIPE, text=True, check=True)
    status, elapsed_s, peak = done.stdout.split()
    if status != "0":
        sys.exit(f"{' '.join(command[:4])} failed")
    # Linux counts KiB here, macOS bytes.
    return float(elapsed_s), int(peak) * (1024 if sys.platform != "darwin" else 1) / 1e6
