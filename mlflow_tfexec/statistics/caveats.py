"""What a judgement must warn of, as findings."""

from collections.abc import Iterable, Iterator, Sequence

from mlflow_tfexec.records.findings import Finding
from mlflow_tfexec.records.judgement import ModeSummary
from mlflow_tfexec.records.recording import MEASURED_STATUSES, ModeLine, Recording
from mlflow_tfexec.statistics.failure_advice import SMALLER_BATCH, advise, place
from mlflow_tfexec.statistics.rounds import MAX_DROPPED_SHARE, LaunchRounds, launch_rounds
from mlflow_tfexec.units import memory

_WITHOUT_IT = "Or leave the mode out."


def machine_findings(recording: Recording) -> Iterator[Finding]:
    """Warn of rounds that the health checks called bad: dropped, or kept because there are too many."""
    launches = [launch for launch in launch_rounds(recording) if launch.bad]
    dropped = [launch for launch in launches if not launch.unstable]
    unstable = [launch for launch in launches if launch.unstable]
    if dropped:
        yield Finding(
            code="rounds_dropped",
            what=f"Rounds left out, for all modes together: {_bad_rounds(dropped)}.",
            why=f"The machine was disturbed in them: {_reasons(dropped)}.",
        )
    if unstable:
        yield Finding(
            code="unstable_machine",
            what=f"The machine was often disturbed: {_bad_rounds(unstable)}. All these rounds were kept.",
            why=f"Seen: {_reasons(unstable)}. Above {MAX_DROPPED_SHARE:.0%} of a launch, dropping would pick the data.",
            what_to_try="Measure again on a quieter machine.",
        )


def mode_findings(recording: Recording, summaries: Iterable[ModeSummary]) -> Iterator[Finding]:
    """Warn of modes that failed, were skipped or were never timed."""
    tried = {finding.mode for finding in recording.findings if finding.code == SMALLER_BATCH}
    for summary in summaries:
        line = recording.final_line(summary.mode)
        if summary.status == "skipped":
            yield _skipped(summary)
        elif summary.status not in MEASURED_STATUSES:
            yield _failed(summary, line, None if summary.mode in tried else recording.spec.batch_size)
        elif summary.latency_ms is None:
            yield Finding(
                code="nothing_timed",
                what="No block of this mode counts, so nothing is said of its time.",
                mode=summary.mode,
            )


def _failed(summary: ModeSummary, line: ModeLine | None, batch_size: int | None) -> Finding:
    advice = advise(summary.status, line.cause if line else None)
    where = f" in launch {line.launch + 1}" if line else ""
    what = f"Ended as {summary.status}{where}{': ' + _sentence(summary.reason) if summary.reason else '.'}"
    if line is not None and (found := place(line.op, line.layer, line.source)):
        what += f" Where: {found}."
    if line is not None and summary.status == "oom" and line.peak_memory_bytes is not None:
        what += f" Its process had held {memory(line.peak_memory_bytes / 2**20)} at most."
    if summary.latency_ms is not None:
        what += " Times from before are shown, not ranked."
    what_to_try = [advice.what_to_try, *_smaller_batch(summary.status, batch_size), _WITHOUT_IT]
    return Finding(code="mode_failed", what=what, why=advice.why, what_to_try=" ".join(what_to_try), mode=summary.mode)


def _smaller_batch(status: str, batch_size: int | None) -> list[str]:
    """Propose half the batch. None: the recording says itself what became of smaller ones."""
    if status != "oom" or batch_size is None or batch_size == 1:
        return []
    return [f"Try --batch-size {batch_size // 2}, which was not tried here."]


def _skipped(summary: ModeSummary) -> Finding:
    return Finding(
        code="mode_skipped",
        what=f"Was not measured{': ' + _sentence(summary.reason) if summary.reason else '.'}",
        mode=summary.mode,
    )


def _bad_rounds(launches: Sequence[LaunchRounds]) -> str:
    return ", ".join(
        f"{len(launch.bad)} of {len(launch.measured)} in launch {launch.launch + 1}" for launch in launches
    )


def _reasons(launches: Sequence[LaunchRounds]) -> str:
    return "; ".join(sorted({reason for launch in launches for reason in launch.bad.values()}))


def _sentence(text: str) -> str:
    """End *text* with a full stop, so that sentences can follow it."""
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else text + "."
