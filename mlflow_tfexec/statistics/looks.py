"""How much error a look at the data may spend, so that all looks together make as few as one would."""

from collections.abc import Sequence

ERROR = 0.05
"""Chance that any claim of one benchmark is wrong."""

_INTERIM_SHARE = 0.2


def error_at(launches: int, looks: Sequence[int]) -> float:
    """Say how often the claims made after *launches* launches may be wrong.

    A benchmark that ends as soon as all is decided has had more than one chance to err. Each look before the last
    spends a fifth of the 5 %, the last one the rest, so that they cannot add up to more whatever the data are
    (Bonferroni's inequality over looks: the most careful way to spend error in the sense of Lan and DeMets, "Discrete
    sequential boundaries for clinical trials", Biometrika 70, 1983). The last look gets the most, since it is the one
    at which hard cases end.

    Args:
        launches: those that hold data. Between two looks, as after an interruption, the next look's share counts:
            the look itself was never taken.
        looks: numbers of launches after which the benchmark may end, ascending. Empty: there was but one look.

    Returns:
        A share, such as 0.01.
    """
    if len(looks) < 2:  # noqa: PLR2004 - one look spends it all
        return ERROR
    interim = ERROR * min(_INTERIM_SHARE, 0.5 / (len(looks) - 1))
    if any(launches <= look for look in looks[:-1]):
        return interim
    return ERROR - interim * (len(looks) - 1)
