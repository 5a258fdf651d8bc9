import dataclasses
import json
import math
import re

import pytest
import scipy.stats
from recordings import COMPLETE, SEED_TABLE_MS, make_recording

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.records.recording import Block, Health, Phase, Recording
from mlflow_tfexec.statistics.judge import judge


def with_blocks(recording, change):
    """Change every block; a block that becomes None is left out."""
    lines = (change(line) if isinstance(line, Block) else line for line in recording.lines)
    return dataclasses.replace(recording, lines=tuple(line for line in lines if line is not None))


def with_lines(recording, *more):
    return dataclasses.replace(recording, lines=(*more, *recording.lines))


def codes(judgement):
    return [finding.code for finding in judgement.findings]


def test_the_seeds_table_gives_the_seeds_conclusion():
    judgement = judge(make_recording(launches=5, launch_noise=0, round_noise=0))

    groups = [sorted(group.split(" = ")) for group in judgement.ordering.split(" > ")]
    assert groups == [["eager"], ["graph", "graph_nojit"], ["xla"]]
    assert judgement.fastest == "xla"
    assert judgement.best_set == ("xla",)
    letters = {summary.mode: summary.letters for summary in judgement.modes}
    assert letters == {"eager": "a", "graph": "b", "graph_nojit": "b", "xla": "c", "graph_control": None}
    assert judgement.scope == "launches"
    assert not judgement.unstable
    assert judgement.control.verdict == "equivalent"
    assert codes(judgement) == []


def test_modes_of_exactly_the_same_time_stand_by_name():
    """Every call of a mode takes the same time, so that nothing but the name is left to sort by."""

    def freeze(block):
        return block.model_copy(update={"calls_ns": (int(SEED_TABLE_MS[block.mode] * 1e6),) * 5})

    judgement = judge(with_blocks(make_recording(), freeze))

    assert judgement.ordering == "eager > graph = graph_nojit > xla"
    assert judgement.mode("graph").latency_ms.ci95_low == judgement.mode("graph").latency_ms.median


def test_the_same_recording_gives_the_same_bytes():
    recording = make_recording(launches=1)

    assert json.dumps(judge(recording).to_dict()) == json.dumps(judge(make_recording(launches=1)).to_dict())


def test_every_pair_of_ranked_modes_is_compared_once_slower_estimate_first():
    judgement = judge(make_recording())

    times = {summary.mode: summary.latency_ms.median for summary in judgement.modes}
    assert len(judgement.comparisons) == 6
    assert all(times[comparison.a] >= times[comparison.b] for comparison in judgement.comparisons)
    assert {frozenset((c.a, c.b)) for c in judgement.comparisons} == {
        frozenset((a, b)) for a in times for b in times if a != b and "graph_control" not in (a, b)
    }


def test_a_mode_whose_outputs_differ_is_shown_and_not_ranked():
    judgement = judge(make_recording(launches=5, statuses={"xla": "outputs_differ"}, round_noise=0.001))

    assert "xla" not in judgement.ordering
    assert "xla" not in {mode for comparison in judgement.comparisons for mode in (comparison.a, comparison.b)}
    assert judgement.mode("xla").latency_ms.median == pytest.approx(11.6, rel=0.02)
    assert judgement.mode("xla").speedup.ratio == pytest.approx(369 / 11.6, rel=0.02)
    assert judgement.mode("xla").status == "outputs_differ"
    assert judgement.mode("xla").reason == "xla ended as outputs_differ"


def test_the_fastest_is_chosen_among_modes_with_the_right_outputs():
    judgement = judge(make_recording({"eager": 20.0, "graph": 10.0, "xla": 1.0}, statuses={"xla": "outputs_differ"}))

    assert judgement.fastest == "graph"


def test_a_failed_mode_is_summarized_and_not_ranked():
    judgement = judge(make_recording(statuses={"xla": "compile_failed"}))

    assert "xla" not in judgement.ordering
    assert judgement.mode("xla").status == "compile_failed"
    assert judgement.mode("xla").latency_ms is None
    assert judgement.mode("xla").speedup is None


def test_a_mode_that_failed_half_way_keeps_its_times_without_a_rank():
    recording = make_recording()
    crash = next(line for line in recording.mode_lines["xla"].values()).model_copy(
        update={"launch": 2, "status": "crashed", "reason": "signal 9"}
    )
    crashed = dataclasses.replace(recording, lines=(*recording.lines, crash))

    judgement = judge(crashed)

    assert "xla" not in judgement.ordering
    assert judgement.mode("xla").latency_ms.calls == 150
    assert judgement.mode("xla").speedup is None


def test_a_mode_asked_for_and_never_reached_is_skipped():
    judgement = judge(make_recording({"eager": 20.0, "graph": 10.0}, modes=("eager", "graph", "xla")))

    summary = judgement.mode("xla")
    assert (summary.status, summary.reason, summary.latency_ms) == ("skipped", "not reached", None)
    assert judgement.ordering == "eager > graph"


def test_modes_are_summarized_in_the_order_asked_for():
    names = [summary.mode for summary in judge(make_recording()).modes]

    assert names == ["eager", "graph", "graph_nojit", "xla", "graph_control"]


def test_speedup_is_the_baselines_time_over_the_modes():
    judgement = judge(make_recording({"eager": 20.0, "graph": 10.0, "graph_control": 10.0}))

    assert judgement.mode("eager").speedup is None
    assert judgement.mode("graph").speedup.ratio == pytest.approx(2, rel=0.05)
    assert judgement.mode("graph_control").speedup.ratio == pytest.approx(2, rel=0.05)


def test_speedup_has_the_interval_of_its_comparison():
    judgement = judge(make_recording())

    for comparison in judgement.comparisons:
        if comparison.a == "eager":
            speedup = judgement.mode(comparison.b).speedup
            assert (speedup.ratio, speedup.ci95_low, speedup.ci95_high) == (
                comparison.ratio,
                comparison.ci95_low,
                comparison.ci95_high,
            )


def test_without_a_measured_baseline_there_is_no_speedup():
    judgement = judge(make_recording(statuses={"eager": "oom"}))

    assert all(summary.speedup is None for summary in judgement.modes)
    assert judgement.fastest == "xla"


def test_a_look_before_the_last_has_a_fifth_of_the_error():
    """The same three launches once as all there were to be, and once as a first look of two."""
    times = {"eager": 20.0, "graph": 10.0}
    (at_once,) = judge(make_recording(times, launches=3)).comparisons
    (looked,) = judge(make_recording(times, launches=3, looks=(3, 5))).comparisons

    quantiles = scipy.stats.t.ppf(1 - 0.01 / 2, 2) / scipy.stats.t.ppf(1 - 0.05 / 2, 2)
    assert math.log(looked.ci95_high / looked.ratio) == pytest.approx(
        quantiles * math.log(at_once.ci95_high / at_once.ratio)
    )


def test_a_launch_takes_the_time_of_its_phases_and_the_finding_says_how_long_more_take():
    recording = make_recording({"eager": 16.0, "xla": 16.0}, launch_noise=0.03)
    phases = [Phase(name=name, launch=n, duration_ns=50 * 10**9) for n in range(3) for name in ("blocks", "finish")]

    judgement = judge(with_lines(recording, *phases))

    (comparison,) = judgement.comparisons
    (found,) = (finding for finding in judgement.findings if finding.code == "undecided")
    assert judgement.launch_s == pytest.approx(100)
    assert f"about {comparison.launches_needed} launches, " in found.what
    assert judge(recording).launch_s is None


def test_one_measured_mode_has_no_ordering():
    judgement = judge(make_recording({"eager": 20.0, "xla": 1.0}, statuses={"xla": "crashed"}))

    assert (judgement.ordering, judgement.fastest, judgement.comparisons) == ("", None, ())


def test_one_launch_is_labelled_so():
    judgement = judge(make_recording(launches=1))

    assert judgement.scope == "this launch only"
    assert "one_launch" in codes(judgement)
    assert all(c.launches_needed is None for c in judgement.comparisons)


def test_scope_counts_the_launches_that_have_data_not_those_asked_for():
    recording = make_recording(launches=3)
    cut = with_blocks(recording, lambda block: block if block.launch == 0 else None)

    assert judge(cut).scope == "this launch only"


def test_noisy_modes_are_undecided_and_never_printed_as_equal():
    judgement = judge(make_recording({"eager": 100.0, "graph": 15.9, "xla": 15.9}, launch_noise=0.1))

    (comparison,) = (c for c in judgement.comparisons if "eager" not in (c.a, c.b))
    assert comparison.verdict == "undecided"
    assert "=" not in judgement.ordering
    assert re.search(r"(graph \? xla|xla \? graph)", judgement.ordering)
    assert judgement.fastest is None


def test_a_bad_round_is_dropped_for_all_modes():
    recording = make_recording(launches=1)
    judgement = judge(with_lines(recording, Health(launch=0, round=4, bad="clock fell")))

    assert {summary.latency_ms.rounds for summary in judgement.modes} == {9}
    assert "rounds_dropped" in codes(judgement)


def test_too_many_bad_rounds_are_kept_and_called_unstable():
    bad = [Health(launch=0, round=round_, bad="clock fell") for round_ in range(3)]
    judgement = judge(with_lines(make_recording(launches=1), *bad))

    assert {summary.latency_ms.rounds for summary in judgement.modes} == {10}
    assert "unstable_machine" in codes(judgement)
    assert "rounds_dropped" not in codes(judgement)


def test_a_disturbed_round_does_not_reach_the_judgement():
    """The slow round of one mode, flagged as bad, leaves no trace."""

    def slow(block):
        if (block.mode, block.round, block.metric, block.warmup) == ("xla", 4, "latency", False):
            return block.model_copy(update={"calls_ns": tuple(ns * 100 for ns in block.calls_ns)})
        return block

    recording = make_recording(launches=1)
    flag = Health(launch=0, round=4, bad="another program used the GPU")

    disturbed, calm = judge(with_lines(with_blocks(recording, slow), flag)), judge(with_lines(recording, flag))

    assert disturbed.to_dict() == calm.to_dict()


def test_a_margin_given_stands_above_the_recordings():
    recording = make_recording({"eager": 11.0, "xla": 10.0}, launch_noise=0.001, round_noise=0.001)

    assert judge(recording).ordering == "eager > xla"
    assert judge(recording, margin=0.2).ordering == "eager = xla"
    assert judge(make_recording({"eager": 11.0, "xla": 10.0}, launch_noise=0.001, margin=0.2)).ordering == "eager = xla"


@pytest.mark.parametrize("margin", [-0.01, math.nan, math.inf])
def test_a_margin_that_is_no_fraction_is_refused(margin):
    with pytest.raises(RequestError, match="margin"):
        judge(make_recording(), margin=margin)


@pytest.mark.parametrize("end", [None, COMPLETE.model_copy(update={"status": "interrupted"})])
def test_a_benchmark_cut_short_is_judged_and_called_partial(end):
    judgement = judge(make_recording(end=end))

    assert "partial" in codes(judgement)
    assert judgement.ordering


def test_a_recording_without_any_measurement_is_judged():
    recording = make_recording()
    judgement = judge(Recording(header=recording.header, lines=()))

    assert {summary.status for summary in judgement.modes} == {"skipped"}
    assert (judgement.ordering, judgement.fastest, judgement.control) == ("", None, None)
    assert judgement.scope == "this launch only"
    json.dumps(judgement.to_dict(), allow_nan=False)


def test_a_mode_asked_for_twice_is_judged_once():
    judgement = judge(make_recording({"eager": 20.0, "xla": 1.0}, modes=("eager", "xla", "xla")))

    assert [summary.mode for summary in judgement.modes] == ["eager", "xla"]


def test_every_figure_of_a_judgement_is_a_number():
    for launches, rounds, calls in ((1, 1, 1), (1, 4, 1), (2, 1, 1), (3, 10, 5)):
        recording = make_recording(launches=launches, rounds=rounds, calls=calls)
        json.dumps(judge(recording).to_dict(), allow_nan=False)
