"""From what is here to MLflow: a recording, the same for `run` and for `sync`, and a report on several of them."""

import json
import os
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from mlflow_tfexec import reports
from mlflow_tfexec.benchmarking.interrupts import interruptible
from mlflow_tfexec.benchmarking.notices import say
from mlflow_tfexec.benchmarking.request import unless_auto
from mlflow_tfexec.records.judgement import Judgement
from mlflow_tfexec.records.recording import Recording
from mlflow_tfexec.spool import SpooledBenchmark
from mlflow_tfexec.tracking.connection import REPORTING
from mlflow_tfexec.tracking.destination import Destination, resolve
from mlflow_tfexec.tracking.report_writer import LoggedReport, log_report
from mlflow_tfexec.tracking.writer import LoggedBenchmark, log_benchmark

Lines = list[tuple[str, str]]


def publish(
    spooled: SpooledBenchmark, recording: Recording, judgement: Judgement, destination: Destination
) -> LoggedBenchmark:
    """Write a benchmark to MLflow and note in the spool that it is there.

    Raises:
        LoggingFailed: MLflow did not take all of it; calling again completes it.
    """
    logged = write(recording, judgement, destination, content=spooled.recording_path.read_bytes())
    spooled.mark_logged({"tracking_uri": logged.tracking_uri, "run_id": logged.run_id})
    return logged


def write(recording: Recording, judgement: Judgement, destination: Destination, *, content: bytes) -> LoggedBenchmark:
    """Write a benchmark to MLflow, its reports and pictures with it.

    Args:
        recording: the benchmark.
        judgement: what is claimed of it.
        destination: where it goes.
        content: the recording as it is on disk.

    Raises:
        LoggingFailed: MLflow did not take all of it; calling again completes it.
    """
    table = reports.table([(recording, judgement)])
    formats = reports.formats()
    note = formats["markdown"].render(table)
    artifacts = {
        "recording.jsonl": content,
        "environment.json": (json.dumps(recording.header.environment, indent=1) + "\n").encode(),
        "report.md": note.encode(),
        "report.html": formats["html"].render(table).encode(),
    }
    [benchmark] = table.benchmarks
    context = " · ".join(filter(None, (*benchmark.headline[1:], benchmark.scope)))
    for drawing in reports.drawings(recording, judgement):
        artifacts[f"{drawing.name}.png"] = drawing.png(heading=judgement.model, context=context)
    return log_benchmark(recording, judgement, destination, artifacts=artifacts, note=note)


def report_destination(tracking_uri: str) -> Destination:
    """Settle where a report is kept: in the run of MLFLOW_RUN_ID, or in a new one of MLflow's own experiment setting.

    Raises:
        TrackingError: the store does not answer, or that run or experiment cannot be written to.
    """
    return resolve(tracking_uri=unless_auto(tracking_uri), experiment=None, environ=os.environ, purpose=REPORTING)


def publish_report(
    kind: str,
    benchmark_ids: Iterable[str],
    texts: Mapping[str, str],
    destination: Destination,
    *,
    pictures: Mapping[str, bytes] = MappingProxyType({}),
) -> LoggedReport:
    """Keep a report in MLflow, and say where on standard error.

    Args:
        kind: what it is called: the run, if it is a new one, and the files.
        benchmark_ids: what it is about.
        texts: the report by file extension, `.md` among them, which becomes the run's description.
        destination: from `report_destination`.
        pictures: PNG files by name, to keep beside it.

    Raises:
        LoggingFailed: MLflow did not take all of it; the run has ended as FAILED.
        Interrupted: we were asked to stop; the run has ended as KILLED.
    """
    files = {f"{kind}{extension}": text.encode() for extension, text in texts.items()} | dict(pictures)
    with interruptible():
        logged = log_report(list(benchmark_ids), destination, name=f"tfexec {kind}", artifacts=files, note=texts[".md"])
    for label, text in where_lines(logged):
        say(f"{label}: {text}")
    return logged


def where_lines(logged: LoggedBenchmark | LoggedReport) -> Lines:
    """Say where in MLflow to look."""
    lines = [("MLflow run", logged.url or logged.run_id)]
    if logged.url is None:
        lines.append(("Look at it with", f"mlflow ui --backend-store-uri {logged.tracking_uri}"))
    return lines
