"""Reports made of recordings with known numbers, by name."""

from dataclasses import replace
from functools import cache

from recordings import SEED_TABLE_MS, make_recording

from mlflow_tfexec.records.findings import Finding
from mlflow_tfexec.records.recording import FindingLine, ModeLine
from mlflow_tfexec.reports import Table, formats, table
from mlflow_tfexec.statistics.judge import judge

GPU_MACHINE = {
    "tensorflow": {
        "version": "2.19.0",
        "keras_version": "3.9.2",
        "cuda_version": "12.5.1",
        "cudnn_version": "9",
        "device": "GPU:0",
    },
    "cpu": {"name": "Example CPU 9000"},
    "gpus": [{"name": "Example GPU 80GB"}],
    "gpu_driver": {"version": "550.54.15"},
}
HOSTILE_MODEL = "<img src=x onerror=alert(1)> |pipe| `tick` [link](javascript:alert(2))\n# heading\x1b[2J"
HOSTILE_REASON = "=cmd|' /C calc'!A0\n| a | b |\n<script>alert(3)</script> **bold** ![i](javascript:alert(4))"
RUN_URL = "http://127.0.0.1:5000/#/experiments/0/runs/0123456789abcdef0123456789abcdef"


def normal():
    return make_recording(environment=GPU_MACHINE)


def troubled():
    """The quickest mode crashed, the next quickest gives other answers, one was skipped."""
    times_ms = {**SEED_TABLE_MS, "keras_predict": 20.0}
    statuses = {"xla": "crashed", "graph_nojit": "outputs_differ", "keras_predict": "skipped"}
    return make_recording(times_ms | {"graph_nojit": 12.0}, statuses=statuses, environment=GPU_MACHINE)


def one_launch():
    return make_recording(launches=1, environment={"cpu": {"name": "Example CPU 9000"}}, device="cpu", preset="quick")


def undecided():
    return make_recording({"eager": 3.0, "graph": 2.9, "xla": 2.8}, launches=3, launch_noise=0.08, environment={})


def hostile():
    recording = make_recording(
        statuses={"xla": "crashed"}, model=HOSTILE_MODEL, environment={"cpu": {"name": "=1+1 <b>|</b>"}}
    )
    finding = Finding(code="strange", what="a | b <script>alert(5)</script>", why="[x](javascript:alert(6))\n- item")
    lines = [_with_reason(line, HOSTILE_REASON) for line in recording.lines]
    return replace(recording, lines=(*lines[:-1], FindingLine(finding=finding), lines[-1]))


def nothing_measured():
    return make_recording(statuses=dict.fromkeys(SEED_TABLE_MS, "oom"), end=None)


def _with_reason(line, reason):
    failed = isinstance(line, ModeLine) and line.status == "crashed"
    return line.model_copy(update={"reason": reason}) if failed else line


CASES = {
    "normal": [normal],
    "troubled": [troubled],
    "one_launch": [one_launch],
    "undecided": [undecided],
    "hostile": [hostile],
    "nothing_measured": [nothing_measured],
    "several": [normal, troubled],
}


@cache
def render(name: str, case: str) -> str:
    """Render each report once in each format: most of the time goes into pictures."""
    return formats()[name].render(make_report(case))


@cache
def make_report(case: str) -> Table:
    recordings = [build() for build in CASES[case]]
    where = {recording.header.benchmark_id: [("MLflow run", RUN_URL)] for recording in recordings}
    return table([(recording, judge(recording)) for recording in recordings], where=where)
