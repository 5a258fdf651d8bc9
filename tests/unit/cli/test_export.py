"""`export`: what is asked for goes where it was asked for, whole or not at all."""

import io
import json
import sys

import pytest
from recordings import make_recording, write_recording

from mlflow_tfexec import exports
from mlflow_tfexec.cli import app

RECORDING = make_recording({"eager": 2.0, "graph": 1.0}, launches=1, rounds=4, calls=2)
OTHER = make_recording({"eager": 3.0, "graph": 1.0}, launches=1, rounds=4, calls=2, benchmark_id="f" * 32)


def content(name, *recordings):
    stream = io.BytesIO()
    exports.formats()[name].write(recordings, stream)
    return stream.getvalue()


@pytest.fixture
def export(capsysbinary):
    """Run `export` and return its exit code, standard output and standard error."""

    def run(*arguments):
        code = app.run(["export", *map(str, arguments)])
        out, err = capsysbinary.readouterr()
        return code, out, err.decode()

    return run


@pytest.fixture
def path(tmp_path):
    return write_recording(RECORDING, tmp_path / "benchmark")


@pytest.mark.parametrize("name", ["csv", "json", "pyperf"])
def test_text_is_printed_alone(export, path, name):
    assert export(path, "--format", name.upper()) == (0, content(name, RECORDING), "")


@pytest.mark.parametrize("name", sorted(exports.formats()))
def test_a_file_holds_the_export_and_nothing_is_left_beside_it(export, path, tmp_path, name):
    target = tmp_path / "out" / "export.bin"
    target.parent.mkdir()

    assert export(path, "--format", name, "--output", target) == (0, b"", "")
    assert target.read_bytes() == content(name, RECORDING)
    assert list(target.parent.iterdir()) == [target]


def test_rows_are_calls_or_modes(export, path):
    stream = io.BytesIO()
    exports.formats()["csv"].write_modes([RECORDING], stream)

    assert export(path, "--format", "csv", "--rows", "calls")[1] == content("csv", RECORDING)
    assert export(path, "--format", "csv", "--rows", "modes")[1] == stream.getvalue()


def test_several_benchmarks_make_one_export(export, path, tmp_path):
    other = write_recording(OTHER, tmp_path / "other")

    assert export(path, other, "--format", "csv")[1] == content("csv", RECORDING, OTHER)


def test_what_is_no_path_is_looked_up_as_a_run(export, monkeypatch):
    asked = []

    def find_recording(reference, *, tracking_uri):
        asked.append((reference, tracking_uri))
        return RECORDING

    monkeypatch.setattr("mlflow_tfexec.tracking.reader.find_recording", find_recording)

    assert export("ab12", "--format", "csv", "--tracking-uri", "http://server")[0] == 0
    assert asked == [("ab12", "http://server")]


@pytest.mark.parametrize(
    ("arguments", "refused"),
    [
        (["--format", "xlsx"], "No format named 'xlsx'. Known: csv, json, parquet, pyperf."),
        (["--format", "parquet"], "parquet is not text and cannot be printed. Name a file with --output."),
        (["--format", "csv", "--output", "."], "Cannot write '.': it is not a file."),
        (["--format", "json", "--rows", "modes"], "json has no rows to choose. Leave out --rows, or take csv or"),
        (["--format", "csv", "--rows", "rounds"], "No rows named 'rounds'. Known: calls, modes."),
        ([], "Missing option '--format'"),
    ],
)
def test_a_wrong_option_is_refused_in_one_line(export, path, arguments, refused):
    code, out, err = export(path, *arguments)

    assert (code, out) == (2, b"")
    assert err.startswith(f"mlflow-tfexec: {refused}")
    assert len(err.splitlines()) == 1


def test_a_benchmark_named_twice_is_refused(export, path):
    code, out, err = export(path, path.parent, "--format", "csv")

    assert (code, out) == (2, b"")
    assert "is the same benchmark as" in err


@pytest.mark.parametrize("name", sorted(exports.formats()))
def test_an_export_can_be_made_anew(export, path, tmp_path, name):
    asked = (path, "--format", name, "--output", tmp_path / "export", "--force")

    assert [export(*asked)[0], export(*asked)[0]] == [0, 0]


def test_a_file_that_exists_is_replaced_only_when_told_so(export, path, tmp_path):
    target = tmp_path / "export.csv"
    target.write_text("mine")

    code, _, err = export(path, "--format", "csv", "--output", target)

    assert (code, target.read_text()) == (2, "mine")
    assert err == f"mlflow-tfexec: {str(target)!r} exists. Name another file, or add --force to replace it.\n"
    assert export(path, "--format", "csv", "--output", target, "--force")[0] == 0
    assert target.read_bytes() == content("csv", RECORDING)


def test_a_recording_is_never_written_over(export, path):
    before = path.read_bytes()

    code, _, err = export(path, "--format", "json", "--output", path, "--force")

    assert (code, path.read_bytes()) == (2, before)
    assert "is a recording and is not replaced" in err


def test_a_directory_that_is_not_there_is_a_wrong_request(export, path, tmp_path):
    target = tmp_path / "nowhere" / "export.csv"

    code, _, err = export(path, "--format", "csv", "--output", target)

    assert code == 2
    assert err == f"mlflow-tfexec: Cannot write {str(target)!r}: No such file or directory.\n"


@pytest.mark.parametrize(("error", "code"), [(OSError(28, "No space left on device"), 2), (KeyboardInterrupt(), 130)])
def test_an_export_cut_short_leaves_the_old_file_and_no_other(export, path, tmp_path, monkeypatch, error, code):
    target = tmp_path / "out" / "export.csv"
    target.parent.mkdir()
    target.write_text("old")

    def write(_recordings, stream):
        stream.write(b"half")
        raise error

    broken = exports.ExportFormat(name="csv", extension=".csv", is_text=True, write=write)
    monkeypatch.setattr(exports, "formats", lambda: {"csv": broken})

    assert export(path, "--format", "csv", "--output", target, "--force")[0] == code
    assert target.read_text() == "old"
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
def test_a_new_file_has_the_permissions_of_any_new_file(export, path, tmp_path):
    (tmp_path / "any").write_text("")

    export(path, "--format", "json", "--output", tmp_path / "export.json")

    assert (tmp_path / "export.json").stat().st_mode == (tmp_path / "any").stat().st_mode


def test_nothing_to_export_is_a_wrong_request_and_leaves_no_file(export, tmp_path):
    nothing = make_recording({"eager": 1.0, "graph": 1.0}, statuses={"eager": "oom", "graph": "oom"})
    path = write_recording(nothing, tmp_path / "benchmark")

    code, _, err = export(path, "--format", "pyperf", "--output", tmp_path / "export.json")

    assert code == 2
    assert err.startswith("mlflow-tfexec: Nothing to export to pyperf")
    assert not (tmp_path / "export.json").exists()


def test_json_of_the_command_is_json(export, path):
    assert json.loads(export(path, "--format", "json")[1])["benchmarks"][0]["judgement"]["model"] == "EfficientNetV2S"
