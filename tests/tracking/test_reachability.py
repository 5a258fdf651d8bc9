"""Whether a benchmark could be written is found out without making anything."""

from mlflow_tfexec.tracking.reachability import Reachability, reach


def test_the_default_store_of_an_empty_folder_is_new_and_not_made(tmp_path):
    found = reach(tracking_uri=None, experiment=None, environ={})

    assert (found.problem, found.is_new) == (None, True)
    assert found.uri.startswith("sqlite:///")
    assert list(tmp_path.iterdir()) == []


def test_a_store_with_the_experiment_is_reached(store):
    assert reach(tracking_uri=store, experiment="mine", environ={}) == Reachability(store)


def test_an_experiment_that_is_not_there_is_told_as_run_would(store):
    found = reach(tracking_uri=store, experiment=None, environ={"MLFLOW_EXPERIMENT_ID": "77"})

    assert found.problem.startswith("Experiment '77' does not exist")


def test_a_folder_that_is_not_there_is_not_made(tmp_path):
    found = reach(tracking_uri=f"sqlite:///{tmp_path}/nowhere/mlflow.db?timeout=5", experiment=None, environ={})

    assert (found.problem, found.is_new) == (None, True)
    assert list(tmp_path.iterdir()) == []


def test_a_database_that_could_not_be_made_is_a_problem(tmp_path):
    (tmp_path / "file").touch()
    found = reach(tracking_uri=f"sqlite:///{tmp_path}/file/mlflow.db", experiment=None, environ={})

    assert found.problem == (
        f"Cannot make the database {tmp_path}/file/mlflow.db: {tmp_path}/file may not be written to.\n"
        "Name another with --tracking-uri."
    )
