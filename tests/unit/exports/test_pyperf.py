"""pyperf itself reads the export."""

import io
import json
import re
import statistics
import subprocess
import sys
from dataclasses import replace

import pyperf
import pytest
from recordings import SEED_TABLE_MS, make_recording

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.exports import formats
from mlflow_tfexec.records.recording import ModeLine
from mlflow_tfexec.statistics.judge import judge
from mlflow_tfexec.statistics.rounds import read_rounds

ONE_LAUNCH = make_recording(launches=1, rounds=9)
SEVERAL = make_recording(launches=3, rounds=10, launch_noise=0.05)
ENVIRONMENT = {
    "cpu": {"name": "Example CPU 9000", "logical_cores": 8},
    "python": {"version": "3.11.9"},
    "tensorflow": {"version": "2.19.0", "device": "CPU"},
}


def exported(*recordings):
    stream = io.BytesIO()
    formats()["pyperf"].write(recordings, stream)
    return stream.getvalue().decode()


def suite(*recordings):
    return pyperf.BenchmarkSuite.loads(exported(*recordings))


@pytest.mark.parametrize("mode", SEED_TABLE_MS)
def test_median_of_pyperf_is_ours_with_one_launch(mode):
    benchmark = suite(ONE_LAUNCH).get_benchmark(f"EfficientNetV2S/{mode}")

    assert benchmark.median() * 1e3 == pytest.approx(judge(ONE_LAUNCH).mode(mode).latency_ms.median, rel=1e-12)


@pytest.mark.parametrize("mode", SEED_TABLE_MS)
def test_median_of_pyperf_is_that_of_all_rounds_with_several_launches(mode):
    benchmark = suite(SEVERAL).get_benchmark(f"EfficientNetV2S/{mode}")
    rounds_ns = [ns for launch in read_rounds(SEVERAL).series_ns(mode) for ns in launch]

    assert benchmark.median() == pytest.approx(statistics.median(rounds_ns) / 1e9, rel=1e-12)
    assert benchmark.get_metadata()["tfexec_median_ms"] == judge(SEVERAL).mode(mode).latency_ms.median


def test_ours_and_pyperf_s_median_of_several_launches_are_two_things():
    """Should they ever be the same by definition, the docstring and the metadata say too little."""
    medians = {
        bench.get_name(): (bench.median() * 1e3, bench.get_metadata()["tfexec_median_ms"]) for bench in suite(SEVERAL)
    }

    assert all(theirs != pytest.approx(ours, rel=1e-9) for theirs, ours in medians.values())
    assert all(theirs == pytest.approx(ours, rel=0.1) for theirs, ours in medians.values())


def test_json_export_holds_the_median_of_pyperf():
    stream = io.BytesIO()
    formats()["json"].write([SEVERAL], stream)
    modes = json.loads(stream.getvalue())["benchmarks"][0]["modes"]

    for mode, benchmark in zip(modes, suite(SEVERAL), strict=True):
        assert mode["median_of_rounds_ms"] == pytest.approx(benchmark.median() * 1e3, rel=1e-12)


def test_runs_are_launches_values_are_rounds_and_warmups_are_warmups():
    benchmark = suite(SEVERAL).get_benchmark("EfficientNetV2S/xla")

    assert (benchmark.get_nrun(), benchmark.get_nvalue(), benchmark.get_unit()) == (3, 30, "second")
    for run in benchmark.get_runs():
        assert (len(run.values), [loops for loops, _ in run.warmups]) == (10, [1, 1])
        assert run.values == pytest.approx([0.0116] * 10, rel=0.25)
    assert [str(run.get_metadata()["date"]) for run in benchmark.get_runs()] == [
        "2026-01-31 12:00:00",
        "2026-01-31 12:01:00",
        "2026-01-31 12:02:00",
    ]


def test_metadata_says_which_machine_and_nothing_that_is_not_known():
    known = (
        suite(make_recording(launches=1, environment=ENVIRONMENT)).get_benchmark("EfficientNetV2S/xla").get_metadata()
    )

    assert known.pop("tfexec_median_ms") == pytest.approx(11.6, rel=0.1)
    assert known == {
        "name": "EfficientNetV2S/xla",
        "unit": "second",
        "loops": 1,
        "inner_loops": 1,
        "cpu_model_name": "Example CPU 9000",
        "cpu_count": 8,
        "python_version": "3.11.9",
        "tensorflow_version": "2.19.0",
        "tfexec_benchmark_id": "0123456789abcdef0123456789abcdef",
        "tfexec_mode": "xla",
        "tfexec_status": "ok",
        "date": "2026-01-31 12:00:00",
    }
    assert not {"cpu_model_name", "hostname"} & suite(ONE_LAUNCH).get_benchmarks()[0].get_metadata().keys()


def test_a_mode_that_failed_is_left_out_and_one_whose_outputs_differ_is_marked():
    names = {
        bench.get_name(): bench.get_metadata()["tfexec_status"]
        for bench in suite(make_recording(statuses={"xla": "crashed", "graph_nojit": "outputs_differ"}, launches=1))
    }

    assert names == {
        "EfficientNetV2S/eager": "ok",
        "EfficientNetV2S/graph": "ok",
        "EfficientNetV2S/graph_nojit": "outputs_differ",
        "EfficientNetV2S/graph_control": "ok",
    }


def test_nothing_timed_is_refused_with_the_way_out():
    nothing = make_recording({"eager": 1.0}, statuses={"eager": "oom"})

    with pytest.raises(RequestError, match=r"Nothing to export to pyperf: .* Export to json instead\."):
        exported(nothing)


def test_benchmarks_of_one_model_keep_names_apart_and_modes_are_tags():
    other = make_recording(launches=1, benchmark_id="f" * 32)
    third = make_recording(launches=1, benchmark_id="e" * 32, model="MobileNetV2")

    both = suite(ONE_LAUNCH, other, third)

    assert f"EfficientNetV2S/xla {'f' * 32}" in both.get_benchmark_names()
    assert "MobileNetV2/xla" in both.get_benchmark_names()
    assert len(set(both.get_benchmark_names())) == 15
    assert both.get_benchmark("MobileNetV2/xla").get_metadata()["tags"] == ["xla"]


@pytest.mark.parametrize("model", ["a\nb\x1b[2J", "  ", "模型 🚀", "x" * 5000, '"}]', "\r"])
def test_any_model_name_is_taken_by_pyperf(model):
    assert len(suite(make_recording({"eager": 2.0, "graph": 1.0}, launches=1, model=model))) == 2


@pytest.mark.parametrize("started", ["yesterday", "", None, "2026-01-31T12:00:00", "2026-01-31T13:00:00+01:00"])
def test_dates_that_cannot_be_read_are_left_out(started):
    lines = [
        line.model_copy(update={"started": started}) if isinstance(line, ModeLine) else line
        for line in ONE_LAUNCH.lines
    ]

    dates = {
        str(run.get_metadata().get("date"))
        for bench in suite(replace(ONE_LAUNCH, lines=tuple(lines)))
        for run in bench.get_runs()
    }

    assert dates == ({"2026-01-31 12:00:00"} if started and "2026" in started else {"None"})


@pytest.fixture
def command(tmp_path):
    def run(*arguments):
        done = subprocess.run(
            [sys.executable, "-m", "pyperf", *arguments], capture_output=True, text=True, check=False, cwd=tmp_path
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run


def test_pyperf_stats_shows_our_median(command, tmp_path):
    (tmp_path / "one.json").write_text(exported(ONE_LAUNCH), encoding="utf-8")
    median_ms = judge(ONE_LAUNCH).mode("xla").latency_ms.median

    text = command("stats", "one.json", "-b", "EfficientNetV2S/xla")

    assert re.search(rf"^Median \+- MAD: +{median_ms:.1f} ms ", text, re.MULTILINE)
    assert "Number of run with values: 1" in text
    assert "Number of value per run: 9" in text


def test_pyperf_hist_draws_every_round(command, tmp_path):
    (tmp_path / "several.json").write_text(exported(SEVERAL), encoding="utf-8")

    rows = command("hist", "several.json", "-b", "EfficientNetV2S/eager").splitlines()

    assert sum(int(row.split(":")[1].split()[0]) for row in rows if " ms: " in row) == 30


def test_pyperf_compares_two_exports_mode_by_mode(command, tmp_path):
    slower = {mode: time_ms * 1.5 for mode, time_ms in SEED_TABLE_MS.items()}
    (tmp_path / "before.json").write_text(exported(ONE_LAUNCH), encoding="utf-8")
    (tmp_path / "after.json").write_text(exported(make_recording(slower, launches=1, rounds=9)), encoding="utf-8")

    text = command("compare_to", "before.json", "after.json")

    assert text.count("1.50x slower") >= 5
    assert "tag" not in text
