"""An export for programs: everything derived from a benchmark, down to the median of each round."""

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np

from mlflow_tfexec.exports._format import ExportFormat
from mlflow_tfexec.metrics import measure
from mlflow_tfexec.records.recording import Recording
from mlflow_tfexec.statistics.judge import judge
from mlflow_tfexec.statistics.rounds import Rounds, launch_rounds, read_rounds
from mlflow_tfexec.units import NS_PER_MS


def write(recordings: Sequence[Recording], stream: BinaryIO) -> None:
    """Write `{"benchmarks": [{"header", "judgement", "modes"}]}`; what is not known is null or left out.

    `header` is the first line of the recording: what was asked, of which machine. `judgement` is what
    `report --format json` says of the benchmark. `modes` holds, per mode, every metric under its MLflow key, the median
    of each launch and of each round that counts in milliseconds, and `median_of_rounds_ms`, the median of all rounds
    together. The text is ASCII, and nothing is NaN.
    """
    content = {"benchmarks": [_benchmark(recording) for recording in recordings]}
    stream.write(json.dumps(content, indent=2, allow_nan=False).encode("ascii") + b"\n")


def _benchmark(recording: Recording) -> dict[str, Any]:
    judgement = judge(recording)
    rounds = read_rounds(recording)
    numbers = {kept.launch: kept.kept for kept in launch_rounds(recording)}
    return {
        "header": _finite(recording.header.model_dump(mode="json", exclude_none=True)),
        "judgement": judgement.to_dict(),
        "modes": [
            {
                "mode": summary.mode,
                "status": summary.status,
                "metrics": measure(recording, judgement, summary.mode),
                "median_of_rounds_ms": _median_of_rounds_ms(rounds, summary.mode),
                "launches": list(_launches(rounds, numbers, summary.mode)),
            }
            for summary in judgement.modes
        ],
    }


def _median_of_rounds_ms(rounds: Rounds, mode: str) -> float | None:
    series = rounds.series_ns(mode)
    return float(np.median(np.concatenate(series))) / NS_PER_MS if series else None


def _launches(rounds: Rounds, numbers: dict[int, tuple[int, ...]], mode: str) -> Iterator[dict[str, Any]]:
    for launch, medians_ns in sorted(rounds.medians_ns.get(mode, {}).items()):
        yield {
            "launch": launch,
            "median_ms": float(np.nanmedian(medians_ns)) / NS_PER_MS,
            "rounds": [
                {"round": number, "median_ms": float(median_ns) / NS_PER_MS}
                for number, median_ns in zip(numbers[launch], medians_ns, strict=True)
                if not math.isnan(median_ns)
            ],
        }


def _finite(value: Any) -> Any:
    """Put null for the numbers that JSON has no word for; a recording from elsewhere may hold some."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


EXPORT = ExportFormat(name="json", extension=".json", is_text=True, write=write)
