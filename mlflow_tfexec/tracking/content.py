"""What each run of a benchmark carries, read off the recording and its judgement. Pure: no MLflow."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from mlflow_tfexec.metrics import measure
from mlflow_tfexec.records.judgement import Judgement, ModeSummary
from mlflow_tfexec.records.recording import MEASURED_STATUSES, InputFacts, Recording
from mlflow_tfexec.records.spec import BASELINE
from mlflow_tfexec.statistics.rounds import counted_blocks, launch_rounds
from mlflow_tfexec.tracking import keys
from mlflow_tfexec.units import NS_PER_MS

TAG_LIMIT = 8000
PARAM_LIMIT = 6000
SERIES_LIMIT = 1000
"""Points of `samples/latency_ms` at most: what MLflow takes in one request."""

FINISHED = "FINISHED"
FAILED = "FAILED"
KILLED = "KILLED"

# Tag → where the fact stands in the recording's environment.
_FACTS = {
    keys.TF_VERSION: ("tensorflow", "version"),
    keys.KERAS_VERSION: ("tensorflow", "keras_version"),
    keys.CUDA_VERSION: ("tensorflow", "cuda_version"),
    keys.CUDNN_VERSION: ("tensorflow", "cudnn_version"),
    keys.DEVICE: ("tensorflow", "device"),
    keys.CPU_NAME: ("cpu", "name"),
    keys.HOST_FINGERPRINT: ("fingerprint",),
}
_GPU_FACTS = {
    keys.GPU_NAME: "name",
    keys.GPU_UUID: "uuid",
    keys.GPU_COMPUTE_CAPABILITY: "compute_capability",
    keys.GPU_MEMORY_MB: "memory_mb",
}


def benchmark_tags(recording: Recording, judgement: Judgement, note: str) -> dict[str, str]:
    """Give the parent's tags; what is not known is left out."""
    return _texts(
        {
            **_common_tags(recording),
            keys.KIND: keys.KIND_BENCHMARK,
            keys.STATUS: recording.end.status if recording.end else "partial",
            keys.ORDERING: judgement.ordering,
            keys.FASTEST: judgement.fastest,
            keys.NOTE: note,
        },
        limit=TAG_LIMIT,
    )


def run_name(recording: Recording) -> str:
    """Name the parent: by the model, and in a sweep by the size as well."""
    spec = recording.spec
    name = f"tfexec {spec.model}"
    if spec.family is None:
        return name
    return " ".join(filter(None, (name, f"batch {spec.batch_size}", _input_shape(recording))))


def mode_tags(recording: Recording, summary: ModeSummary) -> dict[str, str]:
    """Give the tags of one mode's run; what is not known is left out."""
    return _texts(
        {
            **_common_tags(recording),
            keys.KIND: keys.KIND_MODE,
            keys.MODE: summary.mode,
            keys.STATUS: summary.status,
            keys.REASON: summary.reason,
        },
        limit=TAG_LIMIT,
    )


def report_tags(benchmark_ids: Iterable[str]) -> dict[str, str]:
    """Give the tags that say what a report is and which benchmarks it is about, as many ids as one tag takes."""
    ids = list(dict.fromkeys(benchmark_ids))
    listed = ",".join(ids)
    while len(listed) > TAG_LIMIT:
        ids = ids[:-1]
        listed = ",".join([*ids, "…"])
    return _texts(
        {keys.SCHEMA: keys.SCHEMA_VERSION, keys.KIND: keys.KIND_REPORT, keys.BENCHMARK_IDS: listed}, limit=TAG_LIMIT
    )


def note_tag(note: str) -> dict[str, str]:
    """Give the tag that is a run's description, cut to what a tag takes; none for an empty one."""
    return _texts({keys.NOTE: note}, limit=TAG_LIMIT)


def mode_params(recording: Recording, mode: str) -> dict[str, str]:
    """Give the params of one mode's run: what was asked for, and how many launches it took."""
    spec, training = recording.spec, recording.header.training
    return _texts(
        {
            keys.PARAM_MODE: mode,
            keys.PARAM_MODEL: spec.model,
            keys.PARAM_TASK: spec.task,
            keys.PARAM_BATCH_SIZE: spec.batch_size,
            keys.PARAM_INPUT_SHAPE: _input_shape(recording),
            keys.PARAM_DTYPE: spec.dtype,
            keys.PARAM_LOSS: training.loss if training else None,
            keys.PARAM_OPTIMIZER: training.optimizer if training else None,
            keys.PARAM_PRESET: spec.preset,
            keys.PARAM_LAUNCHES: len(launch_rounds(recording)) or spec.launches,
            keys.PARAM_ROUNDS: spec.rounds,
            keys.PARAM_SEED: spec.seed,
            keys.PARAM_DEVICE: _fact(recording.header.environment, "tensorflow", "device") or spec.device,
        },
        limit=PARAM_LIMIT,
    )


def mode_metrics(recording: Recording, judgement: Judgement, mode: str) -> dict[str, float]:
    """Give the summary metrics of one mode's run."""
    return measure(recording, judgement, mode)


def benchmark_metrics(judgement: Judgement) -> dict[str, float]:
    """Give the parent's metrics: each mode's speed-up over the baseline."""
    return {
        keys.parent_speedup(summary.mode): summary.speedup.ratio
        for summary in judgement.modes
        if summary.speedup is not None and summary.mode != BASELINE
    }


def latency_samples(recording: Recording, mode: str) -> list[tuple[int, float]]:
    """Give (index, milliseconds) of the calls of *mode* that count, in measured order.

    Above SERIES_LIMIT calls, evenly spaced ones are taken, the first and the last among them, under the index they
    had among all. The same recording always gives the same points.
    """
    blocks = [block for block in counted_blocks(recording, "latency") if block.mode == mode]
    calls = [call_ns for block in blocks for call_ns in block.calls_ns or ()]
    last, points = len(calls) - 1, min(len(calls), SERIES_LIMIT)
    chosen = range(points) if points == len(calls) else [round(i * last / (points - 1)) for i in range(points)]
    return [(index, calls[index] / NS_PER_MS) for index in chosen]


def benchmark_run_status(recording: Recording, judgement: Judgement) -> str:
    """Say how the parent ends: FINISHED when the baseline and one more ranked mode were measured.

    KILLED: the benchmark was interrupted, or its recording breaks off.
    """
    if recording.end is None or recording.end.status == "interrupted":
        return KILLED
    return FINISHED if judgement.has_comparison else FAILED


def mode_run_status(recording: Recording, summary: ModeSummary) -> str:
    """Say how one mode's run ends; KILLED where the benchmark broke off before the mode was measured or had failed."""
    if recording.end is None or recording.end.status == "interrupted":
        recorded = recording.final_line(summary.mode)
        failed = recorded is not None and recorded.status not in MEASURED_STATUSES
        if not failed:
            return FINISHED if summary.is_measured else KILLED
    return FINISHED if summary.status in MEASURED_STATUSES else FAILED


def benchmark_times(recording: Recording) -> tuple[int, int]:
    """Give start and end of the whole benchmark in milliseconds since 1970.

    A recording that breaks off ended when it last told the time.
    """
    start = _milliseconds(recording.header.created) or 0
    told = [recording.end.ended] if recording.end and recording.end.ended else _mode_clock(recording)
    return start, max([start, *(_milliseconds(time) or start for time in told)])


def mode_times(recording: Recording, mode: str) -> tuple[int, int]:
    """Give start of the first and end of the last launch of *mode* in milliseconds since 1970.

    Where it did not tell, the benchmark's own.
    """
    lines = [line for _, line in sorted(recording.mode_lines.get(mode, {}).items())]
    starts = [_milliseconds(line.started) for line in lines if line.started]
    ends = [_milliseconds(line.ended) for line in lines if line.ended]
    whole_start, whole_end = benchmark_times(recording)
    start = min((time for time in starts if time is not None), default=whole_start)
    return start, max(start, max((time for time in ends if time is not None), default=whole_end))


def _common_tags(recording: Recording) -> dict[str, Any]:
    header = recording.header
    environment = header.environment
    gpu = recording.header.measured_gpu
    return {
        keys.SCHEMA: keys.SCHEMA_VERSION,
        keys.BENCHMARK_ID: header.benchmark_id,
        keys.MODEL: header.spec.model,
        keys.MODEL_URI: header.model_origin.uri if header.model_origin else None,
        keys.TASK: header.spec.task,
        keys.FAMILY: header.spec.family,
        **{tag: _fact(environment, *path) for tag, path in _FACTS.items()},
        **{tag: _fact(gpu, name) for tag, name in _GPU_FACTS.items()},
        keys.GPU_DRIVER: _fact(environment, "gpu_driver", "version") if gpu else None,
        keys.GPU_DRIVER_CUDA: _fact(environment, "gpu_driver", "cuda_version") if gpu else None,
    }


def _fact(facts: Any, *path: str) -> Any:
    for name in path:
        facts = facts.get(name) if isinstance(facts, Mapping) else None
    return facts if isinstance(facts, str | int | float) else None


def _input_shape(recording: Recording) -> str | None:
    """Write the shape of one item, as `384,384,3`; several inputs as `ids=128;mask=128`."""
    inputs = recording.header.inputs
    if not inputs:
        shape = recording.spec.input_shape
        return _shape_text(shape) if shape is not None else None
    if len(inputs) == 1:
        return _shape_text(inputs[0].shape[1:])
    return ";".join(f"{_input_name(one, place)}={_shape_text(one.shape[1:])}" for place, one in enumerate(inputs))


def _input_name(one: InputFacts, place: int) -> str:
    return one.name or str(place)


def _shape_text(shape: tuple[int, ...]) -> str:
    return ",".join(str(size) for size in shape)


def _mode_clock(recording: Recording) -> list[str]:
    lines = [line for by_launch in recording.mode_lines.values() for line in by_launch.values()]
    return [time for line in lines for time in (line.started, line.ended) if time]


def _milliseconds(iso: str | None) -> int | None:
    """Read an ISO 8601 time. None: it is none."""
    try:
        # Python 3.10 does not read the Z.
        return int(datetime.fromisoformat((iso or "").replace("Z", "+00:00")).timestamp() * 1000)
    except ValueError:
        return None


def _texts(values: Mapping[str, Any], *, limit: int) -> dict[str, str]:
    """Turn values into texts that MLflow takes; None and empty ones are left out."""
    texts = {key: str(value) for key, value in values.items() if value is not None}
    return {key: text if len(text) <= limit else text[: limit - 1] + "…" for key, text in texts.items() if text.strip()}
