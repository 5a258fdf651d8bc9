"""From a recording on disk to MLflow: the same for `run` and for `sync`."""

import json

from mlflow_tfexec import reports
from mlflow_tfexec.records.judgement import Judgement
from mlflow_tfexec.records.recording import Recording
from mlflow_tfexec.spool import SpooledBenchmark
from mlflow_tfexec.tracking.destination import Destination
from mlflow_tfexec.tracking.writer import LoggedBenchmark, log_benchmark

Lines = list[tuple[str, str]]


def publish(
    spooled: SpooledBenchmark, recording: Recording, judgement: Judgement, destination: Destination
) -> LoggedBenchmark:
    """Write a benchmark to MLflow and note in the spool that it is there.

    Raises:
        LoggingFailed: MLflow did not take all of it; calling again completes it.
    """
    table = reports.table([(recording, judgement)])
    formats = reports.formats()
    note = formats["markdown"].render(table)
    artifacts = {
        "recording.jsonl": spooled.recording_path.read_bytes(),
        "environment.json": (json.dumps(recording.header.environment, indent=1) + "\n").encode(),
        "report.md": note.encode(),
        "report.html": formats["html"].render(table).encode(),
    }
    [benchmark] = table.benchmarks
    context = " · ".join(filter(None, (*benchmark.headline[1:], benchmark.scope)))
    for drawing in reports.drawings(recording, judgement):
        heading = f"{judgement.model}: {drawing.title}"
        artifacts[f"{drawing.name}.png"] = drawing.png(heading=heading, context=context)
    logged = log_benchmark(recording, judgement, destination, artifacts=artifacts, note=note)
    spooled.mark_logged({"tracking_uri": logged.tracking_uri, "run_id": logged.run_id})
    return logged


def where_lines(logged: LoggedBenchmark) -> Lines:
    """Say where in MLflow to look."""
    lines = [("MLflow run", logged.url or logged.run_id)]
    if logged.url is None:
        lines.append(("Look at it with", f"mlflow ui --backend-store-uri {logged.tracking_uri}"))
    return lines
