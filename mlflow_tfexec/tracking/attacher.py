"""Attach a benchmark to what MLflow already has, and read back what was attached.

Nothing that is there is overwritten unless that is asked for. What is to go, goes first, and the tag that holds all
comes last: an attempt that breaks off leaves tags of one benchmark, never of two, and doing the same again completes
it.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from mlflow_tfexec.errors import LoggingFailed, RequestError, TfexecError, TrackingError
from mlflow_tfexec.text import plain, shortened
from mlflow_tfexec.tracking import content, keys
from mlflow_tfexec.tracking.attachment import Attachment, Change, parse, plan
from mlflow_tfexec.tracking.connection import (
    ATTACHING,
    REACHING,
    TRANSFERRING,
    connect,
    is_absent,
    quiet,
    reached,
    reason,
)
from mlflow_tfexec.tracking.destination import holding, unreached
from mlflow_tfexec.tracking.targets import Target, active_run, find_target

_LONGEST_VALUE = 60


@dataclass(frozen=True)
class Attached:
    """What attaching came to."""

    target: str
    """`runs:/…`, `models:/m-…` or `models:/name/version`: always the same one."""
    benchmark_id: str
    run_id: str | None
    """The benchmark's own run, which names the target now. None: it was attached from a recording."""
    fastest: str | None
    best_set: tuple[str, ...]
    changed: bool
    """False: all of it was there already."""
    left: tuple[str, ...]
    """Metrics of an earlier benchmark that this one has no value for: MLflow deletes none."""


@dataclass(frozen=True)
class Pulled:
    """What stands on a target."""

    target: str
    attachment: Attachment | None
    """None: the target is a benchmark's own run, or that of one of its modes."""
    run_id: str | None
    """The benchmark's own run. None: it was attached from a recording, or the target is one of its runs."""
    attached: str | None


def attach_to(
    reference: str,
    attachment: Attachment,
    *,
    run_id: str | None,
    time_ms: int,
    prefix: str,
    force: bool,
    tracking_uri: str | None,
) -> Attached:
    """Write *attachment* to what *reference* names, and its name to the benchmark's run.

    Args:
        reference: as `find_target` takes it.
        attachment: what to write.
        run_id: the benchmark's own run. None: there is none to link with.
        time_ms: when the benchmark ended, in milliseconds since 1970.
        prefix: of tags and metrics.
        force: replace what is there.
        tracking_uri: None: as MLflow is set.

    Raises:
        TrackingError: the store does not answer, the target or the benchmark's run does not exist or is deleted, or the
            target is a benchmark or a report.
        RequestError: something is there already.
        LoggingFailed: MLflow did not take all of it. The same again completes it.
    """
    asked = unreached(tracking_uri=tracking_uri, experiment=None, environ=os.environ)
    uri = asked.reachable_uri(os.environ)
    with quiet(REACHING, uri), reached(uri, ATTACHING):
        client = connect(uri)
        target = _free_target(client, reference, asked.tracking_uri)
        link = None if run_id is None else _link(client, run_id, target.uri, asked.tracking_uri)
    change = plan(
        attachment,
        prefix,
        run_id=run_id,
        now=datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        held_tags=target.tags,
        held_metrics=target.metrics(run_id),
    )
    if change.replaced and not force:
        raise RequestError(_is_taken(target, change, prefix))
    with quiet(TRANSFERRING, uri), _resumable(target, asked.tracking_uri, uri):
        _write(target, change, time_ms, run_id)
        if link is not None:
            client.set_tag(run_id, keys.ATTACHED_TO, link, synchronous=True)
    return Attached(
        target=target.uri,
        benchmark_id=attachment.benchmark_id,
        run_id=run_id,
        fastest=attachment.fastest,
        best_set=attachment.best_set,
        changed=bool(change.deleted or change.tags or change.metrics or link is not None),
        left=change.left,
    )


def read_attached(reference: str, *, prefix: str, tracking_uri: str | None) -> Pulled:
    """Read what was attached to what *reference* names; of a benchmark's own run, that it is one.

    Raises:
        TrackingError: the store does not answer, the target does not exist or is deleted.
        RequestError: nothing was attached to it under this prefix, or not all of it.
    """
    asked = unreached(tracking_uri=tracking_uri, experiment=None, environ=os.environ)
    uri = asked.reachable_uri(os.environ)
    with quiet(REACHING, uri), reached(uri, ATTACHING):
        target = find_target(connect(uri), reference, store=asked.tracking_uri)
    if target.tags.get(keys.KIND) in {keys.KIND_BENCHMARK, keys.KIND_MODE}:
        return Pulled(target.uri, None, None, None)

    def tag(name: str) -> str | None:
        return target.tags.get(keys.attached_tag(prefix, name))

    said = f"{keys.attached_tag(prefix, keys.ATTACHED_CONTENT)} of {plain(target.uri)!r}"
    text, begun = tag(keys.ATTACHED_CONTENT), tag(keys.ATTACHED_BENCHMARK_ID)
    if text is None:
        raise RequestError(
            f"No benchmark is attached to {plain(target.uri)!r} under the prefix {prefix!r}."
            if begun is None
            else f"Benchmark {plain(begun)} is not completely attached to {plain(target.uri)!r}. Attach it again."
        )
    attachment = parse(text)
    if attachment is None:
        raise RequestError(f"The tag {said} cannot be read. Attach the benchmark again with --force.")
    return Pulled(target.uri, attachment, tag(keys.ATTACHED_RUN_ID), tag(keys.ATTACHED_TIME))


def _free_target(client: Any, reference: str, store: str) -> Target:
    """Find the target, and make sure that it is not one of our own runs, whose tags mean something else."""
    target = find_target(client, reference, store=store)
    if keys.KIND in target.tags:
        raise TrackingError(
            f"Run {reference!r} holds {plain(holding(target.tags) or target.tags[keys.KIND])} itself. "
            "Attach to a training run or a model."
        )
    return target


def _link(client: Any, run_id: str, target: str, store: str) -> str | None:
    """Give the new text of the tag that names the targets. None: this one is named already."""
    try:
        held = active_run(client, run_id).data.tags.get(keys.ATTACHED_TO)
    except Exception as error:
        if is_absent(error):
            raise TrackingError(
                f"The benchmark's run {run_id!r} does not exist in {store}. "
                "Correct --tracking-uri, or attach it from its recording."
            ) from None
        raise
    named = _named(held)
    if target in named:
        return None
    named.append(target)
    while len(json.dumps(named)) > content.TAG_LIMIT and len(named) > 1:
        del named[0]
    return json.dumps(named)


def _named(held: str | None) -> list[str]:
    """Read the targets named so far. A text that is not ours is kept, as one of them."""
    try:
        read = json.loads(held or "[]")
    except (ValueError, RecursionError):
        read = None
    return [str(one) for one in read] if isinstance(read, list) else [str(held)]


def _is_taken(target: Target, change: Change, prefix: str) -> str:
    """Say in one line what is there."""
    first = keys.attached_tag(prefix, keys.ATTACHED_BENCHMARK_ID)
    key = first if first in change.replaced else next(iter(change.replaced))
    value = shortened(plain(change.replaced[key]), _LONGEST_VALUE)
    more = f" and {len(change.replaced) - 1} more" if len(change.replaced) > 1 else ""
    return (
        f"{plain(target.uri)!r} already has {key} = {value!r}{more}. "
        "Add --force to replace what is there, or keep both with another --prefix."
    )


def _write(target: Target, change: Change, time_ms: int, run_id: str | None) -> None:
    for key in change.deleted:
        target.delete_tag(key)
    if change.metrics:
        target.log_metrics(change.metrics, time_ms, run_id)
    if change.tags:
        target.set_tags(change.tags)


@contextmanager
def _resumable(target: Target, store: str, uri: str) -> Iterator[None]:
    """Turn whatever MLflow raises inside into a LoggingFailed that says what to do."""
    try:
        yield
    except TfexecError:
        raise
    except Exception as error:  # noqa: BLE001 - stores and their drivers raise types of their own
        raise LoggingFailed(
            f"MLflow at {store} did not take all that is attached to {plain(target.uri)!r}: {reason(error, uri)}.\n"
            "What it took is kept: run the same command again to complete it."
        ) from None
