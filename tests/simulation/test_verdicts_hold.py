"""The promise of every verdict, kept with the stopping rule on, in every kind of noise and for every number of modes.

Shares are of 2,000 sessions and may exceed what is promised by three binomial standard errors. The whole table, with
other tools' verdicts on the same data, is made by `benchmarks/verdicts.py`.
"""

import math

import numpy as np
import pytest
from simulated_sessions import FAMILIES, draw, outcomes, rates

SESSIONS = 2000
LAUNCHES = 5


def at_most(promised):
    return promised + 3 * math.sqrt(promised * (1 - promised) / SESSIONS)


def at_least(promised):
    return promised - 3 * math.sqrt(promised * (1 - promised) / SESSIONS)


# Every number of modes between is in the slow runs and in the benchmark: the ends and the default set are in each run.
NUMBERS = [2, 4, 8, *(pytest.param(number, marks=pytest.mark.slow) for number in (3, 5, 6, 7))]


def simulated(family, ratio, modes, **more):
    log_times = draw(family, ratio, modes=modes, launches=LAUNCHES, sessions=SESSIONS)
    return rates(list(outcomes(log_times, **more)), ratio)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("modes", NUMBERS)
def test_identical_modes_are_called_different_in_at_most_5_of_100_sessions(family, modes):
    seen = simulated(family, 1.0, modes)

    assert seen.false_difference <= at_most(0.05)
    assert 1 - seen.missed >= at_least(0.95)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("modes", NUMBERS)
def test_modes_exactly_as_far_apart_as_the_margin_are_called_equivalent_in_at_most_5_of_100_sessions(family, modes):
    seen = simulated(family, 1.05, modes)

    assert seen.false_equivalence <= at_most(0.05)
    assert seen.false_difference <= at_most(0.05)
    assert 1 - seen.missed >= at_least(0.95)


@pytest.mark.parametrize("modes", NUMBERS)
def test_five_launches_of_typical_noise_find_a_tenth_and_call_identical_modes_equivalent(modes):
    """Power: the promises above would be kept by a tool that never decides."""
    assert simulated("typical", 1.10, modes, looks=(LAUNCHES,)).found >= 0.95
    assert simulated("typical", 1.0, modes, looks=(LAUNCHES,)).equivalent >= 0.80


@pytest.mark.parametrize("modes", NUMBERS)
def test_looking_twice_costs_little_power(modes):
    assert simulated("typical", 1.10, modes).found >= 0.95
    assert simulated("typical", 1.0, modes).equivalent >= 0.80


def test_quiet_machines_are_done_after_the_first_look():
    assert simulated("quiet", 1.10, 4).launches < 3.5


@pytest.mark.parametrize("family", ["typical", "noisy", "one 4 times noisier", "AR(1) 0.9"])
@pytest.mark.slow
def test_four_looks_of_the_rigorous_preset_keep_the_promise(family):
    for ratio in (1.0, 1.05):
        log_times = draw(family, ratio, modes=2, launches=20, sessions=SESSIONS)
        seen = rates(list(outcomes(log_times, looks=(5, 10, 15, 20))), ratio)

        assert seen.false_difference <= at_most(0.05)
        assert seen.false_equivalence <= at_most(0.05)
        assert 1 - seen.missed >= at_least(0.95)


def test_an_unmoderated_shared_variance_would_break_the_promise(monkeypatch):
    """The simulation can tell: with every pair's variance replaced by the pooled one, a noisy mode is not covered."""
    from mlflow_tfexec.statistics import comparison, moderation

    def pooled(variances):
        total = sum(variance.degrees_of_freedom for variance in variances.values())
        mean = sum(variance.value * variance.degrees_of_freedom for variance in variances.values()) / total
        return {pair: moderation.Variance(mean, total) for pair in variances}

    monkeypatch.setattr(comparison, "moderate", pooled)

    assert 1 - simulated("one 4 times noisier", 1.0, 4).missed < at_least(0.95)


def test_looking_without_spending_error_would_break_the_promise(monkeypatch):
    """Looks after 3, 4, … 10 launches, each as if it were the only one."""
    import simulated_sessions

    monkeypatch.setattr(simulated_sessions, "error_at", lambda *_: 0.05)
    log_times = draw("noisy", 1.05, modes=2, launches=10, sessions=SESSIONS)

    seen = rates(list(outcomes(log_times, looks=tuple(range(3, 11)))), 1.05)

    assert max(seen.missed, seen.false_equivalence) > at_most(0.05)


def test_the_drawn_sessions_hold_what_their_family_says():
    """Launch figures of a pair scatter by 1 % times the square root of two in typical sessions, and more in others."""

    def scatter(family):
        log_times = draw(family, 1.0, modes=2, launches=5, sessions=400)
        return float(np.std(np.nanmedian(log_times[:, :, 0] - log_times[:, :, 1], axis=-1)))

    assert scatter("typical") == pytest.approx(0.0149, rel=0.1)
    assert scatter("noisy") == pytest.approx(0.0427, rel=0.1)
    assert scatter("one 4 times noisier") == pytest.approx(0.0415, rel=0.1)
