"""The one line that people remember, made so that it never says more than the comparisons do."""

from collections.abc import Iterable, Mapping, Sequence

from mlflow_tfexec.records.judgement import INVERSE, Comparison, Verdict

Verdicts = Mapping[tuple[str, str], Verdict]


def ordering_line(ranked: Sequence[str], comparisons: Iterable[Comparison]) -> str:
    """Write the modes slowest first, such as `eager > graph = graph_nojit > xla`.

    `=` joins modes of which every two are equivalent, by name: which of them came out ahead is noise, and the line is
    searched for in MLflow. `>` stands only where every mode on its left is slower than
    every mode on its right, so that it may be read across the whole line. `?` stands wherever neither holds.

    Args:
        ranked: the modes, slowest estimate first.
        comparisons: one of every two ranked modes, in either direction.

    Returns:
        Empty with fewer than two modes.
    """
    if len(ranked) < 2:  # noqa: PLR2004 - nothing to order
        return ""
    verdicts = _both_ways(comparisons)
    groups = equivalence_groups(ranked, verdicts)
    names = [" = ".join(sorted(group)) for group in groups]
    line = names[0]
    for number in range(1, len(groups)):
        left = [mode for group in groups[:number] for mode in group]
        right = [mode for group in groups[number:] for mode in group]
        slower = all(verdicts[slow, quick] == "slower" for slow in left for quick in right)
        line += f" {'>' if slower else '?'} {names[number]}"
    return line


def equivalence_groups(ranked: Sequence[str], verdicts: Verdicts) -> list[list[str]]:
    """Split the ranked modes into runs in which every two are equivalent, from the slowest on, each as long as can be.

    Being equivalent does not carry over: a = b and b = c leave a and c open, and then c starts a run of its own.
    """
    groups: list[list[str]] = []
    for mode in ranked:
        if groups and all(verdicts[member, mode] == "equivalent" for member in groups[-1]):
            groups[-1].append(mode)
        else:
            groups.append([mode])
    return groups


def fastest(ranked: Sequence[str], comparisons: Iterable[Comparison]) -> str | None:
    """Name the quickest mode that every other ranked mode is slower than or equivalent to.

    Args:
        ranked: the modes, slowest estimate first.
        comparisons: one of every two ranked modes, in either direction.

    Returns:
        None where no mode is shown to be so, and with fewer than two ranked modes.
    """
    if len(ranked) < 2:  # noqa: PLR2004 - the only one is not the fastest of anything
        return None
    verdicts = _both_ways(comparisons)
    for candidate in reversed(ranked):
        others = (mode for mode in ranked if mode != candidate)
        if all(verdicts[other, candidate] in {"slower", "equivalent"} for other in others):
            return candidate
    return None


def best_set(ranked: Sequence[str], comparisons: Iterable[Comparison]) -> tuple[str, ...]:
    """Name every mode that is not shown to be slower than some other, slowest estimate first.

    Whichever mode is truly fastest is among them: it is left out only if a verdict is wrong.

    Args:
        ranked: the modes, slowest estimate first.
        comparisons: one of every two ranked modes, in either direction.

    Returns:
        Empty with fewer than two ranked modes.
    """
    if len(ranked) < 2:  # noqa: PLR2004 - the only one is not the best of anything
        return ()
    slower = {pair[0] for pair, verdict in _both_ways(comparisons).items() if verdict == "slower"}
    # Medians of ratios do not carry over: verdicts may run in a circle, and then they leave nobody out.
    return tuple(mode for mode in ranked if mode not in slower) or tuple(ranked)


def _both_ways(comparisons: Iterable[Comparison]) -> dict[tuple[str, str], Verdict]:
    """Key each verdict by its pair, and the inverse verdict by the inverse pair."""
    verdicts: dict[tuple[str, str], Verdict] = {}
    for comparison in comparisons:
        verdicts[comparison.a, comparison.b] = comparison.verdict
        verdicts[comparison.b, comparison.a] = INVERSE[comparison.verdict]
    return verdicts
