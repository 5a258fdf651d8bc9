"""Findings on a benchmark as a whole, word by word."""

import pytest
from recordings import COMPLETE, make_recording

from mlflow_tfexec.records.judgement import Comparison
from mlflow_tfexec.statistics.limits import control_findings, extent_findings, undecided_findings


def comparison(a, verdict, b, ratio=1.0, interval=(None, None), launches_needed=None):
    return Comparison(
        a=a,
        b=b,
        ratio=ratio,
        ci95_low=interval[0],
        ci95_high=interval[1],
        verdict=verdict,
        launches_needed=launches_needed,
    )


def test_a_complete_benchmark_of_several_launches_has_no_limits():
    assert list(extent_findings(make_recording(), 3)) == []


def test_a_recording_without_its_end_is_partial():
    (found,) = extent_findings(make_recording(end=None), 3)

    assert (found.code, found.what) == ("partial", "The benchmark was cut short.")


@pytest.mark.parametrize("status", ["interrupted", "failed"])
def test_a_benchmark_that_did_not_complete_is_partial(status):
    (found,) = extent_findings(make_recording(end=COMPLETE.model_copy(update={"status": status})), 3)

    assert (found.code, found.what) == ("partial", f"It ended as {status}.")


def test_a_single_launch_is_told():
    (found,) = extent_findings(make_recording(), 1)

    assert found.code == "one_launch"
    assert found.what == "All figures come from this launch only."


@pytest.mark.parametrize("launches", [0, 2])
def test_no_launch_and_two_are_not_a_single_one(launches):
    assert list(extent_findings(make_recording(), launches)) == []


CONTROL = comparison("graph", "slower", "graph_control", 1.1, (1.06, 1.14))


def test_an_unstable_session_says_how_much_it_cannot_tell_and_which_verdicts_are_withheld():
    claimed = [
        comparison("eager", "slower", "graph", 20.0),
        comparison("graph", "slower", "xla", 1.15),
        comparison("graph", "equivalent", "nojit", 1.01),
        comparison("nojit", "undecided", "xla", 1.01),
    ]
    granted = [
        claimed[0],
        comparison("graph", "undecided", "xla", 1.15),
        comparison("graph", "undecided", "nojit", 1.01),
        claimed[3],
    ]

    (found,) = control_findings(claimed, granted, CONTROL)

    assert found.code == "control_differs"
    assert found.what == "This session is unstable: graph against graph_control is 1.10× [1.06, 1.14]."
    assert found.why == (
        "Both are the same mode, so this is noise that no interval knows of. No difference below 21 % is claimed;"
        " withheld: graph slower xla, graph equivalent nojit."
    )
    assert found.what_to_try == "Measure again on a quieter machine."


def test_an_unstable_session_that_withholds_nothing_lists_nothing():
    claimed = [comparison("eager", "slower", "graph", 20.0)]

    (found,) = control_findings(claimed, claimed, CONTROL)

    assert found.why.endswith("No difference below 21 % is claimed.")


@pytest.mark.parametrize(
    "control",
    [
        None,
        comparison("graph", "equivalent", "graph_control", 1.01, (0.99, 1.03)),
        comparison("graph", "undecided", "graph_control", 1.4, (0.7, 2.8)),
    ],
)
def test_a_control_that_was_not_found_to_differ_is_no_finding(control):
    assert list(control_findings([], [], control)) == []


def test_undecided_pairs_are_listed_in_one_finding_with_launches_and_time():
    """The machine needs 100 s for a launch."""
    pairs = [
        comparison("a", "undecided", "b", launches_needed=12),
        comparison("a", "undecided", "c", launches_needed=4),
        comparison("b", "undecided", "c"),
        comparison("a", "slower", "d"),
    ]

    (found,) = undecided_findings(pairs, 100.0)

    assert found.code == "undecided"
    assert found.what == (
        "Undecided: a ? b (about 12 launches, 20 min here, would decide),"
        " a ? c (about 4 launches, 7 min here, would decide), b ? c."
    )
    assert found.what_to_try == "Measure 12 launches (--launches 12)."


def test_without_a_known_cost_of_a_launch_only_launches_are_foreseen():
    (found,) = undecided_findings([comparison("a", "undecided", "b", launches_needed=12)], None)

    assert found.what == "Undecided: a ? b (about 12 launches would decide)."


def test_what_cannot_be_foreseen_gives_no_advice():
    (found,) = undecided_findings([comparison("a", "undecided", "b")], 100.0)

    assert found.what == "Undecided: a ? b."
    assert found.what_to_try is None


def test_decided_pairs_are_no_finding():
    assert list(undecided_findings([comparison("a", "slower", "b"), comparison("a", "equivalent", "c")], 9.0)) == []
