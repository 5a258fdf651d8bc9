"""`run --dry-run`: measure a little, and say what a whole benchmark would take here and how closely it would look."""

import dataclasses
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from mlflow_tfexec.benchmarking.fetching import fetched
from mlflow_tfexec.benchmarking.interrupts import interruptible
from mlflow_tfexec.benchmarking.progress import make_progress
from mlflow_tfexec.benchmarking.request import mode_variables
from mlflow_tfexec.errors import EXIT_DONE, EXIT_INCOMPLETE, EXIT_INTERRUPTED, Interrupted, RequestError
from mlflow_tfexec.records.recording import Recording
from mlflow_tfexec.records.spec import PRESETS, Preset, Spec
from mlflow_tfexec.session.benchmark import run_session
from mlflow_tfexec.spool import SpooledBenchmark
from mlflow_tfexec.statistics.planning import Plan, PresetPlan, plan
from mlflow_tfexec.tracking.destination import Destination
from mlflow_tfexec.units import duration, significant, span

# Two launches are the fewest that differ from one another; five rounds the fewest whose spread says something.
_LAUNCHES = 2
_ROUNDS = 5

_FORMATS = ("console", "json")
_AS_ASKED = "as asked"


def dry_run(spec: Spec, report_format: str, destination: Callable[[], Destination]) -> int:
    """Measure a pilot of *spec* that is kept nowhere, and print the plan that follows from it.

    *destination* is asked for the model, if that lies in MLflow, and for nothing else.

    Raises:
        RequestError: the model or the device cannot be had as asked, or there is no such format here.
    """
    if report_format not in _FORMATS:
        raise RequestError(f"--dry-run has no format {report_format!r}. Give one of: {', '.join(_FORMATS)}.")
    start_s = time.monotonic()
    try:
        with interruptible():
            recording = _measure_pilot(spec, destination)
    except Interrupted as interruption:
        _say(f"{interruption} Nothing was kept.")
        return EXIT_INTERRUPTED
    found = plan(recording, _presets(spec))
    if found is None:
        _say("The pilot was not measured to its end, so nothing can be foreseen.")
        return EXIT_INCOMPLETE
    pilot_s = time.monotonic() - start_s
    if report_format == "json":
        typer.echo(json.dumps(_as_json(found, pilot_s), indent=2, allow_nan=False))
    else:
        typer.echo("\n".join(_lines(spec, found, pilot_s)))
    return EXIT_DONE


def _measure_pilot(spec: Spec, destination: Callable[[], Destination]) -> Recording:
    short = spec.model_copy(
        update={"launches": _LAUNCHES, "looks": (_LAUNCHES,), "rounds": _ROUNDS, "time_budget_s": None}
    )
    # On Windows a log may still be open in a worker that is just ending; what is left there the system removes.
    with tempfile.TemporaryDirectory(prefix="mlflow-tfexec-", ignore_cleanup_errors=True) as place:
        spooled = SpooledBenchmark(Path(place) / "pilot")
        spooled.create()
        progress = make_progress()
        try:
            variables = mode_variables(short)
            with fetched(short, Path(place), destination) as source:
                run_session(short, spooled, progress, variables=variables, source=source, smaller_batches=False)
            return spooled.load()
        finally:
            progress.close()
            spooled.release()


def _presets(spec: Spec) -> dict[str, Preset]:
    """Give the presets, and what was asked for where that is none of them."""
    presets = dict(PRESETS)
    asked = Preset(spec.looks, spec.rounds)
    if asked not in presets.values():
        presets[_AS_ASKED] = asked
    return presets


def _lines(spec: Spec, found: Plan, pilot_s: float) -> list[str]:
    """Write the plan for people."""
    lines = [
        f"{spec.model}: a pilot of {_LAUNCHES} launches × {_ROUNDS} rounds took {span(pilot_s)} here; nothing is kept.",
        f"A launch takes {_seconds(found.launch_cost_s)} and {_seconds(found.round_cost_s)} for each round.",
    ]
    if found.between_launches is not None and found.within_launch is not None:
        lines.append(
            f"The ratio of two modes scatters by {_percent(found.between_launches)} between launches and by "
            f"{_percent(found.within_launch)} between the rounds of one."
        )
    if found.rounds is not None:
        lines.append(
            f"Most is learned per minute with about {found.rounds} rounds in a launch: --rounds {found.rounds}."
        )
    rows = [("preset", "launches × rounds", "time here", "interval of a ratio"), *map(_cells, found.presets)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    margin = _percent(spec.margin)
    return [*lines, "", *table, "", f"Equal modes are called equivalent once their interval lies within ±{margin}."]


def _cells(preset: PresetPlan) -> tuple[str, str, str, str]:

    fewest, most = preset.launches
    launches = str(fewest) if fewest == most else f"{fewest} to {most}"
    least, longest = (span(seconds) for seconds in preset.seconds)
    if preset.resolution is None:
        interval = "this launch only" if most == 1 else "–"
    else:
        wide, narrow = (f"±{_percent(half)}" for half in preset.resolution)
        interval = wide if fewest == most else f"{wide} to {narrow}"
    return (
        preset.name,
        f"{launches} × {preset.rounds}",
        least if fewest == most else f"{least} to {longest}",
        interval,
    )


def _as_json(found: Plan, pilot_s: float) -> dict[str, Any]:
    return {"pilot_s": pilot_s, **dataclasses.asdict(found)}


def _seconds(value: float) -> str:

    return duration(value * 1000)


def _percent(fraction: float) -> str:

    return f"{significant(100 * fraction, digits=2)} %"


def _say(text: str) -> None:
    sys.stderr.write(f"mlflow-tfexec: {text}\n")
