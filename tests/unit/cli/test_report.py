"""`report`, `modes`, and where a report is put."""

import io
import json
import weakref

import pytest
from recordings import make_recording, write_recording

from mlflow_tfexec import reports
from mlflow_tfexec.cli import app
from mlflow_tfexec.cli.output import emit, find_format
from mlflow_tfexec.errors import RecordingError, RequestError
from mlflow_tfexec.modes import all_modes
from mlflow_tfexec.statistics.judge import judge
from mlflow_tfexec.tracking.filters import Query
from mlflow_tfexec.tracking.query import FoundBenchmark

RECORDING = make_recording(launches=3)


@pytest.fixture
def report(capsys):
    """Run `report` and return its exit code, standard output and standard error."""

    def run(*arguments):
        code = app.run(["report", *map(str, arguments)])
        return (code, *capsys.readouterr())

    return run


@pytest.fixture
def path(tmp_path):
    return write_recording(RECORDING, tmp_path / "benchmark")


def test_a_recording_or_its_directory_will_do(report, path):
    code, out, err = report(path)

    assert (code, err) == (0, "")
    assert "EfficientNetV2S" in out
    assert report(path.parent)[1] == out


def test_several_recordings_make_one_report(report, path, tmp_path):
    other = write_recording(make_recording(seed=1, benchmark_id="f" * 32), tmp_path / "other")

    _, out, _ = report(path, other, "--format", "json")

    assert [b["benchmark_id"] for b in json.loads(out)["benchmarks"]] == [RECORDING.header.benchmark_id, "f" * 32]


@pytest.mark.parametrize("name", sorted(reports.formats()))
def test_every_format_is_printed_alone(report, path, name):
    code, out, err = report(path, "--format", name.upper())

    assert (code, err) == (0, "")
    assert out == find_format(name).render(reports.table([(RECORDING, judge(RECORDING))]))


def test_a_margin_is_applied_to_the_judgement(report, path):
    _, wide, _ = report(path, "--format", "json", "--margin", "1")
    _, own, _ = report(path, "--format", "json", "--margin", "auto")

    assert {c["verdict"] for c in json.loads(own)["benchmarks"][0]["comparisons"]} >= {"slower", "equivalent"}
    near = [c for c in json.loads(wide)["benchmarks"][0]["comparisons"] if c["ratio"] < 1.9]
    assert {c["verdict"] for c in near} == {"equivalent"}


@pytest.mark.parametrize(
    ("arguments", "refused"),
    [
        (["--format", "pdf"], "No format named 'pdf'. Known: console, csv, html, json, markdown."),
        (["--format", "jsno"], "No format named 'jsno'. Did you mean 'json'? "),
        (["--margin", "wide"], "--margin 'wide' is not a number. Give one from 0.001 to 1."),
        (["--margin", "-1"], "--margin '-1' is out of range. Give a number from 0.001 to 1."),
    ],
)
def test_a_wrong_option_is_refused_in_one_line(report, path, arguments, refused):
    code, out, err = report(path, *arguments)

    assert (code, out) == (2, "")
    assert err.startswith(f"mlflow-tfexec: {refused}")
    assert len(err.splitlines()) == 1


def test_what_is_no_path_is_looked_up_as_a_run(report, monkeypatch):
    asked = []

    def find_recording(reference, *, tracking_uri):
        asked.append((reference, tracking_uri))
        return RECORDING

    monkeypatch.setattr("mlflow_tfexec.tracking.reader.find_recording", find_recording)

    assert report("ab12")[0] == 0
    assert report("x" * 5000, "--tracking-uri", "http://server")[0] == 0
    assert asked == [("ab12", None), ("x" * 5000, "http://server")]


def test_a_damaged_recording_is_2_and_one_line(report, path):
    path.write_text("{}\n")

    code, out, err = report(path)

    assert (code, out) == (2, "")
    assert err == f"mlflow-tfexec: {str(path)!r} is not a recording: its first line is not a tfexec-recording header.\n"


def test_output_goes_to_the_file_and_nowhere_else(report, path, tmp_path):
    target = tmp_path / "report.json"

    assert report(path, "--format", "json", "--output", target) == (0, "", "")
    assert json.loads(target.read_text(encoding="utf-8"))["benchmarks"]


@pytest.mark.parametrize(
    ("target", "problem"), [("nowhere/report.md", "No such file or directory"), (".", "Is a directory")]
)
def test_a_file_that_cannot_be_written_is_a_wrong_request(tmp_path, target, problem):
    table = reports.table([(RECORDING, judge(RECORDING))])

    with pytest.raises(RequestError) as caught:
        emit(table, find_format("markdown"), output=str(tmp_path / target))

    assert str(caught.value) == f"Cannot write {str(tmp_path / target)!r}: {problem}."


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_gets_colour_and_a_pipe_does_not(monkeypatch):
    table = reports.table([(make_recording(statuses={"xla": "oom"}), judge(make_recording(statuses={"xla": "oom"})))])
    written = {}
    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr("sys.stdout", stream)
        emit(table, find_format("console"))
        written[type(stream)] = stream.getvalue()
    monkeypatch.undo()

    assert "\x1b[" in written[Terminal]
    assert "\x1b[" not in written[io.StringIO]


def test_a_report_fits_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "70")
    monkeypatch.setattr("sys.stdout", stream := Terminal())
    emit(reports.table([(RECORDING, judge(RECORDING))]), find_format("json"))
    assert "\x1b[" not in stream.getvalue()
    monkeypatch.setattr("sys.stdout", stream := Terminal())
    asked = []
    monkeypatch.setattr("mlflow_tfexec.reports.console.render", lambda table, **options: asked.append(options) or "")

    emit(reports.table([(RECORDING, judge(RECORDING))]), find_format("console"))

    assert asked == [{"width": 70, "color": True}]


def test_modes_lists_every_mode_with_what_it_calls(capsys):
    assert app.run(["modes"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(all_modes())
    for line, mode in zip(lines, all_modes().values(), strict=True):
        assert mode.title in line
        assert line.endswith("(on request)") is not mode.default


@pytest.fixture
def store(monkeypatch):
    """Put benchmarks into a made-up store: give a function of their recordings (None: not readable) and notes."""

    def fill(*benchmarks):
        asked = []
        found = [
            FoundBenchmark(f"run{number}", None, "mine", *[None] * 8, tags={}, note=note)
            for number, (_, note) in enumerate(benchmarks)
        ]

        def find_benchmarks(query, *, tracking_uri):
            asked.append((query, tracking_uri))
            return found[: query.limit]

        def read_recording(one, *, tracking_uri):
            asked.append((one.run_id, tracking_uri))
            recording, _ = benchmarks[found.index(one)]
            if recording is None:
                raise RecordingError(f"Run {one.run_id!r} has no readable recording: \x1b[2Jgone.")
            return recording

        monkeypatch.setattr("mlflow_tfexec.tracking.query.find_benchmarks", find_benchmarks)
        monkeypatch.setattr("mlflow_tfexec.tracking.reader.read_recording", read_recording)
        return asked

    return fill


def other(number):
    return make_recording(seed=number, benchmark_id=f"{number:032x}")


def test_a_query_reports_the_benchmarks_that_match_newest_first(report, store):
    asked = store((other(3), None), (other(2), None), (other(1), None))

    code, out, err = report("--model", "M", "--limit", "2", "--tracking-uri", "there", "--format", "json")

    assert (code, err) == (0, "")
    assert [b["benchmark_id"] for b in json.loads(out)["benchmarks"]] == [f"{3:032x}", f"{2:032x}"]
    assert asked == [(Query(model="M", limit=2), "there"), ("run0", "there"), ("run1", "there")]


@pytest.mark.parametrize("name", ["console", "html"])
def test_each_recording_is_let_go_of_before_the_next_is_read(report, store, monkeypatch, name):
    store(*[(None, None)] * 3)
    read = []

    def read_recording(one, *, tracking_uri):
        assert [earlier for earlier in read if earlier() is not None] == []
        recording = other(len(read))
        read.append(weakref.ref(recording))
        return recording

    monkeypatch.setattr("mlflow_tfexec.tracking.reader.read_recording", read_recording)

    assert report("--model", "M", "--format", name)[0] == 0
    assert len(read) == 3


def test_without_a_query_the_newest_benchmark_is_reported(report, store):
    store((other(3), None), (other(2), None))

    _, out, _ = report("--format", "json")

    assert [b["benchmark_id"] for b in json.loads(out)["benchmarks"]] == [f"{3:032x}"]


def test_a_recording_that_cannot_be_read_is_told_in_one_line_and_left_out(report, store):
    store((None, None), (other(2), None))

    code, out, err = report("--model", "M", "--format", "json")

    assert code == 0
    assert [b["benchmark_id"] for b in json.loads(out)["benchmarks"]] == [f"{2:032x}"]
    assert err == "mlflow-tfexec: Run 'run0' has no readable recording: [2Jgone. Left out.\n"


def test_what_is_unusual_about_a_benchmark_is_told_beside_its_report(report, store):
    store((other(1), "schema 2, not 1"))

    code, _, err = report("--experiment", "mine")

    assert (code, err) == (0, "mlflow-tfexec: Run run0: schema 2, not 1.\n")


def test_nothing_to_report_is_a_wrong_request(report, store):
    store()
    code, out, err = report("--model", "M")
    assert (code, out) == (2, "")
    assert err.startswith("mlflow-tfexec: No benchmark matches --model 'M'.")

    store((None, None))
    code, out, err = report("--model", "M")
    assert (code, out) == (2, "")
    assert err.splitlines()[1] == "mlflow-tfexec: Of the benchmarks that match, none has a readable recording."


def test_a_name_and_a_query_together_are_refused(report, path, store):
    asked = store()

    code, out, err = report(path, "--limit", "2")

    assert (code, out, asked) == (2, "", [])
    assert err.endswith("names a benchmark, and --limit asks for those that match. Give one or the other.\n")
    assert len(err.splitlines()) == 1
