"""`report --log` and `compare --log`: a run that holds what was said, is never taken for a benchmark, always ends."""

import json
from pathlib import Path

import pytest
from recordings import make_recording, to_text, write_recording

from mlflow_tfexec.cli import app
from mlflow_tfexec.cli.latest import latest_before
from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.statistics.judge import judge
from mlflow_tfexec.tracking.content import report_tags
from mlflow_tfexec.tracking.writer import log_benchmark

pytestmark = pytest.mark.mlflow

IDS = ["a" * 32, "b" * 32]
FORMATS = {".csv", ".html", ".json", ".md", ".txt"}


@pytest.fixture
def client(store, monkeypatch):
    from mlflow import MlflowClient

    monkeypatch.setenv("MLFLOW_TRACKING_URI", store)
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "mine")
    return MlflowClient(store)


@pytest.fixture
def benchmarks(client, mine):
    """Put two benchmarks into the store and give their run ids."""
    runs = []
    for benchmark_id in IDS:
        recording = make_recording({"eager": 10.0, "xla": 5.0}, benchmark_id=benchmark_id)
        artifacts = {"recording.jsonl": to_text(recording).encode()}
        runs.append(log_benchmark(recording, judge(recording), mine, artifacts=artifacts, note="").run_id)
    return runs


@pytest.fixture
def path(tmp_path):
    return str(write_recording(make_recording({"eager": 10.0, "xla": 5.0}), tmp_path / "benchmark"))


@pytest.fixture
def command(capsys):
    def run(*arguments):
        code = app.run(arguments)
        return (code, *capsys.readouterr())

    return run


def runs_of(client, kind=None):
    experiments = [one.experiment_id for one in client.search_experiments()]
    return list(client.search_runs(experiments, f"tags.`tfexec.kind` = '{kind}'" if kind else ""))


def files(client, run):
    return {file.path for file in client.list_artifacts(run.info.run_id, "tfexec")}


def text_of(client, run, name, tmp_path):
    place = tmp_path / "fetched"
    place.mkdir(exist_ok=True)
    return Path(client.download_artifacts(run.info.run_id, f"tfexec/{name}", str(place))).read_text(encoding="utf-8")


def test_a_report_is_a_run_of_its_own_with_every_format_and_its_text_as_description(
    client, benchmarks, command, tmp_path
):
    code, out, err = command("report", "--model", "EfficientNetV2S", "--log", "--format", "markdown")

    [run] = runs_of(client, "report")
    assert code == 0
    assert err.splitlines()[0] == f"mlflow-tfexec: MLflow run: {run.info.run_id}"
    assert files(client, run) == {f"tfexec/report{extension}" for extension in FORMATS}
    assert text_of(client, run, "report.md", tmp_path) == out
    tags = run.data.tags
    assert tags["mlflow.note.content"] == out
    assert tags["tfexec.schema_version"] == "1"
    assert set(tags["tfexec.benchmark_ids"].split(",")) == set(IDS)
    assert tags["tfexec.logged"] == "1"
    assert "tfexec.benchmark_id" not in tags
    assert (run.info.status, run.info.run_name) == ("FINISHED", "tfexec report")
    assert (run.data.params, run.data.metrics) == ({}, {})
    assert client.get_experiment(run.info.experiment_id).name == "mine"


def test_a_report_longer_than_a_tag_is_cut_in_the_description_and_whole_in_the_file(client, command, tmp_path):
    paths = [
        str(write_recording(make_recording(benchmark_id=f"{n:032x}", launches=1), tmp_path / str(n))) for n in range(8)
    ]
    assert command("report", *paths, "--log")[0] == 0

    [run] = runs_of(client, "report")
    note = run.data.tags["mlflow.note.content"]
    whole = text_of(client, run, "report.md", tmp_path)
    assert len(note) == 8000
    assert note == whole[:7999] + "…"


def test_ids_that_do_not_fit_into_a_tag_are_left_out_whole():
    listed = report_tags(f"{n:032x}" for n in range(1000))["tfexec.benchmark_ids"]

    *ids, last = listed.split(",")
    assert len(listed) <= 8000
    assert last == "…"
    assert ids == [f"{n:032x}" for n in range(len(ids))]
    assert len(ids) > 200


def test_the_run_of_the_environment_is_resumed_and_what_is_in_it_stays(client, path, command, monkeypatch):
    experiment = client.create_experiment("elsewhere")
    run_id = client.create_run(experiment, run_name="mine", tags={"mlflow.note.content": "why I did this"}).info.run_id
    client.log_param(run_id, "model", "auto")
    monkeypatch.setenv("MLFLOW_RUN_ID", run_id)

    assert command("report", path, "--log")[0] == 0
    [run] = runs_of(client)
    assert (run.info.run_id, run.info.run_name, run.info.status) == (run_id, "mine", "FINISHED")
    assert run.data.params == {"model": "auto"}
    assert run.data.tags["mlflow.note.content"] == "why I did this"
    assert run.data.tags["tfexec.kind"] == "report"
    assert files(client, run) == {f"tfexec/report{extension}" for extension in FORMATS}


def test_a_run_that_holds_something_of_ours_is_not_written_to(client, benchmarks, path, command, monkeypatch):
    command("report", path, "--log")
    [report] = runs_of(client, "report")
    for run_id, held in ((benchmarks[0], f"benchmark {IDS[0]}"), (report.info.run_id, "a report")):
        before = client.get_run(run_id).to_dictionary()
        monkeypatch.setenv("MLFLOW_RUN_ID", run_id)
        code, out, err = command("report", path, "--log")

        assert (code, out) == (2, "")
        assert err == (
            f"mlflow-tfexec: Run '{run_id}' (MLFLOW_RUN_ID) already holds {held}. "
            "Unset MLFLOW_RUN_ID to give this one a run of its own.\n"
        )
        assert client.get_run(run_id).to_dictionary() == before


def test_reports_are_never_taken_for_benchmarks(client, benchmarks, command, store):
    command("report", "--log")
    command("compare", *benchmarks, "--log")
    listed = json.loads(command("runs", "--format", "json")[1])["benchmarks"]
    newest = json.loads(command("report", "--format", "json")[1])["benchmarks"]

    assert len(runs_of(client, "report")) == 2
    assert {one["run_id"] for one in listed} == set(benchmarks)
    assert [one["benchmark_id"] in IDS for one in newest] == [True]
    with pytest.raises(RequestError, match="No earlier benchmark"):
        latest_before(make_recording(model="another"), tracking_uri=store, any_machine=True)


def test_a_report_asked_for_as_a_benchmark_is_told_in_one_line(client, path, command):
    command("report", path, "--log")
    [run] = runs_of(client, "report")
    code, out, err = command("report", run.info.run_id)

    assert (code, out) == (2, "")
    assert err == (
        f"mlflow-tfexec: Run '{run.info.run_id}' is no benchmark: it is a report, on "
        "'0123456789abcdef0123456789abcdef'. Its text is in its artifacts; `mlflow-tfexec runs` lists benchmarks by "
        "run id.\n"
    )


def test_a_comparison_is_kept_likewise(client, benchmarks, command, tmp_path):
    code, out, _ = command("compare", *benchmarks, "--log", "--format", "markdown")

    [run] = runs_of(client, "report")
    assert code == 0
    assert run.info.run_name == "tfexec comparison"
    assert files(client, run) == {*(f"tfexec/comparison{extension}" for extension in FORMATS), "tfexec/matrix.png"}
    assert run.data.tags["mlflow.note.content"] == out == text_of(client, run, "comparison.md", tmp_path)
    assert run.data.tags["tfexec.benchmark_ids"] == ",".join(IDS)


def test_a_wrong_request_opens_no_run(client, path, command):
    assert command("report", "--model", "nobody's", "--log")[0] == 2
    assert command("report", path, "--output", "no/such/folder/report.md", "--log")[0] == 2
    assert command("compare", path, "--log")[0] == 2

    assert runs_of(client) == []


def test_without_log_nothing_is_written(client, path, command):
    assert command("report", path)[0] == 0

    assert runs_of(client) == []


def test_a_failed_upload_ends_the_run_as_failed_and_leaves_no_description(client, path, command, monkeypatch):
    from mlflow import MlflowClient

    def refuse(self, run_id, directory, place):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(MlflowClient, "log_artifacts", refuse)
    code, out, err = command("report", path, "--log")

    [run] = runs_of(client)
    assert (code, run.info.status) == (1, "FAILED")
    assert run.data.tags["tfexec.kind"] == "report"
    assert not {"mlflow.note.content", "tfexec.logged"} & set(run.data.tags)
    assert files(client, run) == set()
    assert "eager > xla" in out
    first, second = err.splitlines()
    assert first.endswith("did not take the report: No space left on device.")
    assert second == f"Run {run.info.run_id} is marked as FAILED. Run the command again."


def test_a_run_that_cannot_even_be_ended_is_named(client, path, command, monkeypatch):
    from mlflow import MlflowClient

    def lose(self, *_):
        raise ConnectionError("gone")

    monkeypatch.setattr(MlflowClient, "log_artifacts", lose)
    monkeypatch.setattr(MlflowClient, "set_terminated", lose)
    code, _, err = command("report", path, "--log")

    [run] = runs_of(client)
    assert code == 1
    assert err.splitlines()[1] == f"Run {run.info.run_id} is left unfinished. Run the command again."


def test_an_interruption_ends_the_run_as_killed(client, path, command, monkeypatch):
    from mlflow import MlflowClient

    def interrupt(self, *_):
        raise KeyboardInterrupt

    monkeypatch.setattr(MlflowClient, "log_artifacts", interrupt)
    code, _, err = command("report", path, "--log")

    [run] = runs_of(client)
    assert (code, run.info.status) == (130, "KILLED")
    assert "Traceback" not in err
    assert "tfexec.logged" not in run.data.tags


def test_a_store_that_is_not_there_is_told_before_the_report(path, command, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    code, out, err = command("report", path, "--log")

    assert (code, out) == (2, "")
    assert err.splitlines()[-1] == "Start it or correct --tracking-uri, or leave out --log."


def test_credentials_are_in_nothing_that_is_kept_or_said(server, path, command, monkeypatch, tmp_path):
    from mlflow import MlflowClient

    secrets = ("hunter22-in-uri", "hunter22-in-variable")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", server.replace("http://", f"http://me:{secrets[0]}@"))
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", secrets[1])
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "kept reports")
    monkeypatch.setattr(
        "mlflow.tracking.context.registry.resolve_tags",
        lambda: {"mlflow.source.git.repoURL": f"https://me:{secrets[0]}@git.example/repository"},
    )
    code, out, err = command("report", path, "--log")

    assert code == 0, err
    client = MlflowClient(server)
    [run] = runs_of(client, "report")
    assert f"{server}/#/experiments/" in err
    assert run.data.tags["mlflow.source.git.repoURL"] == "https://git.example/repository"
    kept = [out, err, json.dumps(run.to_dictionary())]
    kept += [text_of(client, run, f"report{extension}", tmp_path) for extension in FORMATS]
    assert not [secret for secret in secrets for text in kept if secret in text]
