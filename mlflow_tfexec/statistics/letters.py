"""Letters that say in a table which modes are equivalent."""

import string
from collections.abc import Iterable, Sequence

from mlflow_tfexec.records.judgement import Comparison

_ALPHABET = string.ascii_lowercase + string.ascii_uppercase


def group_letters(ranked: Sequence[str], comparisons: Iterable[Comparison]) -> dict[str, str]:
    """Give each mode the letters of its groups: two modes share a letter if and only if they are equivalent.

    A group is a largest set of modes of which every two are equivalent; a mode may be in several, as being equivalent
    does not carry over. The usual letter displays (Piepho, "An algorithm for a letter-based representation of
    all-pairwise comparisons", Journal of Computational and Graphical Statistics 13, 2004) mark what was *not shown to
    differ*; these mark what was shown to be *the same*.

    Args:
        ranked: the modes, slowest first; letters follow their order.
        comparisons: one of every two ranked modes, in either direction.

    Returns:
        Such as {"eager": "a", "graph": "b", "graph_nojit": "b"}. Empty with fewer than two modes, and where there are
        more groups than letters.
    """
    if len(ranked) < 2:  # noqa: PLR2004 - nothing to group
        return {}
    equal = {frozenset((c.a, c.b)) for c in comparisons if c.verdict == "equivalent"}
    place = {mode: number for number, mode in enumerate(ranked)}
    groups = sorted(_largest_cliques(ranked, equal), key=lambda group: sorted(place[mode] for mode in group))
    if len(groups) > len(_ALPHABET):
        return {}
    letters = dict(zip(_ALPHABET, groups, strict=False))
    return {mode: "".join(letter for letter, group in letters.items() if mode in group) for mode in ranked}


def _largest_cliques(modes: Sequence[str], equal: set[frozenset[str]]) -> list[frozenset[str]]:
    """List every set of pairwise equal modes to which none can be added.

    Bron and Kerbosch, "Finding all cliques of an undirected graph", Communications of the ACM 16 (1973).
    """
    found: list[frozenset[str]] = []

    def grow(clique: frozenset[str], candidates: frozenset[str], seen: frozenset[str]) -> None:
        if not candidates and not seen:
            found.append(clique)
        for mode in sorted(candidates):
            neighbours = frozenset(other for other in modes if frozenset((mode, other)) in equal and other != mode)
            grow(clique | {mode}, candidates & neighbours, seen & neighbours)
            candidates -= {mode}
            seen |= {mode}

    grow(frozenset(), frozenset(modes), frozenset())
    return found
