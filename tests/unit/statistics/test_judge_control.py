"""What the A/A control does to a judgement, and what it never does."""

import dataclasses
import math

import pytest
import scipy.stats
from recordings import make_recording

from mlflow_tfexec.records.recording import Block
from mlflow_tfexec.statistics.judge import judge


def only(recording, modes):
    """Leave out every block of the other modes."""
    lines = tuple(line for line in recording.lines if not isinstance(line, Block) or line.mode in modes)
    return dataclasses.replace(recording, lines=lines)


def codes(judgement):
    return [finding.code for finding in judgement.findings]


def test_a_control_is_never_ranked():
    """Even one that is quicker than everything: it would be the fastest, and only shows that nothing may be claimed."""
    judgement = judge(make_recording({"eager": 20.0, "graph": 15.0, "graph_control": 1.0}))

    assert judgement.ordering == "eager ? graph"
    assert judgement.fastest is None
    assert judgement.best_set == ("eager", "graph")
    assert judgement.mode("graph_control").letters is None
    assert all("graph_control" not in (c.a, c.b) for c in judgement.comparisons)


def test_a_control_is_compared_with_the_mode_that_it_repeats():
    judgement = judge(make_recording({"eager": 20.0, "graph": 15.0, "graph_control": 10.0}))

    assert (judgement.control.a, judgement.control.b) == ("graph", "graph_control")
    assert judgement.control.ratio == pytest.approx(1.5, rel=0.05)
    assert judgement.control.verdict == "slower"
    assert "control_differs" in codes(judgement)


def unstable(graph_ms, **times_ms):
    """A session whose control is a tenth slower than its mode: below 21 % nothing holds."""
    modes = {"eager": 300.0, "graph": graph_ms, **times_ms, "graph_control": graph_ms * 1.1}
    return judge(make_recording(modes, launches=5, launch_noise=0.001, round_noise=0.001))


def test_an_unstable_session_claims_only_what_is_beyond_twice_the_controls_difference():
    judgement = unstable(20.0, graph_nojit=20.0, xla=18.0)

    verdicts = {frozenset((c.a, c.b)): c.verdict for c in judgement.comparisons}
    assert judgement.unstable
    assert {verdicts[frozenset(("eager", mode))] for mode in ("graph", "graph_nojit", "xla")} == {"slower"}
    assert {verdict for pair, verdict in verdicts.items() if "eager" not in pair} == {"undecided"}
    assert judgement.ordering.startswith("eager > ")
    assert "=" not in judgement.ordering
    assert judgement.fastest is None
    assert set(judgement.best_set) == {"graph", "graph_nojit", "xla"}


def test_the_finding_on_an_unstable_session_lists_the_withheld_pairs():
    judgement = unstable(20.0, xla=18.0)

    (found,) = (finding for finding in judgement.findings if finding.code == "control_differs")
    assert found.why.endswith("No difference below 21 % is claimed; withheld: graph slower xla.")


def test_a_withheld_verdict_keeps_its_interval_and_its_speedup():
    """The figures are what was measured; only the claim is taken back."""
    judgement = unstable(20.0, xla=18.0)

    withheld = next(c for c in judgement.comparisons if (c.a, c.b) == ("graph", "xla"))
    assert withheld.verdict == "undecided"
    assert withheld.ci95_low > 1.05
    assert judgement.mode("xla").speedup.ratio == pytest.approx(300 / 18, rel=0.01)


def test_modes_that_an_unstable_session_cannot_call_equivalent_share_no_letter():
    judgement = unstable(20.0, graph_nojit=20.0)

    assert not set(judgement.mode("graph").letters) & set(judgement.mode("graph_nojit").letters)


def test_a_control_that_agrees_leaves_the_session_stable():
    assert judge(make_recording()).unstable is False


def test_without_a_control_there_is_none():
    assert judge(make_recording({"eager": 20.0, "xla": 1.0})).control is None


def test_the_controls_interval_is_not_widened_for_other_pairs():
    recording = make_recording()

    assert judge(recording).control == judge(only(recording, {"graph", "graph_control"})).control


def test_the_speedup_of_a_mode_that_is_not_ranked_has_the_confidence_of_the_family():
    """Three ranked modes, three pairs: a third of 5 % each, from its own three launches alone."""
    times = {"eager": 20.0, "graph": 10.0, "xla": 5.0, "graph_control": 10.0}
    recording = make_recording(times)

    speedup = judge(recording).mode("graph_control").speedup

    alone = judge(only(recording, {"eager", "graph_control"}))
    plain = alone.mode("graph_control").speedup
    quantiles = scipy.stats.t.ppf(1 - 0.05 / 3 / 2, 2) / scipy.stats.t.ppf(0.975, 2)
    assert speedup.ratio == plain.ratio
    assert math.log(speedup.ci95_high / speedup.ratio) == pytest.approx(
        quantiles * math.log(plain.ci95_high / plain.ratio)
    )
