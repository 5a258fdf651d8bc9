"""What only a worker can refuse is refused in a line or two, and leaves no run, no recording and no process behind."""

import hashlib
import itertools

import pytest
from bad_files import make_files
from bad_requests import REFUSED_BY_WORKERS, SECRETS
from cases.running import still_running

from mlflow_tfexec.benchmarking.request import RunOptions
from mlflow_tfexec.cli.sizes import build_specs
from mlflow_tfexec.models import load_model
from mlflow_tfexec.worker.failures import describe_failure

pytestmark = [pytest.mark.tf, pytest.mark.mlflow]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    directory = tmp_path_factory.mktemp("files")
    make_files(directory)
    return directory


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(one, id=one.name, marks=() if one.in_ci else pytest.mark.slow)
        for one in REFUSED_BY_WORKERS
        if one.exit_code == 2
    ],
)
def test_it_is_refused_and_nothing_is_left(request_, files, lab):
    before = _digest(lab)

    # Opening the store takes longer than all the rest; those that run in CI show that it stays as it was.
    offline = () if request_.in_ci else ("--offline",)
    outcome = lab.run(*request_.command(files), *offline)

    assert outcome.exit_code == 2, outcome.stderr
    assert outcome.stdout == ""
    said = _told(outcome)
    assert 1 <= len(said) <= 2
    assert all(line.isprintable() and len(line) < 1500 for line in said)
    for word in request_.words:
        assert word in " ".join(said)
    _hold_what_holds_for_all(outcome, lab)
    assert list(lab.spool.iterdir()) == []
    assert lab.run_names() == []
    assert _digest(lab) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "request_", [one for one in REFUSED_BY_WORKERS if one.exit_code != 2], ids=lambda one: one.name
)
def test_a_model_that_breaks_its_process_costs_its_modes_and_no_more(request_, files, lab):
    outcome = lab.run(*request_.command(files), "--offline")

    assert outcome.exit_code == request_.exit_code, outcome.stderr
    lines = [lab.recording().final_line(mode) for mode in ("eager", "graph")]
    assert {line.status for line in lines} <= {"crashed", "timeout", "oom"}
    for word in request_.words:
        assert word in f"{lines[0].status}: {lines[0].reason}"
    assert lab.recording().end.status == "failed"
    _hold_what_holds_for_all(outcome, lab)
    assert lab.run_names() == []


# What these do to their process is no test's to bear.
PROCESSES = ("exits", "exits_with_0", "reads_standard_input", "starts_", "forks", "prints_much", "raises_interrupt")


@pytest.mark.parametrize(
    "request_",
    [
        one
        for one in REFUSED_BY_WORKERS
        if one.exit_code == 2 and not one.name.removeprefix("factory ").startswith(PROCESSES)
    ],
    ids=lambda one: one.name,
)
def test_the_answer_says_what_is_wrong(request_, files, device_facts):
    options = _options(request_.command(files)[1:])
    (spec,) = build_specs(RunOptions(**options))

    with pytest.raises(BaseException) as caught:  # noqa: PT011 - of any kind: a model may raise what it likes
        load_model(spec)

    failure = describe_failure(caught.value, stage="build")
    assert failure.wrong_request
    assert failure.reason.isprintable()
    assert len(failure.reason) <= 500
    for word in request_.words:
        assert word in failure.reason


def _options(arguments):
    """Read a command line as `run` does."""
    named = itertools.pairwise(arguments[1:])
    values = {option[2:].replace("-", "_"): value for option, value in named if option.startswith("--")}
    return {"model": arguments[0], **values}


def _told(outcome):
    """Give what was said beside progress."""
    ours = "mlflow-tfexec: "
    progress = (f"{ours}launch 1/1, ", f"{ours}still at it")
    return [line for line in outcome.stderr.splitlines() if not line.startswith(progress)]


def _hold_what_holds_for_all(outcome, lab):
    assert "Traceback" not in outcome.stderr
    assert list(still_running(lab)) == []
    for secret in SECRETS:
        assert secret not in outcome.stdout + outcome.stderr
    assert list((lab.root / "scratch").iterdir()) == []


def _digest(lab):
    return hashlib.sha256((lab.root / "mlflow.db").read_bytes()).hexdigest()
