"""An attempt that breaks off anywhere, then a second one: the result is that of one attempt without trouble."""

import pytest
from recordings import make_recording, to_text

from mlflow_tfexec.errors import LoggingFailed
from mlflow_tfexec.statistics.judge import judge
from mlflow_tfexec.tracking import connection, writer
from mlflow_tfexec.tracking.destination import Destination
from mlflow_tfexec.tracking.writer import log_benchmark

pytestmark = pytest.mark.mlflow

STATUSES = {"xla": "oom"}


class Trouble:
    """An MLflow client that gets into trouble at its n-th call: before the store hears of it, or after."""

    def __init__(self, client, *, at, heard, error):
        self._client, self._at, self._heard, self._error = client, at, heard, error
        self.calls = 0

    def __getattr__(self, name):
        def call(*args, **kwargs):
            self.calls += 1
            if self.calls != self._at:
                return getattr(self._client, name)(*args, **kwargs)
            if self._heard:
                getattr(self._client, name)(*args, **kwargs)
            raise self._error

        return call


def write(destination, benchmark_id):
    recording = make_recording({"eager": 10.0, "graph": 5.0, "xla": 2.0}, statuses=STATUSES, benchmark_id=benchmark_id)
    # The recording's text names the benchmark; what is compared between benchmarks must not.
    files = {"recording.jsonl": to_text(recording).encode(), "report.md": b"#"}
    return log_benchmark(recording, judge(recording), destination, artifacts=files, note="note")


@pytest.fixture
def trouble(monkeypatch):
    """Give a function that lets the next attempt run into trouble."""

    def arrange(**settings):
        made = []

        def connect(uri):
            made.append(Trouble(connection.connect(uri), **settings))
            return made[0]

        monkeypatch.setattr(writer, "connect", connect)
        return made

    return arrange


def attempt(destination, benchmark_id):
    """Write; return what stopped it, or None."""
    try:
        write(destination, benchmark_id)
    except (KeyboardInterrupt, LoggingFailed) as error:
        return error
    return None


@pytest.mark.parametrize(
    ("project", "error", "heard"),
    [
        pytest.param(False, KeyboardInterrupt, False, id="own run, killed before a call"),
        pytest.param(False, KeyboardInterrupt, True, id="own run, killed after a call"),
        pytest.param(False, ConnectionError, True, id="own run, answer lost"),
        pytest.param(True, KeyboardInterrupt, False, id="project run, killed before a call"),
        pytest.param(True, ConnectionError, True, id="project run, answer lost"),
    ],
)
def test_an_attempt_that_breaks_off_anywhere_is_completed_by_the_next(
    store, trouble, snapshot, monkeypatch, heard, error, project
):
    def destination():
        if not project:
            return Destination(tracking_uri=store, experiment_name="mine")
        run = connection.connect(store).create_run(
            experiment, run_name="tfexec EfficientNetV2S", start_time=1769860800000
        )
        return Destination(tracking_uri=store, run_id=run.info.run_id)

    experiment = connection.connect(store).get_experiment_by_name("mine").experiment_id
    with monkeypatch.context() as untroubled:
        untroubled.setattr(writer, "connect", connection.connect)
        write(destination(), "whole")
    whole = snapshot(store, experiment, "whole")

    at = 0
    while True:
        at += 1
        place, benchmark_id = destination(), f"broken-{at}"
        made = trouble(at=at, heard=heard, error=error)
        stopped = attempt(place, benchmark_id)
        if made[0].calls < at:
            break
        trouble(at=0, heard=False, error=None)
        write(place, benchmark_id)
        again = snapshot(store, experiment, benchmark_id)
        assert _comparable(again) == _comparable(whole), f"trouble at call {at}, which ended in {stopped!r}"
    assert at > 15  # the loop went through every call of a whole attempt


def _comparable(content):
    """Leave out the recording's size, which goes with the length of the benchmark's id."""
    return {name: {**run, "artifacts": [path for path, _ in run["artifacts"]]} for name, run in content.items()}


def test_a_lost_answer_to_creating_a_run_costs_nothing(store, trouble, snapshot):
    destination = Destination(tracking_uri=store, experiment_name="mine")
    trouble(at=3, heard=True, error=ConnectionError("gone"))  # experiment, search, then the parent
    logged = write(destination, "lost")
    assert set(snapshot(store, logged.experiment_id, "lost")) == {"tfexec EfficientNetV2S", "eager", "graph", "xla"}


def test_failing_is_said_in_two_lines_with_the_next_step_and_without_credentials(store, trouble):
    trouble(at=2, heard=False, error=ConnectionError("cannot reach https://me:hunter22@mlflow.example"))
    with pytest.raises(LoggingFailed, match=r"cannot reach https://mlflow\.example") as caught:
        write(Destination(tracking_uri=store, experiment_name="mine"), "told")
    assert "mlflow-tfexec sync" in str(caught.value)
    assert str(caught.value).count("\n") == 1
    assert caught.value.exit_code == 1
