"""What reports say of how sure the answer is: groups, the modes that may be fastest, why a benchmark ended."""

from dataclasses import replace

import pytest
from recordings import make_recording

from mlflow_tfexec.records.recording import Look, Phase
from mlflow_tfexec.reports import formats, table
from mlflow_tfexec.statistics.judge import judge

TEXTS = ("console", "markdown", "html")


def with_lines(recording, *lines):
    return replace(recording, lines=(*recording.lines, *lines))


def reported(recording):
    return table([(recording, judge(recording))])


def open_recording(**more):
    return make_recording({"eager": 30.0, "graph": 10.0, "xla": 9.6}, launch_noise=0.03, **more)


@pytest.mark.parametrize(
    ("stop", "text"),
    [
        ("decided", "3 launches of at most 5: all is decided"),
        ("narrow", "3 launches of at most 5: more would not decide what is open"),
        ("budget", "3 launches of at most 5: the next would have outlasted the time budget"),
        ("nothing_to_compare", "3 launches of at most 5: fewer than two modes were left to compare"),
        ("a reason of a later version", "3 launches"),
    ],
)
def test_scope_says_why_a_benchmark_ended_early(stop, text):
    recording = with_lines(make_recording(launches=3), Look(launches=3, stop=stop))
    spec = recording.spec.model_copy(update={"launches": 5, "looks": (3, 5)})
    recording = replace(recording, header=recording.header.model_copy(update={"spec": spec}))

    assert reported(recording).benchmarks[0].scope == text


def test_scope_of_a_benchmark_that_took_all_its_launches_is_their_number():
    recording = with_lines(make_recording(launches=3), Look(launches=3, stop="decided"))

    assert reported(recording).benchmarks[0].scope == "3 launches"


@pytest.mark.parametrize("name", TEXTS)
def test_modes_that_may_be_fastest_are_named_where_none_is_shown_to_be(name):
    text = formats()[name].render(reported(open_recording()))

    assert "one of these is fastest" in text
    assert "graph, xla" in text


@pytest.mark.parametrize("name", TEXTS)
def test_no_candidates_are_named_where_the_fastest_is_known(name):
    assert "one of these" not in formats()[name].render(reported(make_recording()))


@pytest.mark.parametrize("name", TEXTS)
def test_equivalent_modes_share_a_letter_in_the_table(name):
    rows = {row.mode: row.cells.get("group") for row in reported(make_recording()).benchmarks[0].rows}

    assert rows == {"eager": "a", "graph": "b", "graph_nojit": "b", "xla": "c", "graph_control": None}
    assert "modes that share a letter are equivalent" in formats()[name].render(reported(make_recording()))


def test_without_equivalent_modes_there_are_no_letters():
    [benchmark] = reported(open_recording()).benchmarks

    assert "group" not in {column.key for column in benchmark.columns}
    assert benchmark.notes == ()


@pytest.mark.parametrize("name", TEXTS)
def test_an_open_pair_says_how_long_it_would_take_to_decide_it_here(name):
    phases = [
        Phase(name=part, launch=launch, duration_ns=30 * 10**9) for launch in range(3) for part in ("blocks", "finish")
    ]
    recording = with_lines(open_recording(), *phases)
    [needed] = [c.launches_needed for c in judge(recording).comparisons if c.verdict == "undecided"]

    text = formats()[name].render(reported(recording))

    assert f"about {needed} launches ({needed} min here) would decide it" in " ".join(text.split())


@pytest.mark.parametrize("name", TEXTS)
def test_an_unstable_session_is_called_so_beside_its_noise_floor(name):
    times_ms = {"eager": 30.0, "graph": 10.0, "xla": 8.0, "graph_control": 11.0}
    text = formats()[name].render(reported(make_recording(times_ms, launch_noise=0.001)))

    assert "faster: this session is unstable" in text
    assert "this session is unstable" not in formats()[name].render(reported(make_recording()))
