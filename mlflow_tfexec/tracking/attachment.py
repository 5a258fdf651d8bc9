"""What a benchmark says on something that is not ours: its tags and metrics, and what they would change. Pure."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.records.judgement import Judgement, ModeSummary
from mlflow_tfexec.records.recording import Recording, can_be_ranked
from mlflow_tfexec.records.spec import BASELINE, is_control
from mlflow_tfexec.text import shortened
from mlflow_tfexec.tracking import content, keys

CONTENT_VERSION = 1

_NAMES = (
    keys.ATTACHED_BENCHMARK_ID,
    keys.ATTACHED_RUN_ID,
    keys.ATTACHED_FASTEST,
    keys.ATTACHED_BEST_SET,
    keys.ATTACHED_SPEEDUP,
    keys.ATTACHED_ORDERING,
    keys.ATTACHED_TIME,
    keys.ATTACHED_CONTENT,
)

# What a text from outside is cut to where all of them together are more than a tag takes.
_SHORT_TEXT = 60


class AttachedMode(BaseModel):
    """One mode as an attachment keeps it."""

    model_config = ConfigDict(frozen=True)

    mode: str
    status: str
    latency_ms: float | None
    """Median time of one call."""
    latency_ci95_ms: tuple[float, float] | None
    speedup: float | None
    """Over eager."""
    speedup_ci95: tuple[float, float] | None


class Attachment(BaseModel):
    """What is kept of a benchmark where it is attached. `attachment.schema.json` describes each key."""

    model_config = ConfigDict(frozen=True)

    version: int
    benchmark_id: str
    measured: str
    model: str
    task: str
    ordering: str
    fastest: str | None
    best_set: tuple[str, ...]
    scope: str
    unstable: bool
    modes: tuple[AttachedMode, ...]
    device: Mapping[str, str | None]
    versions: Mapping[str, str | None]


@dataclass(frozen=True)
class Change:
    """What attaching would change."""

    deleted: tuple[str, ...]
    """Tags that are there with another value, or that this benchmark has none for."""
    tags: Mapping[str, str]
    """Tags to set, the one that says that all is there last."""
    metrics: Mapping[str, float]
    """Metrics to write."""
    replaced: Mapping[str, str]
    """Tag or metric → what is there and would be lost."""
    left: tuple[str, ...]
    """Metrics of an earlier benchmark that this one has no value for: MLflow deletes none."""


def describe(recording: Recording, judgement: Judgement) -> Attachment:
    """Say what is worth knowing of a benchmark away from it. What is not known is None."""
    facts = content.benchmark_tags(recording, judgement, "")
    return Attachment(
        version=CONTENT_VERSION,
        benchmark_id=judgement.benchmark_id,
        measured=recording.header.created,
        model=judgement.model,
        task=recording.spec.task,
        ordering=judgement.ordering,
        fastest=judgement.fastest,
        best_set=judgement.best_set,
        scope=judgement.scope,
        unstable=judgement.unstable,
        modes=tuple(_mode(summary) for summary in judgement.modes if not is_control(summary.mode)),
        device={
            "name": facts.get(keys.DEVICE),
            "gpu": facts.get(keys.GPU_NAME),
            "cpu": facts.get(keys.CPU_NAME),
            "host_fingerprint": facts.get(keys.HOST_FINGERPRINT),
        },
        versions={
            "tensorflow": facts.get(keys.TF_VERSION),
            "keras": facts.get(keys.KERAS_VERSION),
            "cuda": facts.get(keys.CUDA_VERSION),
            "cudnn": facts.get(keys.CUDNN_VERSION),
            "gpu_driver": facts.get(keys.GPU_DRIVER),
        },
    )


def tags(attachment: Attachment, prefix: str, *, run_id: str | None) -> dict[str, str]:
    """Give the tags that do not change with the time, the one that holds all last; what is not known is absent."""
    fastest = next((one for one in attachment.modes if one.mode == attachment.fastest), None)
    texts = {
        keys.ATTACHED_BENCHMARK_ID: attachment.benchmark_id,
        keys.ATTACHED_RUN_ID: run_id,
        keys.ATTACHED_FASTEST: attachment.fastest,
        keys.ATTACHED_BEST_SET: ",".join(attachment.best_set),
        keys.ATTACHED_SPEEDUP: f"{fastest.speedup:.4g}" if fastest and fastest.speedup is not None else None,
        keys.ATTACHED_ORDERING: attachment.ordering,
        keys.ATTACHED_CONTENT: _to_text(attachment),
    }
    return {keys.attached_tag(prefix, name): text for name, text in texts.items() if text}


def metrics(attachment: Attachment, prefix: str) -> dict[str, float]:
    """Give times and speed-ups of the modes that are ranked: quick and wrong is no headline."""
    ranked = [one for one in attachment.modes if can_be_ranked(one.mode, one.status)]
    latencies = {keys.attached_latency(prefix, one.mode): one.latency_ms for one in ranked}
    speedups = {keys.attached_speedup(prefix, one.mode): one.speedup for one in ranked if one.mode != BASELINE}
    return {key: value for key, value in (latencies | speedups).items() if value is not None}


def plan(
    attachment: Attachment,
    prefix: str,
    *,
    run_id: str | None,
    now: str,
    held_tags: Mapping[str, str],
    held_metrics: Mapping[str, float] | None,
) -> Change:
    """Hold what is to be there against what is there.

    Args:
        attachment: what to attach.
        prefix: of every tag and metric.
        run_id: the benchmark's own run. None: it is not known, and what is there of this benchmark stays.
        now: the time to note, where none is noted yet.
        held_tags: the target's tags.
        held_metrics: the target's metrics. None: it takes none.
    """
    time, last, run = (
        keys.attached_tag(prefix, name) for name in (keys.ATTACHED_TIME, keys.ATTACHED_CONTENT, keys.ATTACHED_RUN_ID)
    )
    known = held_tags.get(run) if held_tags.get(_id_tag(prefix)) == attachment.benchmark_id else None
    wanted = tags(attachment, prefix, run_id=run_id or known)
    ours = [keys.attached_tag(prefix, name) for name in _NAMES]
    lost = {
        key: held_tags[key] for key in ours if key in held_tags and key != time and held_tags[key] != wanted.get(key)
    }
    if lost or time not in held_tags:
        # In front of the last one.
        wanted = {time: now, **wanted}
    figures = {} if held_metrics is None else metrics(attachment, prefix)
    held = held_metrics or {}
    replaced = {key: f"{held[key]:g}" for key, value in figures.items() if key in held and held[key] != value}
    # Deeper names are those of `mlflow.models.evaluate`.
    alike = re.compile(f"{re.escape(prefix)}/(latency_ms/[^/]+|speedup/[^/]+_vs_eager)")
    # In this order: what says that all is there, the time of it, the rest.
    gone = (last, time, *(key for key in lost if key != last)) if lost else ()
    return Change(
        deleted=tuple(key for key in gone if key in held_tags),
        tags={key: text for key, text in wanted.items() if key in gone or held_tags.get(key) != text},
        metrics={key: value for key, value in figures.items() if held.get(key) != value},
        replaced=lost | replaced,
        left=tuple(key for key in held if alike.fullmatch(key) and key not in figures),
    )


def parse(text: str) -> Attachment | None:
    """Read what the last tag holds. None: it is something else."""
    try:
        return Attachment.model_validate_json(text)
    except ValidationError:
        return None


def document(attachment: Attachment, *, target: str, run_id: str | None, attached: str | None) -> dict[str, Any]:
    """Give what `pull` prints. What is not known is None.

    Args:
        attachment: of the benchmark.
        target: what it is attached to, or its own run.
        run_id: the benchmark's own run.
        attached: when it was attached. None: it is the benchmark's own run.
    """
    head = {"target": target, "run_id": run_id, "attached": attached}
    return head | attachment.model_dump(mode="json", exclude={"version"})


def schema() -> dict[str, Any]:
    """Give the JSON Schema (draft 2020-12) of what `pull` writes: the content of `attachment.schema.json`."""
    place = resources.files("mlflow_tfexec.tracking").joinpath("attachment.schema.json")
    read: dict[str, Any] = json.loads(place.read_text("utf-8"))
    return read


def refuse_empty(judgement: Judgement) -> None:
    """Raise RequestError for a benchmark that compares nothing."""
    if not judgement.has_comparison:
        raise RequestError(
            f"Benchmark {judgement.benchmark_id} has nothing to attach: only one mode, or not eager, was measured."
        )


def _id_tag(prefix: str) -> str:
    return keys.attached_tag(prefix, keys.ATTACHED_BENCHMARK_ID)


def _mode(summary: ModeSummary) -> AttachedMode:
    latency, speedup = summary.latency_ms, summary.speedup
    return AttachedMode(
        mode=summary.mode,
        status=summary.status,
        latency_ms=latency.median if latency else None,
        latency_ci95_ms=_interval(latency.ci95_low, latency.ci95_high) if latency else None,
        speedup=speedup.ratio if speedup else None,
        speedup_ci95=_interval(speedup.ci95_low, speedup.ci95_high) if speedup else None,
    )


def _interval(low: float | None, high: float | None) -> tuple[float, float] | None:
    return None if low is None or high is None else (low, high)


def _to_text(attachment: Attachment) -> str:
    """Write the JSON of an attachment, with long texts from outside cut where it would be more than a tag takes."""
    data = attachment.model_dump(mode="json")
    text = json.dumps(data, allow_nan=False)
    if len(text) > content.TAG_LIMIT:
        short = {key: shortened(value, _SHORT_TEXT) for key, value in data["device"].items() if value}
        data["device"] |= short
        data["versions"] |= {key: shortened(value, _SHORT_TEXT) for key, value in data["versions"].items() if value}
        text = json.dumps(data | {"model": shortened(attachment.model, _SHORT_TEXT)}, allow_nan=False)
    return text
