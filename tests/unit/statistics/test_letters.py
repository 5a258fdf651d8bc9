import itertools
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlflow_tfexec.records.judgement import Comparison
from mlflow_tfexec.statistics.letters import group_letters

VERDICTS = ("slower", "faster", "equivalent", "undecided")


def as_comparisons(verdicts):
    return [
        Comparison(a=a, b=b, ratio=1, ci95_low=None, ci95_high=None, verdict=verdict)
        for (a, b), verdict in verdicts.items()
    ]


def equal(ranked, *pairs):
    """Say of the pairs named that they are equivalent, and of no other."""
    verdicts = dict.fromkeys(itertools.combinations(ranked, 2), "undecided")
    verdicts.update({tuple(pair): "equivalent" for pair in pairs})
    return group_letters(list(ranked), as_comparisons(verdicts))


@st.composite
def matrices(draw):
    ranked = draw(st.permutations("abcdefgh"))[: draw(st.integers(2, 8))]
    verdicts = {pair: draw(st.sampled_from(VERDICTS)) for pair in itertools.combinations(ranked, 2)}
    return ranked, verdicts


def test_the_seeds_letters():
    assert equal("egnx", "gn") == {"e": "a", "g": "b", "n": "b", "x": "c"}


def test_all_equivalent_share_one_letter():
    assert equal("abc", "ab", "ac", "bc") == {"a": "a", "b": "a", "c": "a"}


def test_none_equivalent_have_each_their_own():
    assert equal("zyx") == {"z": "a", "y": "b", "x": "c"}


def test_equivalent_does_not_carry_over():
    """a = b and b = c: b is in both groups."""
    assert equal("abc", "ab", "bc") == {"a": "a", "b": "ab", "c": "b"}


def test_a_pair_may_be_given_in_either_direction():
    (comparison,) = as_comparisons({("y", "x"): "equivalent"})

    assert group_letters(["x", "y"], [comparison]) == {"x": "a", "y": "a"}


@pytest.mark.parametrize("ranked", [[], ["a"]])
def test_fewer_than_two_modes_have_no_letters(ranked):
    assert group_letters(ranked, []) == {}


def test_more_groups_than_letters_have_none():
    """Modes i and i + 1 are equivalent and no others: as many groups as such pairs."""
    ranked = [f"m{number:02}" for number in range(54)]
    neighbours = list(itertools.pairwise(ranked))

    assert group_letters(ranked, as_comparisons(dict.fromkeys(neighbours, "equivalent"))) == {}
    assert group_letters(ranked[:53], as_comparisons(dict.fromkeys(neighbours[:52], "equivalent")))["m52"] == "Z"


@given(matrices())
def test_two_modes_share_a_letter_if_and_only_if_they_are_equivalent(matrix):
    ranked, verdicts = matrix

    letters = group_letters(ranked, as_comparisons(verdicts))

    assert list(letters) == list(ranked)
    for (a, b), verdict in verdicts.items():
        assert bool(set(letters[a]) & set(letters[b])) == (verdict == "equivalent")


@given(matrices())
def test_no_letter_is_superfluous(matrix):
    """Each group is a largest one: none lies within another."""
    ranked, verdicts = matrix
    letters = group_letters(ranked, as_comparisons(verdicts))

    groups = [{mode for mode in ranked if letter in letters[mode]} for letter in sorted(set("".join(letters.values())))]
    assert all(groups)
    assert not any(one <= other for one, other in itertools.permutations(groups, 2))


@given(matrices())
def test_letters_follow_the_order(matrix):
    """The first mode has an a; a mode's first letter is never followed, further down, by an earlier new one."""
    ranked, verdicts = matrix
    letters = group_letters(ranked, as_comparisons(verdicts))

    seen = list(dict.fromkeys("".join(letters[mode] for mode in ranked)))
    assert seen == list(string.ascii_letters[: len(seen)])


@given(matrices())
def test_letters_do_not_hang_on_the_order_in_which_pairs_are_given(matrix):
    ranked, verdicts = matrix
    comparisons = as_comparisons(verdicts)

    assert group_letters(ranked, comparisons[::-1]) == group_letters(ranked, comparisons)
