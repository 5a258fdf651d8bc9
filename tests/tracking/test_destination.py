import dataclasses
import http.server
import socket
import threading
import time

import pytest

from mlflow_tfexec.errors import TrackingError
from mlflow_tfexec.tracking.destination import Destination, resolve, unreached

pytestmark = pytest.mark.mlflow


def client(uri):
    from mlflow import MlflowClient

    return MlflowClient(uri)


def experiment_names(uri):
    from mlflow.entities import ViewType

    return {one.name for one in client(uri).search_experiments(view_type=ViewType.ALL)}


def refused(pattern, **settings):
    """Resolve, expect a TrackingError of one or two lines, and return its text."""
    asked = {"tracking_uri": None, "experiment": None, "environ": {}, **settings}
    with pytest.raises(TrackingError, match=pattern) as caught:
        resolve(**asked)
    assert caught.value.exit_code == 2
    assert str(caught.value).count("\n") <= 1
    return str(caught.value)


def test_an_experiment_by_name_is_found(store):
    found = resolve(tracking_uri=store, experiment="mine", environ={})
    assert (found.tracking_uri, found.experiment_name, found.run_id) == (store, "mine", None)
    assert found.experiment_id == client(store).get_experiment_by_name("mine").experiment_id


def test_an_experiment_that_is_not_there_yet_is_not_made_before_measuring(store):
    found = resolve(tracking_uri=store, experiment="new", environ={})
    assert (found.experiment_id, found.experiment_name) == (None, "new")
    assert experiment_names(store) == {"Default", "mine"}


def test_the_argument_goes_before_the_name_and_the_name_before_the_id(store):
    environ = {"MLFLOW_TRACKING_URI": store, "MLFLOW_EXPERIMENT_NAME": "named", "MLFLOW_EXPERIMENT_ID": "77"}
    assert resolve(tracking_uri=None, experiment="mine", environ=environ).experiment_name == "mine"
    assert resolve(tracking_uri=None, experiment=None, environ=environ).experiment_name == "named"


def test_an_experiment_by_id_is_found_or_refused(store):
    known = client(store).get_experiment_by_name("mine").experiment_id
    assert (
        resolve(tracking_uri=store, experiment=None, environ={"MLFLOW_EXPERIMENT_ID": known}).experiment_name == "mine"
    )
    refused("Experiment '77' does not exist", tracking_uri=store, environ={"MLFLOW_EXPERIMENT_ID": "77"})


def test_without_a_wish_it_is_mlflows_default_experiment(tmp_path):
    found = resolve(tracking_uri=None, experiment=None, environ={})
    assert (found.experiment_id, found.experiment_name) == ("0", "Default")
    assert found.tracking_uri == f"sqlite:///{tmp_path / 'mlflow.db'}"


def test_a_deleted_experiment_is_refused(store):
    refused("'Default' is deleted", tracking_uri=store)
    refused("'Default' is deleted", tracking_uri=store, experiment="Default")


def test_a_projects_run_decides_the_experiment_whatever_the_name_says(store):
    experiment = client(store).get_experiment_by_name("mine").experiment_id
    run_id = client(store).create_run(experiment).info.run_id
    environ = {"MLFLOW_RUN_ID": run_id, "MLFLOW_EXPERIMENT_NAME": "other", "MLFLOW_EXPERIMENT_ID": "77"}
    found = resolve(tracking_uri=store, experiment="another", environ=environ)
    assert (found.run_id, found.experiment_id) == (run_id, experiment)
    assert experiment_names(store) == {"Default", "mine"}


def test_a_run_that_does_not_exist_is_deleted_or_is_taken_is_refused(store):
    asked = client(store)
    experiment = asked.get_experiment_by_name("mine").experiment_id
    deleted = asked.create_run(experiment).info.run_id
    asked.delete_run(deleted)
    taken = asked.create_run(experiment, tags={"tfexec.benchmark_id": "abc", "tfexec.kind": "benchmark"}).info.run_id
    attached = asked.create_run(experiment, tags={"tfexec.benchmark_id": "abc"}).info.run_id
    refused("'0123' .* does not exist", tracking_uri=store, environ={"MLFLOW_RUN_ID": "0123"})
    refused("is deleted", tracking_uri=store, environ={"MLFLOW_RUN_ID": deleted})
    refused("already holds benchmark abc", tracking_uri=store, environ={"MLFLOW_RUN_ID": taken})
    refused("the attached values of benchmark abc", tracking_uri=store, environ={"MLFLOW_RUN_ID": attached})


def test_a_folder_of_files_is_refused_with_the_way_out(tmp_path):
    folder = tmp_path / "mlruns" / "0"
    folder.mkdir(parents=True)
    (folder / "meta.yaml").write_text(
        "experiment_id: '0'\nname: Default\nartifact_location: x\nlifecycle_stage: active\n"
    )
    for uri in (None, "./mlruns", (tmp_path / "mlruns").as_uri()):
        text = refused("mlflow migrate-filestore", tracking_uri=uri)
        assert "--tracking-uri sqlite:///mlflow.db" in text


def test_a_server_that_does_not_answer_is_refused_soon_and_without_credentials():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    started = time.monotonic()
    text = refused("Connection refused", tracking_uri=f"http://admin:hunter22@127.0.0.1:{port}")
    # The limit is what is promised to the user; a refused port takes about a second.
    assert time.monotonic() - started < 15
    assert f"http://127.0.0.1:{port}" in text
    assert "--offline" in text
    assert "mlflow-tfexec sync" in text
    assert "hunter22" not in text
    assert "admin" not in text


def test_a_database_server_that_does_not_answer_is_refused_soon():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    started = time.monotonic()
    text = refused("Connection refused", tracking_uri=f"postgresql://admin:hunter22@127.0.0.1:{port}/mlflow")
    assert time.monotonic() - started < 15
    assert "hunter22" not in text


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"password": "hunter22"}, "password authentication failed"),
        ({"database": "none"}, 'database "none" does not exist'),
    ],
)
def test_a_database_server_that_refuses_us_is_told_at_once_and_not_asked_again(postgresql, monkeypatch, wrong, said):
    def ask_for_100_seconds(uri):
        pytest.fail("MLflow was asked")

    monkeypatch.setattr("mlflow.store.db.utils.create_sqlalchemy_engine_with_retry", ask_for_100_seconds)
    server = dataclasses.replace(postgresql, password=wrong.get("password", postgresql.password))

    text = refused(said, tracking_uri=server.uri(wrong.get("database", "template")))

    assert server.password not in text


def test_the_users_own_patience_is_kept(monkeypatch):
    from mlflow_tfexec.tracking.connection import REACHING, quiet

    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "77")
    with quiet(REACHING):
        from mlflow.environment_variables import MLFLOW_HTTP_REQUEST_MAX_RETRIES, MLFLOW_HTTP_REQUEST_TIMEOUT

        assert (MLFLOW_HTTP_REQUEST_TIMEOUT.get(), MLFLOW_HTTP_REQUEST_MAX_RETRIES.get()) == (77, 1)
    assert (MLFLOW_HTTP_REQUEST_TIMEOUT.get(), MLFLOW_HTTP_REQUEST_MAX_RETRIES.get()) == (77, 7)


@pytest.fixture
def answering():
    """Give a function that starts a server which answers everything with one status and body."""
    servers = []

    def start(status, body):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET  # noqa: N815 - the name is http.server's

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("status", [401, 403])
def test_refused_credentials_are_said_in_one_line_and_not_shown(answering, monkeypatch, status):
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", "tok-987654")
    host = answering(status, b"You are not authenticated. hunter22 tok-987654")
    text = refused(f"refused the credentials .HTTP {status}", tracking_uri=f"http://admin:hunter22@{host}")
    assert "hunter22" not in text
    assert "tok-987654" not in text


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (200, r"not as MLflow does \(HTTP 200\)"),
        (404, r"not as MLflow does \(HTTP 404\)"),
        (503, "too many 503 error responses"),
    ],
)
def test_a_server_that_is_no_mlflow_is_refused_and_its_page_is_not_printed(answering, status, reason):
    page = b"<html>\n" + b"nothing here " * 500 + b"</html>"
    assert "nothing here" not in refused(reason, tracking_uri=f"http://{answering(status, page)}")


def test_credentials_reach_neither_json_nor_repr_but_the_connection():
    found = unreached(tracking_uri="https://me:hunter22@mlflow.example/", experiment="x", environ={})
    assert found.to_json() == {"tracking_uri": "https://mlflow.example/", "experiment_name": "x"}
    assert "hunter22" not in repr(found)
    assert found.reachable_uri({}) == "https://me:hunter22@mlflow.example/"


def test_a_destination_read_back_takes_its_credentials_from_the_environment():
    read = Destination.from_json({"tracking_uri": "https://mlflow.example/", "run_id": "abc"})
    assert (
        read.reachable_uri({"MLFLOW_TRACKING_URI": "https://me:pw@mlflow.example/"}) == "https://me:pw@mlflow.example/"
    )
    assert read.reachable_uri({"MLFLOW_TRACKING_URI": "https://me:pw@elsewhere.example/"}) == "https://mlflow.example/"
    assert read.reachable_uri({}) == "https://mlflow.example/"


def test_json_gives_back_the_destination_and_strips_what_was_planted_in_it():
    found = unreached(tracking_uri="http://h:1", experiment=None, environ={"MLFLOW_RUN_ID": "abc"})
    assert Destination.from_json(found.to_json()).to_json() == {"tracking_uri": "http://h:1", "run_id": "abc"}
    assert Destination.from_json({"tracking_uri": "http://me:pw@h:1"}).tracking_uri == "http://h:1"
    with pytest.raises(TrackingError, match="no destination"):
        Destination.from_json({"experiment_id": "1"})


def test_a_relative_database_is_anchored_where_it_was_named(tmp_path):
    found = unreached(tracking_uri="sqlite:///runs/mlflow.db", experiment=None, environ={})
    assert found.tracking_uri == f"sqlite:///{tmp_path / 'runs' / 'mlflow.db'}"
    assert not (tmp_path / "runs").exists()


def test_what_the_caller_told_mlflow_is_the_default(tmp_path):
    import mlflow

    mlflow.set_tracking_uri("http://told.example")
    try:
        assert unreached(tracking_uri=None, experiment=None, environ={}).tracking_uri == "http://told.example"
    finally:
        mlflow.set_tracking_uri(None)
