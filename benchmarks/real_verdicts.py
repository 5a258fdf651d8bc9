"""Verdicts on real modes whose truth is known: equal, or apart by a known ratio, on a quiet and on a disturbed machine.

    python benchmarks/real_verdicts.py same 20        # graph under three names, on a tiny model
    python benchmarks/real_verdicts.py layers 20      # k against k + 1 equal heavy layers
    python benchmarks/real_verdicts.py busy 5         # the same, with a busy process on one core in half the rounds

Each session has the standard preset. Recordings stay in the folder that is printed, to be judged again.
"""

import dataclasses
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mlflow_tfexec import Judgement, Recording, judge
from mlflow_tfexec.records.recording import Block, ModeLine
from mlflow_tfexec.records.spec import PRESETS, Spec
from mlflow_tfexec.session.benchmark import run_session
from mlflow_tfexec.session.observer import Progress, Silence
from mlflow_tfexec.spool import SpooledBenchmark

MODELS = Path(__file__).with_name("real_models.py")
LAYERS = 8
RATIO = (LAYERS + 1) / LAYERS


class BusyInHalfTheRounds(Silence):
    """Keeps one core busy in the second half of each launch's rounds."""

    def __init__(self) -> None:
        self._busy: subprocess.Popen[bytes] | None = None

    def progressed(self, progress: Progress) -> None:
        """Start the busy process half-way through the rounds, and end it after them."""
        half = progress.round is not None and progress.rounds is not None and 2 * progress.round >= progress.rounds
        if half and self._busy is None:
            self._busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        if not half and self._busy is not None:
            self._busy.kill()
            self._busy.wait()
            self._busy = None


def session(root: Path, number: int, spec: Spec, observer: Silence, layers: dict[str, int]) -> Recording:
    spooled = SpooledBenchmark(root / f"{number:032x}")
    spooled.create()
    variables = {mode: {"REAL_LAYERS": str(count)} for mode, count in layers.items()}
    run_session(spec.model_copy(update={"seed": number}), spooled, observer, variables=variables)
    recording = spooled.load()
    spooled.release()
    return recording


def spec_of(function: str, modes: tuple[str, ...], shape: tuple[int, ...] | None, batch_size: int = 1) -> Spec:
    preset = PRESETS["standard"]
    return Spec(
        model=f"{MODELS}:{function}",
        modes=modes,
        input_shape=shape,
        batch_size=batch_size,
        launches=preset.looks[-1],
        looks=preset.looks,
        rounds=preset.rounds,
        device="cpu",
    )


def renamed(recording: Recording) -> Recording:
    """Give the control a name of its own, so that it is ranked as any other mode."""

    def rename(mode: str) -> str:
        return mode.replace("graph_control", "graph_again")

    spec = recording.spec.model_copy(update={"modes": tuple(map(rename, recording.spec.modes))})
    lines = tuple(
        line.model_copy(update={"mode": rename(line.mode)}) if isinstance(line, Block | ModeLine) else line
        for line in recording.lines
    )
    return dataclasses.replace(recording, header=recording.header.model_copy(update={"spec": spec}), lines=lines)


def same(root: Path, number: int) -> str:
    spec = spec_of("tiny", ("graph", "graph_nojit", "graph_control"), None)
    judgement = judge(renamed(session(root, number, spec, Silence(), {})))
    verdicts = [comparison.verdict for comparison in judgement.comparisons]
    wrong = sum(verdict in {"slower", "faster"} for verdict in verdicts)
    return line(judgement, f"wrong {wrong} of {len(verdicts)}, equivalent {verdicts.count('equivalent')}")


def layers(root: Path, number: int, observer: Silence | None = None) -> str:
    spec = spec_of("heavy_layers", ("graph", "graph_nojit"), (512,), batch_size=512)
    counts = {"graph": LAYERS, "graph_nojit": LAYERS + 1}
    judgement = judge(session(root, number, spec, observer or Silence(), counts))
    (comparison,) = judgement.comparisons
    forward = comparison.a == "graph_nojit"
    low, high = comparison.ci95_low, comparison.ci95_high
    if low is None or high is None:
        return line(judgement, "no interval")
    ratio, low, high = (comparison.ratio, low, high) if forward else (1 / comparison.ratio, 1 / high, 1 / low)
    verdict = {"slower": "right" if forward else "REVERSED", "faster": "REVERSED" if forward else "right"}.get(
        comparison.verdict, comparison.verdict
    )
    covered = "covers" if low <= RATIO <= high else "MISSES"
    return line(judgement, f"{ratio:.4f} [{low:.4f}, {high:.4f}] {covered} {RATIO:.4f}, {verdict}")


def busy(root: Path, number: int) -> str:
    return layers(root, number, BusyInHalfTheRounds())


def line(judgement: Judgement, text: str) -> str:
    launches = max(mode.latency_ms.launches for mode in judgement.modes if mode.latency_ms)
    codes = sorted({finding.code for finding in judgement.findings} - {"cpu_only"})
    return f"{judgement.ordering}; {launches} launches; {text}; findings: {', '.join(codes) or 'none'}"


def main() -> None:
    experiment, sessions = {"same": same, "layers": layers, "busy": busy}[sys.argv[1]], int(sys.argv[2])
    root = Path(tempfile.mkdtemp(prefix=f"real-{sys.argv[1]}-"))
    print(f"recordings: {root}", flush=True)
    for number in range(sessions):
        start_s = time.perf_counter()
        text = experiment(root, number)
        print(f"{number + 1}: {text}; {time.perf_counter() - start_s:.0f} s, load {os.getloadavg()[0]:.1f}", flush=True)


if __name__ == "__main__":
    main()
