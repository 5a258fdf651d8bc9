"""What no numbers may change in comparisons, and what more modes or more launches can change at most.

The noise is drawn by NumPy from seeds, and not number by number: with round numbers two modes can be equal to the
last bit in every round, where rounding alone decides whether they differ.
"""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlflow_tfexec.records.judgement import INVERSE
from mlflow_tfexec.statistics.comparison import compare_all, compare_pair
from mlflow_tfexec.statistics.ordering import best_set, fastest, ordering_line
from mlflow_tfexec.statistics.rounds import Rounds

NAMES = "abcdef"
ONE_TO_SIX = st.integers(1, 6)
TWO_TO_SIX = st.integers(2, 6)


@dataclass(frozen=True)
class Session:
    """Log times of shape (modes, launches, rounds)."""

    log_times: np.ndarray
    error: float
    margin: float

    @property
    def modes(self):
        return NAMES[: len(self.log_times)]

    def rounds(self, names=NAMES):
        times = np.exp(16 + self.log_times)
        return Rounds(
            medians_ns={mode: dict(enumerate(of_mode)) for mode, of_mode in zip(names, times, strict=False)},
            calls_ns={},
        )

    def compared(self, ranked=None):
        """Compare every two modes in the order of *ranked*."""
        return keyed(compare_all(self.rounds(), list(ranked or self.modes), error=self.error, margin=self.margin))


def keyed(comparisons):
    return {(comparison.a, comparison.b): comparison for comparison in comparisons}


@st.composite
def sessions(draw, modes=TWO_TO_SIX, launches=ONE_TO_SIX):
    """Modes up to some 20 % apart, process by process and round by round noisier than the next session."""
    generator = np.random.default_rng(draw(st.integers(0, 100_000)))
    shape = draw(modes), draw(launches), 6
    between, within = draw(st.sampled_from([0.001, 0.01, 0.05])), draw(st.sampled_from([0.001, 0.01]))
    log_times = (
        generator.normal(scale=draw(st.sampled_from([0.005, 0.1])), size=(shape[0], 1, 1))
        + generator.normal(scale=between, size=(*shape[:2], 1))
        + generator.normal(scale=within, size=shape)
    )
    return Session(log_times, draw(st.sampled_from([0.01, 0.05])), draw(st.sampled_from([0.01, 0.05])))


def ends(comparison):
    return comparison.ci95_low, comparison.ci95_high


@given(sessions(), st.randoms(use_true_random=False))
def test_comparing_in_another_order_gives_the_inverse_ratio_interval_and_verdict(session, random):
    order = random.sample(session.modes, len(session.modes))
    forth, back = session.compared(), session.compared(order)

    for (a, b), comparison in back.items():
        same = forth.get((a, b))
        if same is None:
            other = forth[b, a]
            assert comparison.ratio == pytest.approx(1 / other.ratio, rel=1e-12)
            assert comparison.verdict == INVERSE[other.verdict]
            if other.ci95_low is not None:
                assert ends(comparison) == pytest.approx((1 / other.ci95_high, 1 / other.ci95_low), rel=1e-9)
        else:
            assert comparison.ratio == same.ratio
            assert comparison.verdict == same.verdict
            assert ends(comparison) == pytest.approx(ends(same), rel=1e-9)
        assert comparison.launches_needed == forth.get((a, b), forth.get((b, a))).launches_needed


@given(sessions(modes=st.just(2)))
def test_the_inverse_of_a_pair_apart_is_exact(session):
    forth, back = (compare_pair(session.rounds(), *pair, error=0.05, margin=0.05) for pair in ("ab", "ba"))

    assert back.ratio == pytest.approx(1 / forth.ratio, rel=1e-15)
    assert ends(back) == pytest.approx((1 / forth.ci95_high, 1 / forth.ci95_low), rel=1e-14)
    assert back.verdict == INVERSE[forth.verdict]


@given(sessions(), st.permutations("pqrstu"))
def test_other_names_change_the_names_and_nothing_else(session, names):
    renamed = keyed(
        compare_all(session.rounds(names), names[: len(session.modes)], error=session.error, margin=session.margin)
    )

    for (a, b), comparison in session.compared().items():
        other = renamed[names[NAMES.index(a)], names[NAMES.index(b)]]
        assert (other.ratio, other.verdict, other.launches_needed) == (
            comparison.ratio,
            comparison.verdict,
            comparison.launches_needed,
        )
        assert ends(other) == pytest.approx(ends(comparison), rel=1e-12)


def log_width(comparison):
    """From end to end. None: there is no interval, or it was cut at 1 by what the steps have shown."""
    if comparison.ci95_low is None or 1.0 in ends(comparison):
        return None
    return math.log(comparison.ci95_high / comparison.ci95_low)


@given(sessions(), st.floats(0.1, 10))
def test_a_mode_c_times_slower_has_ratios_c_times_as_large_and_intervals_as_wide(session, factor):
    scaled = session.log_times.copy()
    scaled[0] += math.log(factor)
    before, after = session.compared(), Session(scaled, session.error, session.margin).compared()

    for pair, comparison in before.items():
        times = factor if "a" in pair else 1
        assert after[pair].ratio == pytest.approx(comparison.ratio * times, rel=1e-9)
        widths = log_width(comparison), log_width(after[pair])
        if None not in widths:
            assert widths[1] == pytest.approx(widths[0], rel=1e-6)


@given(sessions(), st.floats(0.001, 1000))
def test_a_slower_machine_changes_no_claim(session, factor):
    """All modes alike."""
    slower = Session(session.log_times + math.log(factor), session.error, session.margin).compared()

    for pair, comparison in session.compared().items():
        assert slower[pair].ratio == pytest.approx(comparison.ratio, rel=1e-9)
        assert slower[pair].verdict == comparison.verdict


@given(sessions())
def test_what_is_decided_lies_beyond_1_and_what_is_open_around_it(session):
    for comparison in session.compared().values():
        low, high = ends(comparison)
        if comparison.verdict == "slower":
            assert low >= 1 < comparison.ratio <= high
        elif comparison.verdict == "faster":
            assert high <= 1 > comparison.ratio >= low
        elif comparison.verdict == "equivalent":
            assert 1 / (1 + session.margin) * (1 - 1e-12) <= low <= high <= (1 + session.margin) * (1 + 1e-12)
        elif low is not None:
            assert low <= 1 <= high


@given(sessions())
def test_a_mode_is_never_called_different_from_its_own_copy(session):
    rounds = Rounds({**session.rounds().medians_ns, "copy": session.rounds().medians_ns["a"]}, {})

    comparisons = keyed(compare_all(rounds, ["copy", *session.modes], error=session.error, margin=session.margin))

    assert comparisons["copy", "a"].ratio == 1
    assert comparisons["copy", "a"].verdict in {"equivalent", "undecided"}


OPPOSITE = {"slower": "faster", "faster": "slower"}


def assert_no_opposite(before, after, margin):
    """A verdict may open or close. Between `=` and `>` it may change only where both are true: slower, by less than
    the margin."""
    assert after.verdict != OPPOSITE.get(before.verdict)
    if "equivalent" in {before.verdict, after.verdict} and {before.verdict, after.verdict} & OPPOSITE.keys():
        assert abs(math.log(before.ratio)) <= math.log(1 + margin)


@given(sessions(launches=st.integers(2, 6)), st.floats(-0.5, 0.5))
def test_one_more_mode_of_constant_times_leaves_every_other_ratio_and_reverses_no_verdict(session, level):
    before = session.compared()
    rounds = session.rounds()
    steady = {launch: np.full(6, math.exp(16 + level)) for launch in range(session.log_times.shape[1])}
    with_it = Rounds({**rounds.medians_ns, "steady": steady}, {})

    after = keyed(compare_all(with_it, [*session.modes, "steady"], error=session.error, margin=session.margin))

    for pair, comparison in before.items():
        assert after[pair].ratio == comparison.ratio
        assert_no_opposite(comparison, after[pair], session.margin)


def test_a_wider_interval_may_turn_equivalent_into_slower_where_both_are_true():
    """3 % slower, in five launches: the whole 5 % shows that it is less than the margin; shared among 10 pairs it
    shows only that it is more than nothing. The reverse happens with more launches."""
    differences = math.log(1.03) + 0.0125 * np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
    log_times = np.zeros((2, 5, 6))
    log_times[0] = differences[:, np.newaxis]
    alone = compare_pair(Session(log_times, 0.05, 0.05).rounds(), "a", "b", error=0.05, margin=0.05)
    shared = compare_pair(Session(log_times, 0.05, 0.05).rounds(), "a", "b", error=0.005, margin=0.05)

    assert (alone.verdict, shared.verdict) == ("equivalent", "slower")
    assert 1 < shared.ci95_low < alone.ci95_low < alone.ci95_high < 1.05 < shared.ci95_high


@given(sessions(launches=st.integers(2, 5)), st.integers(2, 4))
def test_the_same_launches_over_again_reverse_no_verdict(session, times):
    again = Session(np.tile(session.log_times, (1, times, 1)), session.error, session.margin)

    after = again.compared()

    for pair, comparison in session.compared().items():
        assert after[pair].ratio == pytest.approx(comparison.ratio, rel=1e-9)
        assert_no_opposite(comparison, after[pair], session.margin)


@given(sessions(modes=st.just(2), launches=st.integers(2, 5)), st.integers(2, 4))
def test_of_two_modes_the_same_launches_over_again_take_nothing_back(session, times):
    """Nobody lends, so that every interval narrows: `=` stays, and so does a difference beyond the margin."""
    before = session.compared()["a", "b"]

    after = Session(np.tile(session.log_times, (1, times, 1)), session.error, session.margin).compared()["a", "b"]

    if before.verdict == "equivalent" or abs(math.log(before.ratio)) > math.log(1 + session.margin):
        assert before.verdict in {after.verdict, "undecided"}
    else:
        assert after.verdict != "undecided" or before.verdict == "undecided"


@given(
    st.lists(st.sampled_from([0.0, 0.2, 0.4, 0.6]), min_size=2, max_size=6),
    st.integers(0, 100_000),
    st.sampled_from([0.01, 0.05]),
)
def test_on_clean_data_more_launches_only_ever_decide(levels, seed, error):
    """Modes that are the same or a fifth apart and scatter by a thousandth: from two launches to eight, `=` and `>`
    stay, and what was open becomes the one or the other."""
    noise = np.random.default_rng(seed).uniform(-0.001, 0.001, size=(len(levels), 8, 6))
    log_times = np.array(levels)[:, np.newaxis, np.newaxis] + noise
    truth = {0: "equivalent", 1: "slower", -1: "faster"}

    for launches in (2, 3, 5, 8):
        for (a, b), comparison in Session(log_times[:, :launches], error, 0.05).compared().items():
            right = truth[np.sign(levels[NAMES.index(a)] - levels[NAMES.index(b)])]
            assert comparison.verdict in ({right, "undecided"} if launches < 5 else {right})


def test_modes_may_be_slower_in_a_circle_and_then_each_may_be_fastest():
    """Medians of ratios do not carry over: a is 20 % slower than b in two rounds of three, b than c, and c than a."""
    log_times = np.empty((3, 2, 36))
    log_times[:] = 0.2 * np.tile([[3, 1, 2], [2, 3, 1], [1, 2, 3]], 12)[:, np.newaxis]

    comparisons = Session(log_times, 0.05, 0.05).compared()

    assert {pair: comparison.verdict for pair, comparison in comparisons.items()} == {
        ("a", "b"): "slower",
        ("b", "c"): "slower",
        ("a", "c"): "faster",
    }
    assert ordering_line("abc", comparisons.values()) == "a ? b ? c"
    assert fastest("abc", comparisons.values()) is None
    assert best_set("abc", comparisons.values()) == ("a", "b", "c")
