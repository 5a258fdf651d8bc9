import math

import numpy as np
import pytest
from recordings import make_recording

from mlflow_tfexec.statistics.rounds import Rounds, read_rounds
from mlflow_tfexec.statistics.stability_findings import stability_findings

FLAT = [100, 101, 99, 100, 101, 100, 99, 100, 101, 100]
STEP = [100, 101, 99, 100, 101, 110, 111, 109, 110, 110]
RAMP = [100 * 0.93 ** (step / 9) for step in range(10)]
JUMPS = [100, 111, 101, 100, 112, 110, 100, 99, 111, 100]

CANCELS = "A change that all modes share cancels in the comparisons, though not in the times themselves."


def times(series, factor=1.0):
    return [value * factor for value in series]


@pytest.fixture
def findings(rounds_of):
    return lambda **modes: {finding.code: finding for finding in stability_findings(rounds_of(modes))}


def test_steady_rounds_give_no_finding(findings):
    assert findings(eager=[FLAT, FLAT], xla=[FLAT, FLAT]) == {}


def test_nothing_measured_gives_no_finding(findings):
    assert findings() == {}


def test_a_noisy_benchmark_without_any_change_gives_no_finding():
    assert list(stability_findings(read_rounds(make_recording(rounds=20, launches=10)))) == []


def test_a_step_is_told_with_mode_launch_round_and_size(findings):
    found = findings(eager=[FLAT, FLAT], xla=[FLAT, STEP])

    assert set(found) == {"step"}
    assert found["step"].what == (
        "Call times changed level within a launch: xla in launch 2 from counted round 6 on by +10 %."
    )
    assert found["step"].mode is None
    assert CANCELS not in found["step"].why
    assert found["step"].what_to_try


def test_rounds_that_a_mode_missed_are_counted_all_the_same(findings):
    missed = [100, math.nan, 101, 99, 100, math.nan, 101, 110, 111, 109, 110, 110]

    found = findings(eager=[[*FLAT, 100, 101]], xla=[missed])

    assert "xla in launch 1 from counted round 8 on by +10 %" in found["step"].what


def test_a_drift_is_told_with_mode_launch_and_size(findings):
    found = findings(eager=[RAMP, FLAT], xla=[FLAT, FLAT])

    assert set(found) == {"drift"}
    assert found["drift"].what == "Call times kept moving through a launch: eager in launch 1 by -7.0 %."
    assert CANCELS not in found["drift"].why
    assert "--warmup" in found["drift"].what_to_try


def test_two_levels_are_told_with_distance_and_share(findings):
    found = findings(eager=[FLAT, FLAT, FLAT], graph=[FLAT, FLAT, JUMPS])

    assert set(found) == {"two_levels"}
    assert found["two_levels"].what == (
        "Call times jumped between two levels: graph in launch 3, 11 % apart, the upper one in 40 % of rounds."
    )
    assert found["two_levels"].why
    assert found["two_levels"].what_to_try


def test_launches_at_two_levels_are_told_as_such(findings):
    launches = [times(FLAT, factor) for factor in (1, 1.08, 1.001, 0.999, 1.081, 1.079, 1, 1.08)]

    found = findings(eager=[FLAT] * 8, graph=launches)

    assert set(found) == {"two_levels"}
    assert found["two_levels"].what == (
        "Call times jumped between two levels: graph from launch to launch, 8.0 % apart, "
        "the upper one in 50 % of launches."
    )


def test_seven_launches_are_too_few_for_two_levels(findings):
    assert findings(graph=[times(FLAT, factor) for factor in (1, 1.08, 1.001, 0.999, 1.081, 1.079, 1)]) == {}


def test_a_step_that_is_undone_for_a_round_is_told_as_two_levels_and_nothing_else(findings):
    undone = [*FLAT, 110, 100, 110, 111, 109, 110, 111, 110, 109, 110]

    assert set(findings(eager=[undone])) == {"two_levels"}


def test_one_finding_gathers_all_modes_and_launches(findings):
    found = findings(eager=[FLAT, RAMP, FLAT], graph=[JUMPS, FLAT, FLAT], xla=[STEP, FLAT, STEP[::-1]])

    assert list(found) == ["step", "drift", "two_levels"]
    assert found["step"].what == (
        "Call times changed level within a launch: xla in launch 1 from counted round 6 on by +10 %; "
        "xla in launch 3 from counted round 6 on by -9.1 %."
    )


def test_a_step_that_all_modes_share_is_told_once(findings):
    found = findings(eager=[FLAT, times(STEP, 30)], graph=[FLAT, STEP], xla=[STEP, STEP])

    assert found["step"].what == (
        "Call times changed level within a launch: xla in launch 1 from counted round 6 on by +10 %; "
        "all modes in launch 2 from counted round 6 on by +10 %."
    )
    assert found["step"].why.endswith(CANCELS)


def test_a_shared_step_may_be_seen_a_round_apart(findings):
    later = [100, 101, 99, 100, 101, 100, 111, 109, 110, 110]

    assert "all modes in launch 1 from counted round 6 on" in findings(eager=[STEP], xla=[later])["step"].what


def test_steps_at_different_times_are_not_shared(findings):
    later = [100, 101, 99, 100, 101, 100, 99, 109, 110, 110]

    what = findings(eager=[STEP], xla=[later])["step"].what

    assert "eager in launch 1 from counted round 6" in what
    assert "xla in launch 1 from counted round 8" in what


@pytest.mark.parametrize("other", [STEP[::-1], [100, 101, 99, 100, 101, 120, 121, 119, 120, 120]])
def test_steps_of_different_size_do_not_cancel(findings, other):
    found = findings(eager=[STEP], xla=[other])

    assert "all modes" not in found["step"].what
    assert found["step"].what.count("in launch 1") == 2
    assert CANCELS not in found["step"].why


def test_a_mode_with_too_few_rounds_to_tell_does_not_share_a_step(findings):
    few = [100, *[math.nan] * 8, 110]

    assert "eager in launch 1 from" in findings(eager=[STEP], xla=[few])["step"].what


def test_a_mode_that_is_absent_from_a_launch_does_not_stand_in_the_way(findings):
    found = findings(eager=[FLAT, STEP], graph=[FLAT, STEP], xla=[FLAT])

    assert "all modes in launch 2" in found["step"].what


def test_a_single_mode_shares_its_step_with_nobody(findings):
    found = findings(eager=[STEP])

    assert "eager in launch 1" in found["step"].what
    assert CANCELS not in found["step"].why


def test_a_drift_that_all_modes_share_is_told_once(findings):
    found = findings(eager=[RAMP], xla=[times(RAMP, 0.1)])

    assert found["drift"].what == "Call times kept moving through a launch: all modes in launch 1 by -7.0 %."
    assert found["drift"].why.endswith(CANCELS)


def test_eight_entries_are_all_told(findings):
    assert findings(eager=[STEP] * 8)["step"].what.count("from counted round") == 8


def test_of_entries_of_one_size_the_first_eight_are_told(findings):
    what = findings(eager=[STEP] * 10)["step"].what

    assert what.count("from counted round") == 8
    assert what.endswith("in launch 8 from counted round 6 on by +10 %; and 2 more, no larger.")


def test_beyond_eight_entries_the_smaller_ones_are_counted(findings):
    small = [100, 101, 99, 100, 101, 107, 108, 106, 107, 107]

    what = findings(eager=[small, *[STEP] * 8, small])["step"].what

    assert "in launch 1 " not in what
    assert "in launch 2 " in what
    assert "in launch 9 " in what
    assert what.endswith("in launch 9 from counted round 6 on by +10 %; and 2 more, no larger.")


def test_the_order_in_which_launches_are_kept_does_not_matter(rounds_of):
    rounds = rounds_of({"eager": [FLAT, STEP, RAMP]})
    by_launch = rounds.medians_ns["eager"]
    turned = Rounds(medians_ns={"eager": dict(reversed(by_launch.items()))}, calls_ns=rounds.calls_ns)

    assert list(stability_findings(turned)) == list(stability_findings(rounds))


def test_a_drift_of_the_machine_is_told_of_all_modes_in_most_benchmarks():
    """A ramp of 30 % under noise of 0.5 %, three modes: every series is found, and the three agree."""
    generator = np.random.default_rng(1)
    ramp = np.linspace(0, math.log(1.3), 10)
    told = 0
    for _ in range(50):
        medians = np.exp(ramp + generator.normal(scale=0.005, size=(3, 10)))
        rounds = Rounds(medians_ns={str(mode): {0: of_mode} for mode, of_mode in enumerate(medians)}, calls_ns={})
        told += any("all modes in launch 1" in finding.what for finding in stability_findings(rounds))

    assert told >= 45
