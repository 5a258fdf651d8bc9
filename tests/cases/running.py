"""Runs a case through the real command, and holds what came of it against what was expected."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from cases.case import Case, Expect
from real_command import Lab

from mlflow_tfexec.records.recording import ModeLine

NOISE = frozenset(
    (
        *("one_launch", "undecided", "control_differs", "no_steady_state", "drift", "step", "two_levels"),
        *("rounds_dropped", "unstable_machine", "partial"),
    )
)
"""Findings that depend on the machine of the moment."""

BY_STATUS = frozenset({"mode_failed", "mode_skipped", "outputs_differ"})
"""Findings that every mode of such a status has."""


@dataclass(frozen=True)
class Seen:
    """What came of a case."""

    exit_code: int
    stdout: str
    stderr: str
    lines: dict[str, ModeLine | None]
    """mode → its last line in the recording."""
    findings: list[dict[str, Any]]
    ordering: str
    left_running: list[str]
    """Processes of the command that still run after its end."""
    spooled: int
    """Recordings that were left in the spool."""


def observe(case: Case, place: Lab) -> Seen:
    """Run the command to its end, in a place of its own."""
    outcome = place.run(*case.command(), environment=case.environment)
    benchmarks = place.benchmarks() if place.spool.is_dir() else []
    recording = benchmarks[0].load() if benchmarks else None
    judged = json.loads(outcome.stdout)["benchmarks"][0] if outcome.stdout.startswith("{") else {}
    return Seen(
        exit_code=outcome.exit_code,
        stdout=outcome.stdout,
        stderr=outcome.stderr,
        lines={mode: recording.final_line(mode) if recording else None for mode in case.modes},
        findings=judged.get("findings", []),
        ordering=judged.get("ordering", ""),
        left_running=list(still_running(place)),
        spooled=len(list(place.spool.iterdir())) if place.spool.is_dir() else 0,
    )


def still_running(place: Lab) -> Iterator[str]:
    """Name the processes that were started from *place*, zombies included, whoever their parent is now."""
    for process in psutil.process_iter():
        try:
            if process.environ().get("MLFLOW_TFEXEC_SPOOL") == str(place.spool):
                yield " ".join(process.cmdline()) or process.name()
        except psutil.Error:
            continue


def complaints(case: Case, seen: Seen) -> list[str]:
    """Say everything that is not as expected. Empty: all is."""
    return [*_of_the_command(case, seen), *_of_modes(case, seen), *_of_findings(case, seen)]


def _of_the_command(case: Case, seen: Seen) -> Iterator[str]:
    if seen.exit_code != case.exit_code:
        yield f"exit code {seen.exit_code} instead of {case.exit_code}: {seen.stderr[-500:]}"
    if "Traceback" in seen.stderr:
        yield f"a traceback: {seen.stderr[-2000:]}"
    ranked = [mode for mode, line in seen.lines.items() if line and line.status == "ok" and mode != "graph_control"]
    if seen.exit_code == 0 and len(ranked) > 1 and not seen.ordering:
        yield "a report without an ordering"
    if seen.left_running:
        yield f"still running: {seen.left_running}"
    own = [line for line in seen.stderr.splitlines() if not line.startswith("mlflow-tfexec: ")]
    if not case.modes:
        if seen.spooled or seen.stdout:
            yield f"a refused request left {seen.spooled} recordings and {seen.stdout!r}"
        yield from (f"the refusal lacks {word!r}: {seen.stderr}" for word in case.refusal if word not in seen.stderr)
        own = own[2:]
    if own:
        yield f"lines that are not ours on standard error: {own}"


def _of_modes(case: Case, seen: Seen) -> Iterator[str]:
    for mode, expected in case.modes.items():
        line = seen.lines[mode]
        if line is None:
            yield f"{mode}: no line in the recording"
            continue
        for what in ("status", "cause", "op", "layer"):
            if getattr(line, what) != getattr(expected, what):
                yield f"{mode}: {what} {getattr(line, what)!r} instead of {getattr(expected, what)!r}"
        reason = line.reason or ""
        yield from (f"{mode}: {word!r} is not in {reason!r}" for word in expected.words if word not in reason)
        if (expected.source or "") not in (line.source or ""):
            yield f"{mode}: line {line.source!r} instead of {expected.source!r}"
        yield from _of_a_reason(mode, expected, reason)


def _of_a_reason(mode: str, expected: Expect, reason: str) -> Iterator[str]:
    """Hold every reason to what a person can read."""
    if expected.status == "ok":
        return
    if not reason.isprintable() or not 1 <= len(reason) <= 500:
        yield f"{mode}: a reason of {len(reason)} characters, or not printable: {reason!r}"
    yield from (f"{mode}: {noise!r} in the reason" for noise in ("Traceback", 'File "', "{{node") if noise in reason)


def _of_findings(case: Case, seen: Seen) -> Iterator[str]:
    codes = {_code(finding) for finding in seen.findings if finding["code"] not in NOISE | BY_STATUS}
    for missing in case.findings - codes:
        yield f"no finding {missing!r}"
    for surplus in codes - case.findings:
        text = next(finding["what"] for finding in seen.findings if _code(finding) == surplus)
        yield f"finding {surplus!r}: {text}"
    by_status = {finding["mode"]: finding for finding in seen.findings if finding["code"] in BY_STATUS}
    for mode, expected in case.modes.items():
        finding = by_status.get(mode)
        if (expected.status == "ok") != (finding is None):
            yield f"{mode} is {expected.status}, and its finding is {finding}"
        if (
            finding is not None
            and finding["code"] != "mode_skipped"
            and not (finding["why"] and finding["what_to_try"])
        ):
            yield f"{mode}: nothing to try: {finding}"


def _code(finding: dict[str, Any]) -> str:
    return finding["code"] + (f" {finding['mode']}" if finding.get("mode") else "")


def describe(seen: Seen) -> str:
    """Give what was seen in a few lines of Markdown, for the table of all cases."""
    parts = [f"exit {seen.exit_code}"]
    for mode, line in seen.lines.items():
        if line is None:
            continue
        place = ", ".join(filter(None, (line.cause, line.op, line.layer, line.source)))
        why = f": {line.reason}" if line.reason else ""
        parts.append(f"**{mode}** {line.status}{f' [{place}]' if place else ''}{why}")
    codes = sorted({_code(finding) for finding in seen.findings if finding["code"] not in NOISE | BY_STATUS})
    if codes:
        parts.append(f"findings: {', '.join(codes)}")
    if not any(seen.lines.values()):
        parts += [line for line in seen.stderr.splitlines() if ", start" not in line and ", build" not in line]
    return "<br>".join(part.replace("|", "\\|") for part in parts)


def bare_lab(root: Path) -> Lab:
    """Give a place without an MLflow store, for commands that stay offline."""
    (root / "scratch").mkdir(parents=True)
    return Lab(root)
