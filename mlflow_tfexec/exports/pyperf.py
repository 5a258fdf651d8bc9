"""An export for pyperf: its JSON, so that `pyperf stats`, `hist` and `compare_to` read our benchmarks.

The format is version "1.0" of https://pyperf.readthedocs.io/en/latest/api.html; pyperf itself is not needed.
"""

import json
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from typing import Any, BinaryIO

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.exports._format import ExportFormat
from mlflow_tfexec.records.recording import ModeLine, Recording
from mlflow_tfexec.statistics.estimates import summarize_latency
from mlflow_tfexec.statistics.rounds import Rounds, read_rounds
from mlflow_tfexec.units import NS_PER_S


def write(recordings: Sequence[Recording], stream: BinaryIO) -> None:
    """Write one pyperf benchmark per mode, named `model/mode`; its runs are our launches, its values our rounds.

    A value is the median latency of one block that counts, in seconds; the warm-up blocks are pyperf's warm-ups.
    Modes without a latency that counts, and launches of a mode without one, are left out, as pyperf has no word for
    failures.

    What pyperf calls the median is that of all values together. With one launch it is our median of the mode. With
    several, ours is the geometric mean over launches of the median of each, since rounds of one launch are more alike
    than launches: then pyperf's median is `median_of_rounds_ms` of the JSON export, and ours stands beside it in the
    metadata, as `tfexec_median_ms`.

    Raises:
        RequestError: no mode of any recording has a latency that counts.
    """
    models = Counter(recording.spec.model for recording in recordings)
    benchmarks = [
        benchmark
        for recording in recordings
        # pyperf wants names that differ; the plain name is the one that `compare_to` finds again in another file.
        for benchmark in _benchmarks(recording, needs_id=models[recording.spec.model] > 1)
    ]
    if not benchmarks:
        raise RequestError("Nothing to export to pyperf: no mode has a latency that counts. Export to json instead.")
    if len(recordings) > 1:
        # compare_to gives a geometric mean for each tag: one per mode, over models.
        for benchmark in benchmarks:
            benchmark["metadata"]["tags"] = [benchmark["metadata"]["tfexec_mode"]]
    content = {"version": "1.0", "metadata": {"unit": "second"}, "benchmarks": benchmarks}
    stream.write(json.dumps(content, indent=1, allow_nan=False).encode("ascii") + b"\n")


def _benchmarks(recording: Recording, *, needs_id: bool) -> Iterator[dict[str, Any]]:
    rounds = read_rounds(recording)
    for mode in (mode for mode in recording.spec.modes if mode in rounds.medians_ns):
        runs = [_run(recording, rounds, mode, launch) for launch in sorted(rounds.medians_ns[mode])]
        yield {"metadata": _metadata(recording, rounds, mode, needs_id=needs_id), "runs": runs}


def _run(recording: Recording, rounds: Rounds, mode: str, launch: int) -> dict[str, Any]:
    medians_ns = rounds.medians_ns[mode][launch]
    line = recording.mode_lines.get(mode, {}).get(launch)
    # pyperf takes no value of 0, and NaN marks a round without a block that counts.
    run: dict[str, Any] = {"values": [float(ns) / NS_PER_S for ns in medians_ns if ns > 0]}
    others = {"warmups": list(_warmups(recording, mode, launch)), "metadata": _date(line)}
    return run | {key: value for key, value in others.items() if value}


def _warmups(recording: Recording, mode: str, launch: int) -> Iterator[tuple[int, float]]:
    """Give (loops, seconds of one call) for each warm-up block."""
    for block in recording.blocks:
        if block.warmup and (block.mode, block.launch, block.metric) == (mode, launch, "latency") and block.calls_ns:
            yield 1, statistics.median(block.calls_ns) / NS_PER_S


def _metadata(recording: Recording, rounds: Rounds, mode: str, *, needs_id: bool) -> dict[str, Any]:
    """Give what is true of every launch, with pyperf's own names where it has them. Nothing is empty."""
    header, environment = recording.header, recording.header.environment
    latency = summarize_latency(rounds, mode)
    line = recording.final_line(mode)
    name = f"{recording.spec.model}/{mode}{f' {header.benchmark_id}' if needs_id else ''}"
    known = {
        "name": name,
        "cpu_model_name": _at(environment, "cpu", "name"),
        "cpu_count": _at(environment, "cpu", "logical_cores"),
        "python_version": _at(environment, "python", "version"),
        "tensorflow_version": _at(environment, "tensorflow", "version"),
        "gpu_name": _at(header.measured_gpu, "name"),
        "tfexec_benchmark_id": header.benchmark_id,
        "tfexec_mode": mode,
        "tfexec_status": line.status if line else None,
        "tfexec_median_ms": latency.median if latency else None,
    }
    texts = {key: " ".join(value.split()) if isinstance(value, str) else value for key, value in known.items()}
    return {"loops": 1, "inner_loops": 1} | {key: value for key, value in texts.items() if value not in {None, ""}}


def _date(line: ModeLine | None) -> dict[str, str]:
    """Give when a launch of a mode began, as far as it was recorded; pyperf's dates name no zone, this is UTC."""
    started = _moment(line.started if line else None)
    return {"date": started.replace(tzinfo=None).isoformat(sep=" ")} if started else {}


def _moment(text: str | None) -> datetime | None:
    """Read an ISO 8601 time in UTC. None: there is none, or it is not one."""
    try:
        moment = datetime.fromisoformat((text or "").replace("Z", "+00:00"))
    except ValueError:
        return None
    return moment.astimezone(timezone.utc) if moment.tzinfo else moment.replace(tzinfo=timezone.utc)


def _at(tree: Any, *path: str) -> str | int | None:
    """Follow *path* into nested mappings. None: something on the way is absent, or no text and no number."""
    for step in path:
        tree = tree.get(step) if isinstance(tree, dict) else None
    return tree if isinstance(tree, str | int) and not isinstance(tree, bool) else None


EXPORT = ExportFormat(name="pyperf", extension=".json", is_text=True, write=write)
