"""What this machine can do, before an hour is spent. One file = one check: a module here exports `CHECK`."""

from collections.abc import Sequence
from functools import cache

from mlflow_tfexec._registry import discover
from mlflow_tfexec.diagnosis._check import Check, Result
from mlflow_tfexec.diagnosis._facts import Facts


@cache
def all_checks() -> tuple[Check, ...]:
    """Every check, in the order in which people read them."""
    return tuple(sorted(discover(__name__, "CHECK"), key=lambda check: check.position))


def diagnose(facts: Facts) -> dict[Check, tuple[Result, ...]]:
    """Judge *facts* by every check. A check that does not concern this machine has no results. Pure."""
    return {check: tuple(check.judge(facts)) for check in all_checks()}


def is_ready(results: Sequence[Result]) -> bool:
    """Say whether it was shown that a benchmark can run here."""
    return not any(result.blocks for result in results)
