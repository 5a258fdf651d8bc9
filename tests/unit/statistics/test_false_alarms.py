"""How often identical modes are called different: the one number that a comparison stands on."""

import itertools
import math

import numpy as np

from mlflow_tfexec.statistics.comparison import compare, simultaneous_confidence
from mlflow_tfexec.statistics.rounds import Rounds

SESSIONS = 400
MODES = ("a", "b", "c", "d")
ROUNDS = 8
# Three standard errors of a share of 5 % over this many sessions.
LIMIT = 0.05 + 3 * math.sqrt(0.05 * 0.95 / SESSIONS)


def identical_modes(generator, launches):
    """Draw a session in which the modes differ by nothing but noise of every kind that machines are known for.

    Each process is a little quicker or slower than the next; rounds resemble their neighbours and drift; and now and
    then a block is disturbed.
    """
    shape = (len(MODES), launches, ROUNDS)
    process = generator.normal(scale=0.01, size=(len(MODES), launches, 1))
    drift = np.linspace(0, 0.1, ROUNDS) + np.cumsum(generator.normal(scale=0.01, size=(1, launches, ROUNDS)), axis=2)
    disturbed = np.where(generator.random(shape) < 0.05, 0.5, 0.0)
    noise = generator.normal(scale=0.005, size=shape)
    times = 1e7 * np.exp(process + drift + disturbed + noise)
    return Rounds(
        medians_ns={mode: dict(enumerate(of_mode)) for mode, of_mode in zip(MODES, times, strict=True)}, calls_ns={}
    )


def verdicts(rounds, margin):
    pairs = list(itertools.combinations(MODES, 2))
    confidence = simultaneous_confidence(len(pairs))
    return [compare(rounds, a, b, confidence=confidence, margin=margin).verdict for a, b in pairs]


def test_identical_modes_are_rarely_called_different():
    """The margin is 0 here, so that no wrong verdict hides behind `equivalent`; one wrong pair spoils a session."""
    generator = np.random.default_rng(20_240)

    false_alarms = sum(
        bool({"slower", "faster"} & set(verdicts(identical_modes(generator, launches=3), margin=0)))
        for _ in range(SESSIONS)
    )

    assert false_alarms / SESSIONS <= LIMIT


def test_taking_rounds_for_launches_would_raise_the_alarm():
    """The check above can fail: the same sessions, each round passed off as a launch of its own."""
    generator = np.random.default_rng(20_240)

    def rounds_as_launches(rounds):
        return Rounds(
            medians_ns={
                mode: dict(enumerate(np.concatenate(list(by_launch.values()))[:, np.newaxis]))
                for mode, by_launch in rounds.medians_ns.items()
            },
            calls_ns={},
        )

    false_alarms = sum(
        bool({"slower", "faster"} & set(verdicts(rounds_as_launches(identical_modes(generator, launches=3)), margin=0)))
        for _ in range(50)
    )

    assert false_alarms / 50 > LIMIT


def test_a_real_difference_of_a_tenth_is_found_in_five_launches():
    """Power: the check must not pass by never deciding anything."""
    generator = np.random.default_rng(7)
    found = 0
    for _ in range(100):
        rounds = identical_modes(generator, launches=5)
        slower = {launch: series * 1.10 for launch, series in rounds.medians_ns["a"].items()}
        rounds = Rounds(medians_ns={**rounds.medians_ns, "a": slower}, calls_ns={})
        found += verdicts(rounds, margin=0.05)[:3] == ["slower"] * 3

    assert found >= 80
