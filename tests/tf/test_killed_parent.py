"""The parent is killed without warning: no worker stays behind, and `sync` brings to MLflow what was measured."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest
from real_command import QUICK, Lab, Outcome, eventually, model

pytestmark = [pytest.mark.tf, pytest.mark.mlflow]

OPTIONS = (*QUICK, "--modes", "eager,graph", "--input-shape", "4")
MOMENTS = ("first call", "warm-up", "rounds", "before MLflow", "inside MLflow")


def kill(place, name, *options, moment, workers=("eager", "graph")):
    """Start a benchmark, kill its parent when *moment* returns, and wait until its workers have ended."""
    before = {benchmark.directory for benchmark in place.benchmarks()}
    with place.start("run", model(name), *OPTIONS, *options) as command:
        for mode in workers:
            command.worker(mode)
        moment(command)
        command.process.kill()
        command.process.wait()
        eventually(lambda: not command.survivors(), what="all workers ended", within_s=60)
    return next((b for b in place.benchmarks() if b.directory not in before), None)


def written(place, text):
    """Give a moment: *text* stands in the newest recording."""
    known = {benchmark.directory for benchmark in place.benchmarks()}

    def is_written() -> bool:
        new = [benchmark for benchmark in place.benchmarks() if benchmark.directory not in known]
        return any(text in benchmark.recording_path.read_text(encoding="utf-8") for benchmark in new)

    return lambda _: eventually(is_written, what=f"{text} in the recording")


@dataclass(frozen=True)
class Synced:
    """Benchmarks killed at several moments, and what `sync` made of them."""

    place: Lab
    benchmarks: dict[str, Any]
    first: Outcome
    once: list[Any]
    second: Outcome

    def runs(self, moment: str, kind: str) -> list[Any]:
        """Find the runs of one benchmark."""
        tags = {"tfexec.benchmark_id": self.benchmarks[moment].benchmark_id, "tfexec.kind": kind}
        return [run for run in self.place.runs() if tags.items() <= run.data.tags.items()]


@pytest.fixture(scope="module")
def synced(make_lab):
    place = make_lab()
    benchmarks = {
        "first call": kill(
            place,
            "hangs_in_first_call",
            *("--modes", "eager,graph_nojit"),
            workers=("eager", "graph_nojit"),
            moment=lambda command: command.wait_for("first call: graph_nojit"),
        ),
        "warm-up": kill(
            place, "sleeps_20_ms", "--warmup", "600", "--block-ms", "200", moment=written(place, '"warmup":true')
        ),
        "rounds": kill(
            place, "tiny", "--rounds", "100000", moment=written(place, '"kind":"health","launch":0,"round":5')
        ),
        "before MLflow": kill(place, "tiny", moment=written(place, '"kind":"end"')),
        "inside MLflow": kill(
            place, "tiny", moment=lambda _: eventually(lambda: "eager" in place.run_names(), what="a nested run")
        ),
    }
    first = place.run("sync")
    once = place.runs()
    return Synced(place, benchmarks, first, once, place.run("sync"))


@pytest.mark.parametrize("moment", MOMENTS)
def test_sync_logs_what_was_measured(synced, moment):
    assert synced.first.exit_code == 0, synced.first.stderr
    assert synced.benchmarks[moment].is_logged
    assert len(synced.runs(moment, "benchmark")) == 1
    assert len(synced.runs(moment, "mode")) == 2


@pytest.mark.parametrize("moment", MOMENTS[:-1])
def test_sync_names_each_benchmark_that_it_logs(synced, moment):
    assert synced.benchmarks[moment].benchmark_id in synced.first.stdout


def test_no_run_is_left_running(synced):
    statuses = Counter(run.info.status for run in synced.place.runs())
    assert statuses["RUNNING"] == 0
    assert statuses.total() == 3 * len(MOMENTS)


def test_a_second_sync_changes_nothing(synced):
    assert synced.second.exit_code == 0, synced.second.stderr
    assert synced.second.stdout.startswith("Nothing to log")
    assert _content(synced.place.runs()) == _content(synced.once)


@pytest.mark.parametrize("moment", ["first call", "warm-up", "rounds"])
def test_a_benchmark_that_was_cut_short_is_a_killed_run(synced, moment):
    assert synced.benchmarks[moment].load().end is None
    (parent,) = synced.runs(moment, "benchmark")
    assert parent.info.status == "KILLED"
    assert parent.data.tags["tfexec.status"] == "partial"


@pytest.mark.parametrize("moment", ["before MLflow", "inside MLflow"])
def test_a_benchmark_that_was_measured_to_its_end_is_a_finished_run(synced, moment):
    (parent,) = synced.runs(moment, "benchmark")
    assert {run.info.status for run in (parent, *synced.runs(moment, "mode"))} == {"FINISHED"}


def test_the_timings_measured_before_the_kill_are_in_mlflow(synced):
    assert all(run.data.metrics["latency_ms/median"] > 0 for run in synced.runs("rounds", "mode"))


def test_a_mode_killed_before_its_first_call_ended_is_a_killed_run_without_timings(synced):
    runs = {run.info.run_name: run for run in synced.runs("first call", "mode")}
    assert runs["graph_nojit"].info.status == "KILLED"
    assert "latency_ms/median" not in runs["graph_nojit"].data.metrics


def test_a_parent_killed_before_anything_was_known_leaves_nothing_to_log(lab):
    assert kill(lab, "tiny", moment=lambda _: None) is None
    outcome = lab.run("sync")
    assert outcome.exit_code == 0
    assert outcome.stdout.startswith("Nothing to log")
    assert lab.runs() == []


def _content(runs):
    return sorted((run.info.run_id, run.info.status, *sorted(run.data.metrics.items())) for run in runs)
