import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlflow_tfexec.records.judgement import Comparison
from mlflow_tfexec.statistics.ordering import best_set, fastest, ordering_line

VERDICTS = ("slower", "faster", "equivalent", "undecided")
SIGNS = {">": "slower", "=": "equivalent", "?": "undecided", "<": "faster"}


def compared(*statements):
    """`a > b` means that a is slower than b."""
    comparisons = []
    for statement in statements:
        a, sign, b = statement.split()
        comparisons.append(Comparison(a=a, b=b, ratio=1, ci95_low=None, ci95_high=None, verdict=SIGNS[sign]))
    return comparisons


@st.composite
def matrices(draw):
    ranked = [f"m{number}" for number in range(draw(st.integers(2, 6)))]
    verdicts = {pair: draw(st.sampled_from(VERDICTS)) for pair in itertools.combinations(ranked, 2)}
    return ranked, verdicts


def as_comparisons(verdicts):
    return [
        Comparison(a=a, b=b, ratio=1, ci95_low=None, ci95_high=None, verdict=verdict)
        for (a, b), verdict in verdicts.items()
    ]


def test_the_seeds_line():
    comparisons = compared("e > g", "e > n", "e > x", "g = n", "g > x", "n > x")

    assert ordering_line(["e", "g", "n", "x"], comparisons) == "e > g = n > x"


def test_undecided_is_never_printed_as_equal():
    assert ordering_line(["a", "b"], compared("a ? b")) == "a ? b"


def test_equivalent_does_not_carry_over():
    """a = b and b = c leave a and c open."""
    assert ordering_line(["a", "b", "c"], compared("a = b", "b = c", "a ? c")) == "a = b ? c"


def test_slower_needs_every_mode_of_the_next_group():
    assert ordering_line(["a", "b", "c"], compared("a > b", "a ? c", "b = c")) == "a ? b = c"


def test_slower_needs_every_mode_on_the_left_not_just_the_neighbours():
    """b is slower than c, but a, further left, is not shown to be."""
    assert ordering_line(["a", "b", "c"], compared("a ? b", "a ? c", "b > c")) == "a ? b ? c"


def test_slower_may_follow_undecided():
    assert ordering_line(["a", "b", "c"], compared("a ? b", "a > c", "b > c")) == "a ? b > c"


def test_a_pair_may_be_given_in_either_direction():
    assert ordering_line(["a", "b"], compared("b < a")) == "a > b"


def test_an_estimate_at_odds_with_its_verdict_is_left_open():
    assert ordering_line(["a", "b"], compared("a < b")) == "a ? b"


@pytest.mark.parametrize("ranked", [[], ["a"]])
def test_fewer_than_two_modes_have_no_line(ranked):
    assert ordering_line(ranked, []) == ""


@given(matrices())
def test_the_line_never_contradicts_the_matrix(matrix):
    ranked, verdicts = matrix
    line = ordering_line(ranked, as_comparisons(verdicts))

    parts = re.split(r" ([>=?]) ", line)
    assert parts[::2] == ranked
    signs = parts[1::2]
    assert len(signs) == len(ranked) - 1
    for boundary, sign in enumerate(signs):
        left, right = ranked[: boundary + 1], ranked[boundary + 1 :]
        if sign == ">":
            assert all(verdicts[pair] == "slower" for pair in itertools.product(left, right))
        if sign == "=":
            assert verdicts[ranked[boundary], ranked[boundary + 1]] == "equivalent"


@given(matrices())
def test_groups_are_cliques(matrix):
    ranked, verdicts = matrix
    line = ordering_line(ranked, as_comparisons(verdicts))

    for group in re.split(r" [>?] ", line):
        assert all(verdicts[pair] == "equivalent" for pair in itertools.combinations(group.split(" = "), 2))


@given(matrices())
def test_all_slower_makes_a_line_of_slower_only(matrix):
    ranked, verdicts = matrix

    assert ordering_line(ranked, as_comparisons(dict.fromkeys(verdicts, "slower"))) == " > ".join(ranked)


def test_fastest_is_the_mode_that_all_others_are_slower_than():
    comparisons = compared("e > g", "e > x", "g > x")

    assert fastest(["e", "g", "x"], comparisons) == "x"


def test_fastest_among_equivalent_modes_is_the_one_of_least_time():
    assert fastest(["e", "g", "n"], compared("e > g", "e > n", "g = n")) == "n"


def test_undecided_at_the_top_leaves_no_fastest():
    assert fastest(["e", "g", "x"], compared("e > g", "e > x", "g ? x")) is None


@pytest.mark.parametrize("ranked", [[], ["a"]])
def test_the_only_mode_is_not_the_fastest_of_anything(ranked):
    assert fastest(ranked, []) is None


@given(matrices())
def test_nothing_is_faster_than_the_fastest(matrix):
    ranked, verdicts = matrix

    winner = fastest(ranked, as_comparisons(verdicts))

    if winner is not None:
        for (a, b), verdict in verdicts.items():
            if b == winner:
                assert verdict in {"slower", "equivalent"}
            if a == winner:
                assert verdict in {"faster", "equivalent"}


def test_the_best_are_those_not_shown_to_be_slower_than_any():
    comparisons = compared("e > g", "e > n", "e > x", "g ? n", "g ? x", "n > x")

    assert best_set(["e", "g", "n", "x"], comparisons) == ("g", "x")


def test_undecided_modes_are_all_among_the_best():
    assert best_set(["a", "b", "c"], compared("a ? b", "a ? c", "b = c")) == ("a", "b", "c")


def test_a_mode_quicker_than_its_place_in_the_order_is_among_the_best():
    assert best_set(["a", "b"], compared("a < b")) == ("a",)


@pytest.mark.parametrize("ranked", [[], ["a"]])
def test_the_only_mode_is_not_the_best_of_anything(ranked):
    assert best_set(ranked, []) == ()


@given(matrices())
def test_the_fastest_is_among_the_best(matrix):
    ranked, verdicts = matrix
    comparisons = as_comparisons(verdicts)

    winner = fastest(ranked, comparisons)

    assert winner is None or winner in best_set(ranked, comparisons)


@given(matrices())
def test_the_best_are_slower_than_none_and_every_other_is_slower_than_some(matrix):
    """Unless every mode is slower than some other: such verdicts leave nobody out."""
    ranked, verdicts = matrix
    slower = {a for (a, b), verdict in verdicts.items() if verdict == "slower"}
    slower |= {b for (a, b), verdict in verdicts.items() if verdict == "faster"}

    best = best_set(ranked, as_comparisons(verdicts))

    assert set(best) == (set(ranked) - slower or set(ranked))
    assert list(best) == [mode for mode in ranked if mode in best]


@given(matrices())
def test_where_verdicts_agree_with_the_order_the_last_mode_is_among_the_best(matrix):
    """Nothing is quicker than it."""
    ranked, verdicts = matrix
    agreeing = {pair: "undecided" if verdict == "faster" else verdict for pair, verdict in verdicts.items()}

    assert ranked[-1] in best_set(ranked, as_comparisons(agreeing))


@given(matrices())
def test_two_modes_or_more_are_never_without_a_best(matrix):
    ranked, verdicts = matrix

    assert best_set(ranked, as_comparisons(verdicts))


def test_verdicts_in_a_circle_leave_nobody_out():
    assert best_set(["a", "b", "c"], compared("a > b", "b > c", "a < c")) == ("a", "b", "c")
