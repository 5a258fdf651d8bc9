"""`runs`, and the options of a query."""

import csv
import dataclasses
import io
import json

import pytest

from mlflow_tfexec.cli import app
from mlflow_tfexec.cli.query_options import QueryOptions, build_query, none_found
from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.tracking.filters import Query
from mlflow_tfexec.tracking.query import FoundBenchmark

FOUND = FoundBenchmark(
    run_id="a" * 32,
    benchmark_id="b" * 32,
    experiment="mine",
    model="EfficientNetV2S",
    device="GPU:0",
    gpu="NVIDIA T4",
    tf_version="2.21.0",
    ordering="eager > graph = graph_nojit > xla",
    fastest="xla",
    status="complete",
    started_ms=1_769_860_800_000,
    tags={"tfexec.kind": "benchmark"},
    note=None,
)
BARE = FoundBenchmark(
    run_id="c" * 32,
    benchmark_id=None,
    experiment="0",
    model="=cmd\x1b[2J\u202e[bold]\n",
    device="CPU",
    gpu=None,
    tf_version=None,
    ordering=None,
    fastest=None,
    status=None,
    started_ms=None,
    tags={},
    note="schema 2, not 1",
)


@pytest.fixture
def runs(capsys, monkeypatch):
    """Run `runs` on a store that holds what is given; return exit code, standard output and error, and the query."""

    def run(*arguments, found=(FOUND, BARE)):
        asked = []
        monkeypatch.setattr(
            "mlflow_tfexec.tracking.query.find_benchmarks",
            lambda query, *, tracking_uri: asked.append((query, tracking_uri)) or list(found),
        )
        code = app.run(["runs", *arguments])
        return (code, *capsys.readouterr(), asked)

    return run


def test_a_pipe_gets_one_line_for_each_benchmark(runs):
    code, out, err, _ = runs()

    assert (code, err) == (0, "")
    heading, first, second = out.splitlines()
    assert heading.split() == ["when", "(UTC)", "model", "device", "TensorFlow", "ordering", "status", "run", "note"]
    assert first.split("  ")[0] == "2026-01-31 12:00"
    for text in ("EfficientNetV2S", "NVIDIA T4", "2.21.0", "eager > graph = graph_nojit > xla", "complete", "a" * 32):
        assert text in first
    assert second.split() == ["=cmd", "[2J[bold]", "CPU", "c" * 32, "schema", "2,", "not", "1"]
    assert "\x1b" not in out


def test_the_column_of_notes_is_there_only_if_there_is_a_note(runs):
    assert "note" not in runs(found=[FOUND])[1].splitlines()[0]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_wide_terminal_gets_a_table(runs, monkeypatch):
    monkeypatch.setenv("COLUMNS", "180")
    monkeypatch.setattr("sys.stdout", stream := Terminal())
    runs()
    lines = stream.getvalue().splitlines()

    assert len(lines) == 3
    assert "\x1b[1m" in lines[0]
    assert "\x1b[2J" not in stream.getvalue()
    assert "a" * 32 in lines[1]


def test_a_narrow_terminal_gets_a_few_lines_for_each_benchmark(runs, monkeypatch):
    monkeypatch.setenv("COLUMNS", "70")
    monkeypatch.setattr("sys.stdout", stream := Terminal())
    runs()

    assert stream.getvalue().splitlines() == [
        "2026-01-31 12:00  EfficientNetV2S · NVIDIA T4 · TensorFlow 2.21.0 · complete",
        "  eager > graph = graph_nojit > xla",
        f"  {'a' * 32}",
        "=cmd [2J[bold] · CPU",
        f"  {'c' * 32}",
        "  schema 2, not 1",
    ]


def test_json_says_null_for_what_is_not_known(runs):
    _, out, _, _ = runs("--format", "JSON")

    first, second = json.loads(out)["benchmarks"]
    assert first == {
        "started": "2026-01-31T12:00:00Z",
        "run_id": "a" * 32,
        "benchmark_id": "b" * 32,
        "experiment": "mine",
        "model": "EfficientNetV2S",
        "device": "GPU:0",
        "gpu": "NVIDIA T4",
        "tf_version": "2.21.0",
        "ordering": "eager > graph = graph_nojit > xla",
        "fastest": "xla",
        "status": "complete",
        "tags": {"tfexec.kind": "benchmark"},
        "note": None,
    }
    assert second["started"] is second["tf_version"] is None
    assert out.isascii()


def test_a_time_that_no_calendar_has_is_not_known(runs):
    _, out, _, _ = runs("--format", "json", found=[dataclasses.replace(FOUND, started_ms=10**18)])

    assert json.loads(out)["benchmarks"][0]["started"] is None


def test_csv_has_a_row_for_each_and_nothing_that_a_spreadsheet_would_run(runs):
    _, out, _, _ = runs("--format", "csv")

    first, second = csv.DictReader(io.StringIO(out))
    assert first["started"] == "2026-01-31T12:00:00Z"
    assert first["gpu"] == "NVIDIA T4"
    assert second["model"] == "'=cmd [2J[bold]"
    assert second["gpu"] == ""


@pytest.mark.parametrize(("format_", "expected"), [("console", ""), ("json", '{\n  "benchmarks": []\n}\n')])
def test_nothing_found_is_told_on_standard_error_and_is_no_error(runs, format_, expected):
    code, out, err, _ = runs("--format", format_, "--model", "it's", "--limit", "3", found=[])

    assert (code, out) == (0, expected)
    assert err.startswith('mlflow-tfexec: No benchmark matches --model "it\'s". Values are compared exactly')
    assert len(err.splitlines()) == 1


def test_options_become_the_query(runs):
    arguments = ["--model", "M", "--experiment", "a", "--experiment", "b c", "--gpu", "T4", "--tf-version", "2.21.0"]
    arguments += ["--mode", "xla", "--task", "inference", "--since", "2026-01-31", "--until", "2026-01-31T12:00"]
    arguments += ["--filter", "metrics.x > 1", "--limit", "7", "--tracking-uri", "sqlite:///here.db"]

    _, _, _, asked = runs(*arguments)

    query = Query(
        model="M",
        experiments=("a", "b c"),
        gpu="T4",
        tf_version="2.21.0",
        mode="xla",
        task="inference",
        since_ms=1_769_817_600_000,
        until_ms=1_769_860_800_000,
        extra="metrics.x > 1",
        limit=7,
    )
    assert asked == [(query, "sqlite:///here.db")]


def test_auto_asks_for_nothing(runs):
    options = [
        "model",
        "experiment",
        "gpu",
        "tf-version",
        "mode",
        "task",
        "since",
        "until",
        "filter",
        "limit",
        "tracking-uri",
    ]

    _, _, _, asked = runs(*(word for option in options for word in (f"--{option}", "auto")))

    assert asked == runs()[3] == [(Query(), None)]
    assert QueryOptions().given == {}


@pytest.mark.parametrize(
    ("arguments", "refused"),
    [
        (["--format", "html"], "No format named 'html'. Known: console, json, csv."),
        (["--limit", "0"], "--limit 0 is out of range. Give a whole number from 1 to 100000."),
        (["--limit", "all"], "--limit 'all' is not a whole number. Give one from 1 to 100000."),
        (["--since", "soon"], "--since 'soon' is no time."),
        (["--since", "1d", "--until", "2d"], "--since '1d' is later than --until '2d': nothing lies between."),
    ],
)
def test_a_wrong_option_is_refused_in_one_line(runs, arguments, refused):
    code, out, err, asked = runs(*arguments)

    assert (code, out, asked) == (2, "", [])
    assert err.startswith(f"mlflow-tfexec: {refused}")
    assert len(err.splitlines()) == 1


def test_a_value_that_cannot_be_searched_for_is_refused_before_a_store_is_opened(capsys, monkeypatch):
    monkeypatch.setattr("mlflow_tfexec.tracking.query.connect", lambda uri: pytest.fail("a store was opened"))

    assert app.run(["runs", "--model", 'it\'s "x"', "--tracking-uri", "sqlite:///none.db"]) == 2
    assert capsys.readouterr().err.startswith("mlflow-tfexec: --model 'it\\'s \"x\"' has both kinds of quotes")


def test_without_a_limit_the_command_says_how_many():
    assert build_query(QueryOptions()).limit == 20
    assert build_query(QueryOptions(), default_limit=1).limit == 1
    assert build_query(QueryOptions(limit="3"), default_limit=1).limit == 3


def test_what_was_asked_for_is_repeated_in_short():
    asked = QueryOptions(model="m" * 5000, experiment=["a"], limit="5")

    assert none_found(asked).startswith(f"No benchmark matches --model '{'m' * 79}…' --experiment 'a'. ")
    assert none_found(QueryOptions(limit="5")).startswith("No benchmark is in this tracking store. ")


def test_a_moment_is_read_before_the_store_is_asked():
    with pytest.raises(RequestError, match="is no time"):
        build_query(QueryOptions(until="2026-13-01"))
