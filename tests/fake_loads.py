"""Reference loads without TensorFlow: the real process around calls that do nothing.

Started in place of `python -m mlflow_tfexec.worker.reference_loads`; `sessions.py` says how. FAKE_LOADS names what goes
wrong: `start` or `block`, the request that it dies at. FAKE_LOADS_PIDS is a directory in which
each process leaves a file named by its id.
"""

import os
import sys
from pathlib import Path


def main() -> None:
    from mlflow_tfexec.measurement.call import PreparedCall
    from mlflow_tfexec.records.reference_loads import LOADS
    from mlflow_tfexec.worker import reference_loads

    (Path(os.environ["FAKE_LOADS_PIDS"]) / str(os.getpid())).touch()
    dies_at = os.environ.get("FAKE_LOADS", "")

    def make_visible(device: str) -> str:
        if dies_at == "start":
            sys.exit("no such luck")
        return "CPU"

    def call() -> None:
        if dies_at == "block":
            os._exit(7)

    reference_loads.make_visible = make_visible
    reference_loads.reference_loads = lambda device: {load: PreparedCall(call) for load in LOADS}
    reference_loads.main()


if __name__ == "__main__":
    main()
