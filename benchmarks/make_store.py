"""Fill a tracking store with many benchmarks of five modes, and with as many runs of other tools as it asks for.

The rows go straight into MLflow's tables, by its own models: what `search_runs` reads, and nothing else. The series of
single calls is left out (no search reads it), and only the newest benchmarks of each model have a recording.

    python benchmarks/make_store.py sqlite:////tmp/store.db --benchmarks 1000 --foreign 5000 --artifacts /tmp/artifacts
"""

import argparse
import hashlib
import sys
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from recordings import make_recording

from mlflow_tfexec import reports
from mlflow_tfexec.records.codec import encode
from mlflow_tfexec.records.recording import Recording
from mlflow_tfexec.statistics.judge import judge
from mlflow_tfexec.tracking import content, keys

MODELS = tuple(f"Model{number:02}" for number in range(20))
GPUS = ("NVIDIA T4", "NVIDIA L4", "NVIDIA A100-SXM4-80GB", "NVIDIA H200")
TF_VERSIONS = ("2.19.0", "2.20.0", "2.21.0")
EXPERIMENTS = ("vision", "language", "nightly")
RECORDED = 20
"""Newest benchmarks of a model that have a recording."""

START_MS = 1_700_000_000_000
APART_MS = 600_000
BATCH = 200
FOREIGN_TAGS = {"mlflow.user": "somebody", "mlflow.source.type": "LOCAL", "stage": "train", "dataset": "imagenet"}


@dataclass(frozen=True)
class Size:
    """How much is in a recording of five modes."""

    launches: int
    rounds: int
    calls: int


SIZES = {
    "small": Size(3, 10, 5),
    "large": Size(5, 20, 20),
    "rigorous": Size(20, 20, 20),
    "largest": Size(20, 200, 20),
}


def template(size: Size) -> Recording:
    environment = {
        "tensorflow": {
            "version": TF_VERSIONS[0],
            "keras_version": "3.12.0",
            "cuda_version": "12.5.1",
            "device": "GPU:0",
        },
        "gpus": [{"name": GPUS[0], "uuid": "GPU-1234", "compute_capability": "7.5", "memory_mb": 15360}],
        "gpu_driver": {"version": "550.54"},
        "cpu": {"name": "Xeon"},
        "fingerprint": "f" * 64,
    }
    shape = {"launches": size.launches, "rounds": size.rounds, "calls": size.calls}
    return make_recording(environment=environment, model=MODELS[0], **shape)


class Rows:
    """Rows of MLflow's tables that wait to be written together."""

    def __init__(self, store: Any) -> None:
        from mlflow.store.tracking.dbmodels import models

        self._engine = store.engine
        self._tables = [model.__table__ for model in (models.SqlRun, models.SqlTag, models.SqlParam)]
        self._tables.append(models.SqlLatestMetric.__table__)
        self._rows: list[list[dict[str, Any]]] = [[], [], [], []]

    def add(self, run: dict[str, Any], tags: dict[str, str], params: dict[str, str], metrics: dict[str, float]) -> None:
        """Take one run in."""
        run_id = run["run_uuid"]
        runs, tag_rows, param_rows, metric_rows = self._rows
        runs.append(run)
        tags = {**tags, "mlflow.runName": run["name"]}
        tag_rows += [{"run_uuid": run_id, "key": key, "value": value} for key, value in tags.items()]
        param_rows += [{"run_uuid": run_id, "key": key, "value": value} for key, value in params.items()]
        metric_rows += [
            {"run_uuid": run_id, "key": key, "value": value, "timestamp": run["end_time"], "step": 0, "is_nan": False}
            for key, value in metrics.items()
        ]

    def write(self) -> None:
        """Write all that waits, in one transaction."""
        with self._engine.begin() as connection:
            for table, rows in zip(self._tables, self._rows, strict=True):
                if rows:
                    connection.execute(table.insert(), rows)
                rows.clear()

    def settle(self) -> None:
        """Let PostgreSQL learn how the rows are spread, as it does by itself within minutes."""
        if self._engine.dialect.name == "postgresql":
            with self._engine.begin() as connection:
                connection.exec_driver_sql("ANALYZE")


def run_row(run_id: str, name: str, experiment: Any, start_ms: int) -> dict[str, Any]:
    return {
        "run_uuid": run_id,
        "name": name,
        "source_type": "UNKNOWN",
        "source_name": "",
        "entry_point_name": "",
        "user_id": "somebody",
        "status": "FINISHED",
        "start_time": start_ms,
        "end_time": start_ms + APART_MS // 2,
        "source_version": "",
        "lifecycle_stage": "active",
        "artifact_uri": f"{experiment.artifact_location}/{run_id}/artifacts",
        "experiment_id": int(experiment.experiment_id),
    }


def identifier(*words: object) -> str:
    return hashlib.md5(" ".join(map(str, words)).encode(), usedforsecurity=False).hexdigest()


class Source:
    """What a benchmark's runs carry, worked out once and varied by number."""

    def __init__(self, size: Size) -> None:
        recording = template(size)
        judgement = judge(recording)
        table = reports.table([(recording, judgement)])
        self.header = recording.header
        self.lines_text = "".join(f"{encode(line)}\n" for line in recording.lines)
        self.parent_tags = content.benchmark_tags(recording, judgement, reports.formats()["markdown"].render(table))
        self.parent_metrics = content.benchmark_metrics(judgement)
        self.modes = [
            (
                summary.mode,
                content.mode_tags(recording, summary),
                content.mode_params(recording, summary.mode),
                dict(content.mode_metrics(recording, judgement, summary.mode)),
            )
            for summary in judgement.modes
        ]

    def varied(self, number: int) -> dict[str, str]:
        """Give the tags in which benchmarks differ."""
        return {
            keys.BENCHMARK_ID: identifier("benchmark", number),
            keys.MODEL: MODELS[number % len(MODELS)],
            keys.GPU_NAME: GPUS[number // len(MODELS) % len(GPUS)],
            keys.TF_VERSION: TF_VERSIONS[number // (len(MODELS) * len(GPUS)) % len(TF_VERSIONS)],
        }

    def write_recording(self, directory: Path, varied: dict[str, str]) -> None:
        """Write the recording of one benchmark among the artifacts of its run."""
        header = self.header.model_copy(
            update={
                "benchmark_id": varied[keys.BENCHMARK_ID],
                "spec": self.header.spec.model_copy(update={"model": varied[keys.MODEL]}),
            }
        )
        path = directory / keys.ARTIFACT_DIRECTORY / keys.RECORDING_FILE
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{encode(header)}\n{self.lines_text}", encoding="utf-8")


def fill(
    uri: str,
    *,
    first: int,
    benchmarks: int,
    foreign: int,
    artifacts: Path,
    size: Size = SIZES["small"],
    recorded: Collection[str] = MODELS,
) -> None:
    """Write benchmarks number *first* to *benchmarks*, and *foreign* other runs spread among them.

    Recordings hold as much as *size* says; only those of the models *recorded* are written.
    """
    from mlflow import MlflowClient
    from mlflow.tracking._tracking_service.utils import _get_store

    client = MlflowClient(uri)
    experiments = [experiment(client, name, artifacts) for name in EXPERIMENTS]
    source, rows = Source(size), Rows(_get_store(uri))
    for number in range(first, benchmarks):
        place = experiments[number % len(experiments)]
        start_ms = START_MS + number * APART_MS
        parent = run_row(identifier("parent", number), "tfexec", place, start_ms)
        varied = source.varied(number)
        rows.add(parent, {**source.parent_tags, **varied, keys.LOGGED: "1"}, {}, source.parent_metrics)
        for mode, tags, params, metrics in source.modes:
            child = run_row(identifier(mode, number), mode, place, start_ms + 1000)
            rows.add(child, {**tags, **varied, keys.PARENT_RUN_ID: parent["run_uuid"]}, params, metrics)
        for other in foreign_numbers(number - first, benchmarks - first, foreign):
            run = run_row(identifier("foreign", number, other), "train", place, start_ms + 2000 + other)
            params = {"lr": "0.001", "model": varied[keys.MODEL]}
            rows.add(run, FOREIGN_TAGS, params, {"loss": 0.1, "accuracy": 0.9})
        if benchmarks - number <= RECORDED * len(MODELS) and varied[keys.MODEL] in recorded:
            source.write_recording(Path(parent["artifact_uri"].removeprefix("file://")), varied)
        if (number - first) % BATCH == BATCH - 1:
            rows.write()
    rows.write()
    rows.settle()


def foreign_numbers(position: int, benchmarks: int, foreign: int) -> Iterator[int]:
    yield from range(position * foreign // benchmarks, (position + 1) * foreign // benchmarks)


def experiment(client: Any, name: str, artifacts: Path) -> Any:
    found = client.get_experiment_by_name(name)
    if found is None:
        client.create_experiment(name, artifact_location=(artifacts / name).absolute().as_uri())
    return found or client.get_experiment_by_name(name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("uri")
    parser.add_argument("--benchmarks", type=int, default=10_000)
    parser.add_argument("--foreign", type=int, default=50_000)
    parser.add_argument("--artifacts", type=Path, required=True)
    parser.add_argument("--recordings", choices=SIZES, default="small", help="how much each recording holds")
    options = parser.parse_args()
    start_s = time.perf_counter()
    fill(
        options.uri,
        first=0,
        benchmarks=options.benchmarks,
        foreign=options.foreign,
        artifacts=options.artifacts,
        size=SIZES[options.recordings],
    )
    print(f"{options.benchmarks} benchmarks and {options.foreign} other runs in {time.perf_counter() - start_s:.1f} s")


if __name__ == "__main__":
    main()
