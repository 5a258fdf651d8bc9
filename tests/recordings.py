"""Recordings made up from known numbers, for tests that need no TensorFlow."""

import math
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mlflow_tfexec.records.answers import OutputDifference
from mlflow_tfexec.records.codec import FORMAT, FORMAT_VERSION, encode
from mlflow_tfexec.records.recording import AnyLine, Block, End, Header, InputFacts, ModeLine, Phase, Recording
from mlflow_tfexec.records.reference_loads import ReferenceLoad
from mlflow_tfexec.records.spec import BASELINE, Spec

SEED_TABLE_MS = {"eager": 369.0, "graph": 15.9, "graph_nojit": 15.9, "xla": 11.6, "graph_control": 15.9}
"""The figures that started the project, with the noise taken out."""

COMPLETE = End(status="complete", ended="2026-01-31T12:05:00Z")


def make_recording(
    times_ms: Mapping[str, float] = SEED_TABLE_MS,
    *,
    launches: int = 3,
    rounds: int = 10,
    calls: int = 5,
    launch_noise: float = 0.005,
    round_noise: float = 0.01,
    statuses: Mapping[str, str] | None = None,
    seed: int = 0,
    benchmark_id: str = "0123456789abcdef0123456789abcdef",
    environment: dict[str, Any] | None = None,
    end: End | None = COMPLETE,
    loads_ms: Mapping[str, float] | None = None,
    load_noise: float = 0.005,
    **spec: Any,
) -> Recording:
    """Make a recording whose true call time per mode is *times_ms*; noises are standard deviations of log times.

    *loads_ms* are the times of the reference loads, which are as noisy between launches as *load_noise* says.
    """
    statuses = statuses or {}
    lines: list[AnyLine] = []
    generator = random.Random(seed)
    for launch in range(launches):
        factor = {mode: math.exp(generator.gauss(0, launch_noise)) for mode in times_ms}
        for mode, time_ms in times_ms.items():
            lines.append(_mode_line(mode, launch, time_ms * factor[mode], statuses.get(mode, "ok")))
        for round_ in range(-2, rounds):
            order = list(times_ms)
            generator.shuffle(order)
            for position, mode in enumerate(order):
                if statuses.get(mode, "ok") not in {"ok", "outputs_differ"}:
                    continue
                center = times_ms[mode] * factor[mode] * math.exp(generator.gauss(0, round_noise))
                latency = tuple(int(center * 1e6 * math.exp(generator.gauss(0, 0.003))) for _ in range(calls))
                place: dict[str, Any] = {
                    "launch": launch,
                    "round": round_ + 2 if round_ < 0 else round_,
                    "position": position,
                    "mode": mode,
                    "warmup": round_ < 0,
                }
                lines.append(Block(metric="latency", calls_ns=latency, **place))
                lines.append(Block(metric="dispatch", calls_ns=tuple(ns // 3 for ns in latency), **place))
                lines.append(Block(metric="throughput", calls=calls, total_ns=int(sum(latency) * 0.9), **place))
    lines += _loads(loads_ms or {}, launches, rounds, load_noise, random.Random(f"loads {seed}"))
    lines.append(Phase(name="blocks", duration_ns=60_000_000_000))
    if end is not None:
        lines.append(end)
    spec_fields: dict[str, Any] = {
        "model": "EfficientNetV2S",
        "modes": tuple(times_ms),
        "launches": launches,
        "rounds": rounds,
        **spec,
    }
    header = Header(
        format=FORMAT,
        version=FORMAT_VERSION,
        benchmark_id=benchmark_id,
        created="2026-01-31T12:00:00Z",
        spec=Spec(**spec_fields),
        environment=environment or {},
        inputs=(InputFacts(shape=(1, 384, 384, 3), dtype="float32"),),
        weights_sha256="00" * 32,
    )
    return Recording(header=header, lines=tuple(lines))


def _loads(
    loads_ms: Mapping[str, float], launches: int, rounds: int, noise: float, generator: random.Random
) -> list[AnyLine]:
    """Behind all blocks: nothing depends on where in the file they stand."""
    lines: list[AnyLine] = []
    for launch in range(launches):
        for load, time_ms in loads_ms.items():
            center_ns = time_ms * 1e6 * math.exp(generator.gauss(0, noise))
            for round_ in range(rounds):
                calls_ns = tuple(int(center_ns * math.exp(generator.gauss(0, 0.003))) for _ in range(3))
                lines.append(ReferenceLoad(launch=launch, round=round_, position=0, load=load, calls_ns=calls_ns))
    return lines


def _mode_line(mode: str, launch: int, time_ms: float, status: str) -> ModeLine:
    measured = status in {"ok", "outputs_differ"}
    compile_ns = {"eager": 0, "xla": 3_000_000_000}.get(mode, 1_000_000_000)
    return ModeLine(
        launch=launch,
        mode=mode,
        status=status,
        reason=None if status == "ok" else f"{mode} ended as {status}",
        log_tail=None if measured else "last words\nof the worker",
        trace_ns=None if mode == "eager" or not measured else 500_000_000,
        first_call_ns=int(compile_ns + time_ms * 1e6) if measured else None,
        second_call_ns=int(time_ms * 1.1e6) if measured else None,
        traces=(0 if mode == "eager" else 1) if measured else None,
        peak_memory_bytes=1_200_000_000 if measured else None,
        output=_output(mode, status) if measured else None,
        started=f"2026-01-31T12:0{launch}:00Z",
        ended=f"2026-01-31T12:0{launch}:50Z",
    )


def _output(mode: str, status: str) -> OutputDifference:
    if status == "outputs_differ":
        return OutputDifference(max_abs_error=0.01, max_rel_error=0.02, within_tolerance=False, rtol=1e-3, atol=1e-4)
    error = 0.0 if mode == BASELINE else 1.5e-7
    return OutputDifference(max_abs_error=error, max_rel_error=error, within_tolerance=True, rtol=1e-3, atol=1e-4)


def to_text(recording: Recording) -> str:
    """Write a recording as the text of its file."""
    return "".join(encode(line) + "\n" for line in (recording.header, *recording.lines))


def write_recording(recording: Recording, directory: Path) -> Path:
    """Write a recording as `recording.jsonl` into *directory* and return the file's path."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "recording.jsonl"
    path.write_text(to_text(recording), encoding="utf-8")
    return path
