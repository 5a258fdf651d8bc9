"""The parts that every format is made of: numbers, texts, facts, pairs."""

import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import make_recording

from mlflow_tfexec.records.judgement import Comparison
from mlflow_tfexec.records.origin import ModelOrigin
from mlflow_tfexec.records.recording import End, ModeLine
from mlflow_tfexec.reports import _numbers, table
from mlflow_tfexec.reports._facts import facts, machine
from mlflow_tfexec.reports._pairs import matrix
from mlflow_tfexec.statistics.judge import judge
from mlflow_tfexec.text import plain, shortened


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((11.6, 11.5, 11.8), "11.6 [11.5, 11.8] ms"),
        ((369.2, 368.9, 369.6), "369.2 [368.9, 369.6] ms"),
        ((0.0213, 0.0209, 0.0218), "21.3 [20.9, 21.8] µs"),
        ((0.98, 0.95, 1.02), "980 [950, 1020] µs"),
        ((12_345.0, 12_000.0, 12_900.0), "12.3 [12.0, 12.9] s"),
        ((11.6, None, None), "11.6 ms"),
        ((11.6, 11.6, 11.6), "11.600 [11.600, 11.600] ms"),
    ],
)
def test_duration_and_its_interval_share_unit_and_decimals(arguments, text):
    assert _numbers.duration_with_interval(*arguments) == text


def test_narrow_interval_gets_the_digits_that_show_it():
    assert _numbers.ratio_with_interval(1.0, 0.9996, 1.0004) == "1.0000× [0.9996, 1.0004]"
    assert _numbers.ratio_with_interval(1.01, 0.98, 1.03) == "1.01× [0.98, 1.03]"


def test_mean_and_its_deviation_share_the_unit_of_the_row():
    assert _numbers.mean_with_std(1.02, 0.35, like_ms=0.98) == "1020 ± 350 µs"
    assert _numbers.mean_with_std(369.0, None, like_ms=369.0) == "369 ms"


def test_first_call_keeps_the_unit_of_the_row_while_that_is_readable():
    assert _numbers.duration_like(3012.0, like_ms=11.6) == "3012 ms"
    assert _numbers.duration_like(3012.0, like_ms=0.02) == "3012 ms"
    assert _numbers.duration_like(90_000.0, like_ms=0.02) == "90.0 s"


@given(st.text())
def test_plain_text_is_one_line_without_control_characters(text):
    cleaned = plain(text)

    assert {unicodedata.category(character) for character in cleaned} & {"Cc", "Cf", "Cs", "Zl", "Zp"} == set()
    assert len(cleaned.splitlines()) <= 1
    assert plain(cleaned) == cleaned


def test_plain_text_hides_no_direction_marks():
    assert plain("a\u202egnp.exe\u2066") == "agnp.exe"


def test_shortened_text_shows_that_something_is_missing():
    assert shortened("abcdef", 4) == "abc…"
    assert shortened("abcd", 4) == "abcd"


def test_fact_that_is_not_known_is_not_listed():
    labels = [fact.label for fact in facts(make_recording())]

    assert labels == ["model", "task", "input", "dtype policy", "preset", "measured", "benchmark"]


@pytest.mark.parametrize("environment", [{"tensorflow": None}, {"gpus": []}, {"gpus": "none"}, {"cpu": {"name": ""}}])
def test_environment_of_another_shape_is_not_known(environment):
    known = machine(make_recording(environment=environment))

    assert known.processor is None
    assert known.tensorflow is None


def test_gpu_that_was_not_used_is_not_named():
    environment = {
        "tensorflow": {"device": "/device:CPU:0"},
        "gpus": [{"name": "Idle GPU"}],
        "cpu": {"name": "Busy CPU"},
    }

    assert machine(make_recording(environment=environment)).processor == "Busy CPU"


def test_launches_and_rounds_are_those_that_were_measured():
    recording = make_recording({"eager": 2.0, "graph": 1.0}, launches=1, rounds=4)
    spec = recording.spec.model_copy(update={"launches": 5, "rounds": 20})
    header = recording.header.model_copy(update={"spec": spec})

    assert dict(facts(replace(recording, header=header)))["preset"] == "standard, 1 launch × 4 rounds"


@pytest.mark.parametrize(
    ("end", "text"),
    [
        (None, "partial, the benchmark was cut short"),
        (End(status="interrupted"), "partial, the benchmark was interrupted"),
        (End(status="failed"), "partial, the benchmark failed"),
        (End(status="complete"), None),
    ],
)
def test_recording_that_is_not_whole_is_called_partial(end, text):
    assert dict(facts(make_recording(end=end))).get("recording") == text


def test_margin_of_the_legend_is_the_one_that_was_judged_with():
    recording = make_recording({"eager": 2.0, "graph": 1.0})

    [own] = table([(recording, judge(recording))]).benchmarks
    [given_] = table([(recording, judge(recording, margin=0.02))], margin=0.02).benchmarks
    assert "within 5 %" in own.legend
    assert "within 2 %" in given_.legend


def test_mode_that_failed_after_it_was_timed_shows_no_numbers():
    recording = make_recording()
    lines = [
        line.model_copy(update={"status": "oom", "reason": None})
        if isinstance(line, ModeLine) and (line.mode, line.launch) == ("xla", 2)
        else line
        for line in recording.lines
    ]
    failed = replace(recording, lines=tuple(lines))
    judgement = judge(failed)

    [xla] = [row for row in table([(failed, judgement)]).benchmarks[0].rows if row.mode == "xla"]
    assert judgement.mode("xla").latency_ms is not None
    assert xla.failure == "oom"
    assert xla.cells == {"status": "oom"}


def test_tie_does_not_read_as_a_win():
    recording = make_recording({"eager": 4.0, "graph": 2.0, "xla": 2.0}, launches=5)
    judgement = judge(recording)

    [benchmark] = table([(recording, judgement)]).benchmarks
    assert sorted(benchmark.fastest.removesuffix(")").split(" (equivalent: ")) == ["graph", "xla"]


def test_tie_with_a_mode_of_other_outputs_is_not_called_as_fast():
    recording = make_recording({"eager": 4.0, "graph": 2.0, "xla": 2.0}, launches=5, statuses={"xla": "outputs_differ"})

    [benchmark] = table([(recording, judge(recording))]).benchmarks
    assert benchmark.fastest == "graph"


def test_matrix_says_the_same_from_both_sides():
    recording = make_recording({"eager": 4.0, "graph": 2.0, "xla": 1.0})
    rows = matrix(judge(recording))

    assert [name for name, _ in rows] == ["eager", "graph", "xla"]
    assert [[pair and pair.sign for pair in pairs] for _, pairs in rows] == [
        [None, ">", ">"],
        ["<", None, ">"],
        ["<", "<", None],
    ]


def test_mirrored_ratio_is_the_inverse_with_its_interval_turned_round():
    recording = make_recording({"eager": 4.0, "graph": 2.0})
    judgement = replace(judge(recording), comparisons=(Comparison("eager", "graph", 2.0, 1.6, 2.5, "slower"),))

    [_, (_, (back, _))] = matrix(judgement)
    assert back.ratio == "0.500× [0.400, 0.625]"
    assert back.verdict == "faster"


@pytest.mark.parametrize(("reference", "shown"), [("models:/net@best", "models:/net/3"), ("models:/net/3", None)])
def test_what_an_alias_meant_is_a_fact(reference, shown):
    recording = make_recording(model=reference)
    origin = ModelOrigin(uri="models:/net/3", flavor="keras")
    header = recording.header.model_copy(update={"model_origin": origin})

    assert dict(facts(replace(recording, header=header))).get("model in MLflow") == shown
