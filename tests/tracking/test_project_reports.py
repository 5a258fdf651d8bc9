"""`mlflow run . -e report` and `-e compare`: a real project run, which becomes the report."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from recordings import make_recording, to_text

from mlflow_tfexec.statistics.judge import judge
from mlflow_tfexec.tracking.writer import log_benchmark

pytestmark = pytest.mark.mlflow

OPTIONS = ("--env-manager", "local", "--experiment-name", "mine")
ROOT = Path(__file__).parents[2]
MODEL = 'a "model" & a `lot` of $HOME %PATH% 100 % > 2'


@pytest.fixture
def project(store):
    """Start an entry point of the project; give what was said and its run."""

    def run(entry_point, **parameters):
        from mlflow import MlflowClient

        arguments = [word for name, value in parameters.items() for word in ("-P", f"{name}={value}")]
        done = subprocess.run(
            [sys.executable, "-m", "mlflow", "run", str(ROOT), "-e", entry_point, *OPTIONS, *arguments],
            env={
                **os.environ,
                "MLFLOW_TRACKING_URI": store,
                "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            },
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        client = MlflowClient(store)
        run_id = re.search(r"in run with ID '(\w+)'", done.stderr)[1]
        return done, client.get_run(run_id), {file.path for file in client.list_artifacts(run_id, "tfexec")}

    return run


def log(destination, number, **spec):
    recording = make_recording({"eager": 10.0, "xla": 4.0}, benchmark_id=f"{number:032x}", **spec)
    artifacts = {"recording.jsonl": to_text(recording).encode()}
    return log_benchmark(recording, judge(recording), destination, artifacts=artifacts, note="").run_id


def test_a_query_with_quotes_reaches_the_report_as_it_was_meant(project, mine):
    log(mine, 1, model=MODEL)
    log(mine, 2, model="another")
    # A benchmark's own run has no tag of this name, so that nothing is unlike the value.
    done, run, files = project("report", model=MODEL, filter='tags.`tfexec.mode` != "it\'s $HOME"')

    assert done.returncode == 1
    assert run.info.status == "FAILED"
    assert files == set()
    [said] = [line for line in done.stderr.splitlines() if line.startswith("mlflow-tfexec: ")]
    assert said.endswith("Values are compared exactly; `mlflow-tfexec runs` lists them.")
    # As Python writes a text with both kinds of quotes.
    assert r"""tags.`tfexec.mode` != "it\'s $HOME"'. """ in said


def test_the_project_s_run_becomes_the_report(project, mine):
    log(mine, 1, model=MODEL)
    log(mine, 2, model="another")
    done, run, files = project("report", model=MODEL, filter="metrics.`speedup/xla_vs_eager` > 2", format="json")

    assert done.returncode == 0, done.stderr
    assert run.info.status == "FINISHED"
    assert run.data.tags["tfexec.kind"] == "report"
    assert run.data.tags["tfexec.benchmark_ids"] == f"{1:032x}"
    assert run.data.tags["mlflow.source.type"] == "PROJECT"
    assert {"tfexec/report.md", "tfexec/report.html", "tfexec/report.json"} <= files
    assert set(run.data.params) >= {"run", "filter", "limit"}


def test_two_benchmarks_are_compared_by_the_project(project, mine):
    old, new = log(mine, 1), log(mine, 2)
    done, run, files = project("compare", old=old, new=new)

    assert done.returncode == 0, done.stderr
    assert (run.info.status, run.data.tags["tfexec.benchmark_ids"]) == ("FINISHED", f"{1:032x},{2:032x}")
    assert {"tfexec/comparison.md", "tfexec/comparison.html", "tfexec/comparison.json"} <= files
