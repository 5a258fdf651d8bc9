"""What each part of the method is for: without it, a promise that the method keeps on the same data is broken."""

import math
from importlib import import_module

import numpy as np
import pytest
import simulated_sessions
from recordings import make_recording
from simulated_sessions import as_rounds, draw, is_false_difference, is_missed, names, quiet, typical

from mlflow_tfexec.statistics import comparison, family, moderation
from mlflow_tfexec.statistics.comparison import compare_all
from mlflow_tfexec.statistics.pairing import LaunchFigures

SESSIONS = 600
LAUNCHES = 5
judging = import_module("mlflow_tfexec.statistics.judge")


def at_most(promised):
    return promised + 3 * math.sqrt(promised * (1 - promised) / SESSIONS)


def wrong(log_times, is_wrong, *, margin=0.05):
    """Share of sessions of modes alike in which something wrong is claimed."""
    return sum(
        any(
            is_wrong(claimed, 1.0)
            for claimed in compare_all(as_rounds(session), names(session.shape[1]), error=0.05, margin=margin)
        )
        for session in log_times
    ) / len(log_times)


def unpaired_ratios(rounds, pairs):
    """Give the launch's figure from each mode's own median, whatever rounds it has."""
    figures = {}
    for a, b in pairs:
        of_a, of_b = rounds.medians_ns[a], rounds.medians_ns[b]
        medians = [
            math.log(np.nanmedian(of_a[launch]) / np.nanmedian(of_b[launch])) for launch in of_a if launch in of_b
        ]
        figures[a, b] = LaunchFigures(np.array(medians), np.zeros(len(medians)))
    return figures


def retraced_while_warming_up(generator, shape):
    """The machine slows down by a fifth in each launch, and the first mode's blocks count from the middle on."""
    drawn = typical(generator, shape) + 0.2 * simulated_sessions.moments(generator, shape)
    drawn[:, :, 0, : shape[-1] // 2] = np.nan
    return drawn


def test_unpaired_ratios_take_drift_for_a_difference(monkeypatch):
    log_times = retraced_while_warming_up(np.random.default_rng(1), (SESSIONS, LAUNCHES, 4, 10))
    assert wrong(log_times, is_missed) <= at_most(0.05)
    assert wrong(log_times, is_false_difference) <= at_most(0.05)

    monkeypatch.setattr(comparison, "launch_log_ratios", unpaired_ratios)

    assert wrong(log_times, is_missed) > 0.5
    assert wrong(log_times, is_false_difference) > 0.1


def test_unpaired_ratios_lose_sight_of_small_differences(monkeypatch):
    """Blocks are missing here and there while the machine drifts: without pairs, drift is noise between launches."""
    generator = np.random.default_rng(2)
    shape = (SESSIONS // 3, LAUNCHES, 2, 10)
    log_times = quiet(generator, shape) + 0.5 * simulated_sessions.moments(generator, shape)
    log_times[generator.random(shape) < 0.3] = np.nan
    log_times[:, :, 0] += math.log(1.08)

    def found():
        return sum(
            compare_all(as_rounds(session), names(2), error=0.05, margin=0.05)[0].verdict == "slower"
            for session in log_times
        ) / len(log_times)

    paired = found()
    monkeypatch.setattr(comparison, "launch_log_ratios", unpaired_ratios)

    assert paired > 0.95
    assert found() < 0.6


def test_launches_that_agree_by_luck_would_be_believed_without_their_rounds(monkeypatch):
    """On a contended machine a launch's median is known to a fifth; three of them often agree better than that."""
    log_times = draw("contended", 1.0, modes=2, launches=3, sessions=SESSIONS)

    def wrong_or_narrow():
        compared = [compare_all(as_rounds(session), names(2), error=0.05, margin=0.05)[0] for session in log_times]
        return sum(c.ci95_high / c.ci95_low < 1.1 for c in compared) / len(compared)

    believed = wrong_or_narrow()
    monkeypatch.setattr(
        comparison,
        "launch_variance",
        lambda ratios: moderation.Variance(float(np.var(ratios.medians, ddof=1)), len(ratios.medians) - 1),
    )

    assert believed < 0.001
    assert wrong_or_narrow() > 0.01


def test_without_correction_some_pair_of_eight_modes_is_wrong_far_too_often(monkeypatch):
    log_times = draw("noisy", 1.0, modes=8, launches=LAUNCHES, sessions=SESSIONS)
    assert wrong(log_times, is_false_difference) <= at_most(0.05)
    assert wrong(log_times, is_missed) <= at_most(0.05)

    def one_by_one(centers, spreads, *, error):
        claims = {}
        for pair, center in centers.items():
            claims |= family.claim_together({pair: center}, {pair: spreads[pair]}, error=error)
        return claims

    monkeypatch.setattr(comparison, "claim_together", one_by_one)

    assert wrong(log_times, is_false_difference) > 0.15
    assert wrong(log_times, is_missed) > 0.3


def test_steps_without_their_rising_thresholds_would_err(monkeypatch):
    """Holm tests the next against the error shared by what is left; against all of it, it is no correction either."""
    log_times = draw("noisy", 1.0, modes=8, launches=LAUNCHES, sessions=SESSIONS)

    def undivided(p_values, *, error):
        return {key for key, p in p_values.items() if p <= error}

    monkeypatch.setattr(family, "holm", undivided)

    assert wrong(log_times, is_false_difference) > 0.15


def in_places(shape, places):
    """When in its launch, from 0 to 1, each block is measured, if the modes stand in the same *places* each round."""
    modes, rounds = shape[2:]
    return (np.arange(rounds) * modes + places[:, np.newaxis]) / (rounds * modes)


def test_rounds_in_one_fixed_order_take_a_ramp_for_a_difference():
    """The machine slows down by a fifth in each launch: who always comes last looks slower than who always comes first.

    Four modes and ten rounds: the last stands 3 / 40 of a launch behind the first, which is 1.5 %.
    """
    shape = (SESSIONS, LAUNCHES, 4, 10)
    generator = np.random.default_rng(3)
    noise = quiet(generator, shape)
    shuffled = noise + 0.2 * simulated_sessions.moments(generator, shape)
    unshuffled = noise + 0.2 * in_places(shape, np.arange(4))

    assert wrong(shuffled, is_missed, margin=0.01) <= at_most(0.05)
    assert wrong(shuffled, is_false_difference, margin=0.01) <= at_most(0.05)
    assert wrong(unshuffled, is_missed, margin=0.01) > 0.9
    assert wrong(unshuffled, is_false_difference, margin=0.01) > 0.9
    first_over_last = compare_all(as_rounds(unshuffled[0]), names(4), error=0.05, margin=0.01)[2]
    assert first_over_last.verdict == "faster"
    assert first_over_last.ratio == pytest.approx(math.exp(-0.2 * 3 / 40), abs=0.005)


@pytest.mark.parametrize("launches", [3, 5])
def test_a_control_that_is_ranked_wins(monkeypatch, launches):
    recording = make_recording({"eager": 40.0, "graph": 20.0, "graph_control": 10.0}, launches=launches)
    kept = judging.judge(recording)
    assert kept.fastest is None
    assert "graph_control" not in kept.ordering
    assert "graph_control" not in kept.best_set

    monkeypatch.setattr(judging, "is_control", lambda mode: False)
    monkeypatch.setattr(judging, "can_be_ranked", lambda mode, status: status == "ok")
    ranked = judging.judge(recording)

    assert ranked.fastest == "graph_control"
    assert ranked.ordering == "eager > graph > graph_control"
    assert not ranked.unstable


def test_verdicts_that_are_not_withheld_claim_what_may_be_noise(monkeypatch):
    """The control is 8 % apart from the mode that it repeats, and xla only as far from graph."""
    recording = make_recording(
        {"eager": 40.0, "graph": 20.0, "xla": 18.5, "graph_control": 18.5}, launch_noise=0.002, round_noise=0.002
    )
    assert judging.judge(recording).ordering == "eager > graph ? xla"

    monkeypatch.setattr(judging, "withhold", lambda claimed, control, *, margin: claimed)

    assert judging.judge(recording).ordering == "eager > graph > xla"
