"""`compare`: options, formats, and what is refused."""

import json

import pytest
from recordings import SEED_TABLE_MS, make_recording, write_recording

from mlflow_tfexec.cli import app
from mlflow_tfexec.reports._across import across_formats, across_table
from mlflow_tfexec.statistics.across import compare_across

BASE = make_recording(benchmark_id="a" * 32, launches=5)
SLOWER = make_recording(SEED_TABLE_MS | {"xla": 11.6 * 1.1}, benchmark_id="b" * 32, launches=5, seed=1)


@pytest.fixture
def compare(capsys):
    """Run `compare` and return its exit code, standard output and standard error."""

    def run(*arguments):
        code = app.run(["compare", *map(str, arguments)])
        return (code, *capsys.readouterr())

    return run


@pytest.fixture
def paths(tmp_path):
    return [write_recording(BASE, tmp_path / "base"), write_recording(SLOWER, tmp_path / "slower")]


def verdicts(out):
    return {mode["mode"]: [c["verdict"] for c in mode["comparisons"]] for mode in json.loads(out)["modes"]}


@pytest.mark.parametrize("name", sorted(across_formats()))
def test_every_format_is_printed_alone(compare, paths, name):
    code, out, err = compare(*paths, "--format", name)

    table = across_table([BASE, SLOWER], compare_across([BASE, SLOWER]))
    assert (code, out, err) == (0, across_formats()[name].render(table), "")


def test_the_slower_mode_is_named_and_a_slow_down_is_no_failure(compare, paths):
    code, out, _ = compare(*paths, "--format", "json")

    assert code == 0
    assert verdicts(out) == {
        "eager": ["equivalent"],
        "graph": ["equivalent"],
        "graph_nojit": ["equivalent"],
        "xla": ["slower"],
    }


def test_modes_and_margin_are_as_asked(compare, paths):
    _, out, _ = compare(*paths, "--format", "json", "--mode", "xla", "--mode", "eager", "--margin", "0.5")

    assert verdicts(out) == {"xla": ["equivalent"], "eager": ["equivalent"]}


def test_times_may_be_relative_to_a_mode(compare, paths):
    _, out, _ = compare(*paths, "--relative-to", "eager")

    assert "each divided by that of eager in the same round" in " ".join(out.split())
    assert "Every time was first divided by that of eager" in " ".join(out.split())


def test_three_benchmarks_are_compared_pair_by_pair(compare, paths, tmp_path):
    third = write_recording(make_recording(benchmark_id="c" * 32, seed=2), tmp_path / "third")

    code, out, _ = compare(*paths, third)

    assert code == 0
    assert "xla, row over column" in out
    assert "3 benchmarks compared" in out


def test_output_goes_to_the_file_and_nowhere_else(compare, paths, tmp_path):
    target = tmp_path / "comparison.txt"

    assert compare(*paths, "--output", target) == (0, "", "")
    assert "B > A" in target.read_text(encoding="utf-8")


def test_what_is_no_path_is_looked_up_as_a_run(compare, paths, monkeypatch):
    asked = []

    def find_recording(reference, *, tracking_uri):
        asked.append((reference, tracking_uri))
        return SLOWER

    monkeypatch.setattr("mlflow_tfexec.tracking.reader.find_recording", find_recording)

    assert compare(paths[0], "ab12", "--tracking-uri", "http://server")[0] == 0
    assert asked == [("ab12", "http://server")]


def test_a_terminal_gets_its_width_and_colour(compare, paths, monkeypatch):
    asked = []
    monkeypatch.setattr("mlflow_tfexec.cli.output.terminal_fit", lambda: {"width": 70, "color": True})
    monkeypatch.setattr(
        "mlflow_tfexec.reports._across.console.render", lambda table, **fit: asked.append(fit) or "printed\n"
    )

    assert compare(*paths)[1] == "printed\n"
    assert asked == [{"width": 70, "color": True}]


@pytest.mark.parametrize(
    ("arguments", "refused"),
    [
        (["--format", "pdf"], "No format named 'pdf'. Known: console, csv, html, json, markdown"),
        (["--mode", "xlla"], "Mode 'xlla' was not measured in two of the benchmarks"),
        (["--margin", "wide"], "--margin 'wide' is not a number."),
        (["--output", "nowhere/at/all.txt"], "Cannot write 'nowhere/at/all.txt': No such file or directory."),
    ],
)
def test_a_wrong_option_is_refused_in_one_line(compare, paths, arguments, refused):
    code, out, err = compare(*paths, *arguments)

    assert (code, out) == (2, "")
    assert err.startswith(f"mlflow-tfexec: {refused}")
    assert len(err.splitlines()) == 1


def test_one_benchmark_or_the_same_twice_is_refused(compare, paths):
    assert compare(paths[0])[0] == 2
    code, _, err = compare(paths[0], paths[0])

    assert code == 2
    assert "is named twice" in err


def test_mixed_benchmarks_are_refused_and_compared_when_asked(compare, paths, tmp_path):
    mixed = make_recording(benchmark_id="d" * 32, batch_size=8, environment={"tensorflow": {"version": "2.20.0"}})
    other = write_recording(mixed, tmp_path / "mixed")

    code, out, err = compare(paths[0], other)

    assert (code, out) == (2, "")
    assert "subject (batch size), versions (TensorFlow)" in err
    code, out, _ = compare(paths[0], other, "--allow-mixed")
    assert code == 0
    assert "2.20.0" in out
