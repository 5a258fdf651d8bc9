"""`attach` and `pull`: a benchmark on runs and models that exist, which are otherwise left as they are."""

import json

import pytest
from jsonschema import Draft202012Validator
from recordings import make_recording, to_text, write_recording

import mlflow_tfexec
from mlflow_tfexec.cli import app
from mlflow_tfexec.errors import LoggingFailed
from mlflow_tfexec.statistics.judge import judge
from mlflow_tfexec.tracking import attachment
from mlflow_tfexec.tracking.destination import Destination
from mlflow_tfexec.tracking.models import is_logged_model
from mlflow_tfexec.tracking.writer import log_benchmark

pytestmark = pytest.mark.mlflow

A, B = "a" * 32, "b" * 32
TIMES_MS = {"eager": 10.0, "graph": 8.0, "xla": 5.0}


@pytest.fixture
def client(store, monkeypatch):
    from mlflow import MlflowClient

    monkeypatch.setenv("MLFLOW_TRACKING_URI", store)
    return MlflowClient(store)


@pytest.fixture
def experiment(client):
    return client.get_experiment_by_name("mine").experiment_id


@pytest.fixture
def logged(client, mine, environment):
    """Give a function that puts a benchmark into the store and returns where."""

    def log(benchmark_id=A, times_ms=TIMES_MS, **fields):
        recording = make_recording(times_ms, benchmark_id=benchmark_id, environment=environment, **fields)
        artifacts = {"recording.jsonl": to_text(recording).encode()}
        return log_benchmark(recording, judge(recording), mine, artifacts=artifacts, note="")

    return log


@pytest.fixture
def training(client, experiment):
    """Give the id of a training run that has ended as FAILED."""
    run_id = client.create_run(experiment, run_name="training", tags={"who": "me"}).info.run_id
    client.log_metric(run_id, "loss", 0.5)
    client.set_terminated(run_id, "FAILED", end_time=1769000000000)
    return run_id


@pytest.fixture
def model(client, experiment):
    return f"models:/{client.create_logged_model(experiment, name='net').model_id}"


@pytest.fixture
def version(client, tmp_path):
    client.create_registered_model("net")
    made = client.create_model_version("net", (tmp_path / "anywhere").as_uri())
    client.set_registered_model_alias("net", "best", made.version)
    return f"models:/net/{made.version}"


@pytest.fixture
def command(capsys):
    def run(*arguments):
        code = app.run(arguments)
        return (code, *capsys.readouterr())

    return run


@pytest.fixture
def tags_of(client):
    """Give a function that reads the tags of any target."""

    def read(target):
        if is_logged_model(target):
            return client.get_logged_model(target.removeprefix("models:/")).tags
        if target.startswith("models:/"):
            return client.get_model_version(*target.removeprefix("models:/").split("/")).tags
        return client.get_run(target).data.tags

    return read


@pytest.fixture(params=["training", "model", "version"])
def target(request):
    return request.getfixturevalue(request.param)


def test_a_training_run_gets_metrics_and_tags_and_is_otherwise_as_it_was(client, logged, training):
    before = client.get_run(training)
    mlflow_tfexec.attach(logged().run_id, training)
    after = client.get_run(training)
    judgement = judge(make_recording(TIMES_MS, benchmark_id=A))

    assert after.info.to_proto() == before.info.to_proto()
    assert after.data.metrics == {
        "loss": 0.5,
        **{f"tfexec/latency_ms/{mode}": judgement.mode(mode).latency_ms.median for mode in TIMES_MS},
        **{f"tfexec/speedup/{mode}_vs_eager": judgement.mode(mode).speedup.ratio for mode in ("graph", "xla")},
    }
    assert {key: after.data.tags[key] for key in before.data.tags} == before.data.tags
    assert "tfexec.kind" not in after.data.tags
    assert after.data.params == {}


def test_logged_models_get_metrics_that_a_search_finds_each_its_own(client, logged, experiment, model):
    run_id = logged().run_id
    twin = f"models:/{client.create_logged_model(experiment, name='twin').model_id}"
    for one in (model, twin, model):
        mlflow_tfexec.attach(run_id, one)
    judgement = judge(make_recording(TIMES_MS, benchmark_id=A))
    wanted = judgement.mode("xla").speedup.ratio

    found = client.search_logged_models([experiment], "metrics.`tfexec/speedup/xla_vs_eager` > 1.5")
    assert {f"models:/{one.model_id}" for one in found} == {model, twin}
    for one in found:
        [point] = [point for point in one.metrics if point.key == "tfexec/speedup/xla_vs_eager"]
        assert (point.value, point.run_id, point.step) == (wanted, run_id, 0)
    assert client.get_run(run_id).info.status == "FINISHED"


def test_metrics_of_a_logged_model_that_were_forced_are_the_latest(client, logged, model):
    mlflow_tfexec.attach(logged().run_id, model)
    other = logged(B, {"eager": 20.0, "graph": 4.0}).run_id
    attached = mlflow_tfexec.attach(other, model, force=True)
    points = client.get_logged_model(model.removeprefix("models:/")).metrics
    latest = max((point for point in points if point.key == "tfexec/latency_ms/eager"), key=lambda point: point.step)

    assert (latest.run_id, latest.value) == (other, pytest.approx(20, rel=0.1))
    assert attached.left == ("tfexec/latency_ms/xla", "tfexec/speedup/xla_vs_eager")
    assert not mlflow_tfexec.attach(other, model).changed


def test_every_target_says_which_mode_to_use_and_is_linked_both_ways(client, logged, target, tags_of):
    run_id = logged().run_id
    attached = mlflow_tfexec.attach(run_id, target)
    tags = tags_of(target)

    assert tags["tfexec.fastest"] == "xla"
    assert float(tags["tfexec.speedup"]) == pytest.approx(2, rel=0.05)
    assert tags["tfexec.best_set"] == "xla"
    assert tags["tfexec.ordering"] == "eager > graph > xla"
    assert (tags["tfexec.benchmark_id"], tags["tfexec.benchmark_run_id"]) == (A, run_id)
    assert json.loads(tags_of(run_id)["tfexec.attached_to"]) == [attached.target]
    assert attached.target in {target, f"runs:/{target}"}


def test_an_alias_leads_to_the_version_that_it_meant(logged, version, tags_of):
    assert mlflow_tfexec.attach(logged().run_id, "models:/net@best").target == version
    assert tags_of(version)["tfexec.fastest"] == "xla"


def test_several_targets_are_all_named_on_the_benchmark(logged, training, version, tags_of):
    run_id = logged().run_id
    for one in (training, version, training):
        mlflow_tfexec.attach(run_id, one)

    assert json.loads(tags_of(run_id)["tfexec.attached_to"]) == [f"runs:/{training}", version]


def test_where_none_is_proven_fastest_the_tag_is_absent_and_the_best_set_is_there(logged, target, tags_of):
    mlflow_tfexec.attach(logged(times_ms={"eager": 10.0, "graph": 5.0, "xla": 5.1}, launch_noise=0.05).run_id, target)
    tags = tags_of(target)

    assert set(tags) >= {"tfexec.best_set", "tfexec.ordering"}
    assert set(tags["tfexec.best_set"].split(",")) == {"graph", "xla"}
    assert not {"tfexec.fastest", "tfexec.speedup"} & set(tags)


def test_the_same_benchmark_again_changes_nothing(client, logged, target, tags_of, command):
    logged_a = logged()
    first = command("attach", logged_a.run_id, "--to", target)
    before = tags_of(target)
    # A nested run names the same benchmark.
    again = command("attach", logged_a.child_run_ids["xla"], "--to", target)

    assert (first[0], again[0], first[2], again[2]) == (0, 0, "", "")
    assert first[1].startswith(f"Attached benchmark {A} to ")
    assert again[1].startswith(f"Nothing to do: benchmark {A} is attached to ")
    assert tags_of(target) == before


def test_metrics_of_the_same_benchmark_are_written_once(client, logged, training):
    run_id = logged().run_id
    for _ in range(2):
        mlflow_tfexec.attach(run_id, training)

    assert len(client.get_metric_history(training, "tfexec/latency_ms/xla")) == 1


def test_another_benchmark_needs_force_and_then_leaves_nothing_of_the_first(logged, target, tags_of, command):
    mlflow_tfexec.attach(logged().run_id, target)
    before = tags_of(target)
    other = logged(B, {"eager": 10.0, "graph": 5.0, "xla": 5.1}, launch_noise=0.05).run_id
    code, out, err = command("attach", other, "--to", target)

    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"tfexec.benchmark_id = '{A}'" in err
    assert "--force" in err
    assert tags_of(target) == before

    assert command("attach", other, "--to", target, "--force")[0] == 0
    after = tags_of(target)
    assert after["tfexec.benchmark_id"] == B
    assert "tfexec.fastest" not in after
    assert A not in json.dumps(after)


def test_metrics_that_were_forced_are_the_latest_though_their_benchmark_is_older(client, logged, training, command):
    mlflow_tfexec.attach(logged().run_id, training)
    other = logged(B, {"eager": 20.0, "graph": 4.0}).run_id
    code, out, _ = command("attach", other, "--to", training, "--force")

    assert code == 0
    assert client.get_run(training).data.metrics["tfexec/latency_ms/eager"] == pytest.approx(20, rel=0.1)
    assert "MLflow deletes no metric: tfexec/latency_ms/xla, tfexec/speedup/xla_vs_eager." in out


def test_two_benchmarks_stand_side_by_side_under_two_prefixes(logged, target):
    mlflow_tfexec.attach(logged().run_id, target)
    mlflow_tfexec.attach(logged(B).run_id, target, prefix="cpu")

    assert mlflow_tfexec.pull(target)["benchmark_id"] == A
    assert mlflow_tfexec.pull(target, prefix="cpu")["benchmark_id"] == B


@pytest.mark.parametrize("key", ["tfexec.fastest", "tfexec.ordering"])
def test_a_tag_that_somebody_else_set_is_not_overwritten(client, logged, training, key, command):
    client.set_tag(training, key, "mine\n\x1b[2J")
    code, _, err = command("attach", logged().run_id, "--to", training)

    assert (code, err.count("\n")) == (2, 1)
    assert "\x1b" not in err
    assert client.get_run(training).data.tags[key] == "mine\n\x1b[2J"
    assert "tfexec.benchmark_id" not in client.get_run(training).data.tags


def test_a_metric_that_somebody_else_logged_is_not_overwritten(client, logged, training, command):
    client.log_metric(training, "tfexec/latency_ms/xla", 1.0)
    code, _, err = command("attach", logged().run_id, "--to", training)

    assert code == 2
    assert "already has tfexec/latency_ms/xla = '1'." in err
    assert client.get_run(training).data.metrics == {"loss": 0.5, "tfexec/latency_ms/xla": 1.0}


def test_a_recording_is_attached_without_a_link_and_its_run_completes_it_later(
    logged, target, tags_of, tmp_path, environment
):
    path = write_recording(make_recording(TIMES_MS, benchmark_id=A, environment=environment), tmp_path / "there")
    assert mlflow_tfexec.attach(path, target).run_id is None
    assert "tfexec.benchmark_run_id" not in tags_of(target)
    assert mlflow_tfexec.pull(target)["run_id"] is None

    run_id = logged().run_id
    mlflow_tfexec.attach(run_id, target)
    # And the recording does not take the link away.
    assert not mlflow_tfexec.attach(path, target).changed
    assert mlflow_tfexec.pull(target)["run_id"] == run_id


@pytest.mark.parametrize(
    "missing", ["0" * 32, "runs:/x y", "models:/m-" + "0" * 32, "models:/no/1", "models:/no@way", "models:/no"]
)
@pytest.mark.parametrize("verb", ["attach", "pull"])
def test_a_target_that_does_not_exist_is_one_line(logged, missing, verb, command):
    arguments = ("attach", logged().run_id, "--to", missing) if verb == "attach" else ("pull", missing)
    code, out, err = command(*arguments)

    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"{missing!r} does not exist in sqlite:///" in err


def test_a_deleted_target_and_a_deleted_benchmark_are_one_line(client, logged, training, command):
    run_id = logged().run_id
    client.delete_run(training)
    for arguments in (("attach", run_id, "--to", training), ("pull", training)):
        code, _, err = command(*arguments)
        assert (code, err.count("\n")) == (2, 1)
        assert f"Run '{training}' is deleted. Restore it" in err
    client.restore_run(training)
    client.delete_run(run_id)
    code, _, err = command("attach", run_id, "--to", training)

    assert (code, err.count("\n")) == (2, 1)
    assert f"Run '{run_id}' is deleted." in err
    assert "tfexec.benchmark_id" not in client.get_run(training).data.tags


def test_a_benchmark_that_is_not_in_this_store_is_one_line(training, command):
    code, _, err = command("attach", "f" * 32, "--to", training)

    assert (code, err.count("\n")) == (2, 1)
    assert "does not exist in sqlite:///" in err


def test_a_benchmarks_own_runs_are_no_targets(logged, command):
    mine, other = logged(), logged(B)
    for run_id in (other.run_id, other.child_run_ids["xla"]):
        code, _, err = command("attach", mine.run_id, "--to", run_id)
        assert (code, err.count("\n")) == (2, 1)
        assert f"holds benchmark {B} itself" in err


def test_a_benchmark_that_compares_nothing_is_not_attached(logged, training, command):
    code, _, err = command("attach", logged(statuses={"graph": "oom", "xla": "oom"}).run_id, "--to", training)

    assert (code, err.count("\n")) == (2, 1)
    assert "has nothing to attach" in err


@pytest.mark.parametrize("prefix", ["", "mlflow", "mlflow.x", "a/b", "a:b", "x" * 101, "a b"])
@pytest.mark.parametrize("verb", ["attach", "pull"])
def test_a_prefix_that_mlflow_would_not_take_is_refused(logged, training, prefix, verb, command):
    arguments = ("attach", logged().run_id, "--to", training) if verb == "attach" else ("pull", training)
    code, _, err = command(*arguments, "--prefix", prefix)

    assert (code, err.count("\n")) == (2, 1)
    assert "--prefix" in err


class Breaking:
    """Let a number of writes through and refuse those after."""

    WRITES = (
        "delete_logged_model_tag",
        "delete_model_version_tag",
        "delete_tag",
        "log_batch",
        "set_logged_model_tags",
        "set_model_version_tag",
        "set_tag",
    )

    def __init__(self, monkeypatch, allowed):
        from mlflow import MlflowClient

        self.left = allowed
        for name in self.WRITES:
            monkeypatch.setattr(MlflowClient, name, self._counted(getattr(MlflowClient, name)))

    def _counted(self, write):
        def counted(*args, **kwargs):
            if self.left == 0:
                raise ConnectionError("the network went away")
            self.left -= 1
            return write(*args, **kwargs)

        return counted


@pytest.mark.parametrize("force", [False, True], ids=["first", "replacing"])
def test_an_attempt_that_breaks_off_anywhere_is_told_never_mixes_two_and_is_completed_by_another(
    client, logged, target, tags_of, force
):
    if force:
        mlflow_tfexec.attach(logged(B, {"eager": 9.0, "graph": 5.0, "xla": 5.1}, launch_noise=0.05).run_id, target)
    run_id = logged().run_id
    states, errors = [ours(tags_of(target))], []
    while True:
        with pytest.MonkeyPatch.context() as patch:
            Breaking(patch, 1)
            try:
                mlflow_tfexec.attach(run_id, target, force=force)
            except LoggingFailed as error:
                errors.append(str(error))
                states.append(ours(tags_of(target)))
            else:
                break
    states.append(ours(tags_of(target)))

    assert errors
    assert {len(error.splitlines()) for error in errors} == {2}
    assert all(error.endswith("run the same command again to complete it.") for error in errors)
    for state in states:
        assert state <= states[0] or state <= states[-1]
    assert mlflow_tfexec.pull(target)["benchmark_id"] == A
    assert mlflow_tfexec.pull(target)["run_id"] == run_id
    assert not mlflow_tfexec.attach(run_id, target).changed


def ours(tags):
    return {(key, value) for key, value in tags.items() if key.startswith("tfexec.")}


def test_a_half_attached_version_says_so(client, logged, version, command):
    client.set_model_version_tag("net", "1", "tfexec.benchmark_id", A)
    code, _, err = command("pull", version)

    assert (code, err.count("\n")) == (2, 1)
    assert f"Benchmark {A} is not completely attached" in err


def test_pull_says_all_that_its_schema_asks_for(logged, target, command, tmp_path):
    run_id = logged().run_id
    mlflow_tfexec.attach(run_id, target)
    code, out, err = command("pull", target)
    pulled = json.loads(out)

    assert (code, err) == (0, "")
    Draft202012Validator(attachment.schema()).validate(pulled)
    assert (pulled["run_id"], pulled["benchmark_id"], pulled["fastest"]) == (run_id, A, "xla")
    assert pulled["attached"].endswith("Z")
    assert pulled["device"]["gpu"] == "NVIDIA T4"
    assert pulled["versions"]["tensorflow"] == "2.21.0"
    [xla] = [one for one in pulled["modes"] if one["mode"] == "xla"]
    assert xla["speedup_ci95"][0] < xla["speedup"] < xla["speedup_ci95"][1]

    assert command("pull", target, "--output", str(tmp_path / "pulled.json")) == (0, "", "")
    assert (tmp_path / "pulled.json").read_text(encoding="utf-8") == out


def test_pull_of_a_benchmarks_own_run_says_the_same(logged, training):
    mine = logged()
    mlflow_tfexec.attach(mine.run_id, training)
    attached, own = mlflow_tfexec.pull(training), mlflow_tfexec.pull(mine.child_run_ids["xla"])

    Draft202012Validator(attachment.schema()).validate(own)
    assert (own["target"], own["attached"]) == (f"runs:/{mine.run_id}", None)
    assert own == attached | {"target": own["target"], "attached": None}


def test_pull_where_nothing_is_attached_is_one_line(target, command):
    code, out, err = command("pull", target)

    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "No benchmark is attached to" in err


@pytest.mark.parametrize("text", ["{", "[]", "{}", "null"])
def test_pull_of_a_damaged_tag_is_one_line(client, training, text, command):
    client.set_tag(training, "tfexec.attachment", text)
    code, _, err = command("pull", training)

    assert (code, err.count("\n")) == (2, 1)
    assert "tfexec.attachment" in err


def test_a_link_tag_that_is_not_ours_is_kept(client, logged, training, tags_of):
    run_id = logged().run_id
    client.set_tag(run_id, "tfexec.attached_to", "somewhere")
    mlflow_tfexec.attach(run_id, training)

    assert json.loads(tags_of(run_id)["tfexec.attached_to"]) == ["somewhere", f"runs:/{training}"]


def test_a_run_with_attached_values_is_never_resumed_as_a_benchmark(client, logged, training):
    mlflow_tfexec.attach(logged().run_id, training)
    recording = make_recording(TIMES_MS, benchmark_id=A)
    here = Destination(tracking_uri=str(client.tracking_uri), run_id=training)
    with pytest.raises(LoggingFailed, match="already holds the attached values of benchmark"):
        log_benchmark(recording, judge(recording), here, artifacts={}, note="")


def test_attached_values_make_no_benchmark_of_a_run(logged, training, command):
    mlflow_tfexec.attach(logged().run_id, training)
    _, out, _ = command("runs", "--format", "json")

    assert training not in {one["run_id"] for one in json.loads(out)["benchmarks"]}
