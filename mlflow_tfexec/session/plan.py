"""How long blocks are, how long to wait for them, how long the rest will take."""

from collections.abc import Mapping

from mlflow_tfexec.measurement.blocks import calls_per_block
from mlflow_tfexec.records.spec import Spec

# A block may take this many times what the pilot foresaw, and never less than the floor, before it counts as hung:
# a machine under load is slow, not broken.
_PATIENCE = 20
_FLOOR_S = 120.0

_PASSES = 2
"""A block runs its calls twice: one by one, then behind one another."""


def plan_calls(call_ns: int, spec: Spec) -> int:
    """Return the number of calls per block for a mode whose call takes about *call_ns*."""
    return calls_per_block(call_ns, spec.block_ms)


def block_ns(call_ns: int, calls: int) -> int:
    """Return about how long a block takes. A single call is not repeated."""
    return call_ns * (calls * _PASSES if calls > 1 else 1)


def block_deadline_s(call_ns: int, calls: int, spec: Spec) -> float:
    """Return how long to wait for a block before the worker counts as hung."""
    return min(spec.timeout_s, max(_FLOOR_S, _PATIENCE * block_ns(call_ns, calls) / 1e9))


def round_ns(call_ns: Mapping[str, int], calls: Mapping[str, int], loads_ns: int) -> int | None:
    """Return about how long one round of all modes and the reference loads takes. None: the pilot has not run."""
    return sum(block_ns(call_ns[mode], calls[mode]) for mode in calls) + loads_ns if calls else None


def time_left_s(
    launches: int, *, rounds: int, launch: int, round_: int | None, round_ns: int | None, overhead_ns: int | None
) -> float | None:
    """Return about how long it still takes until *launches* are done.

    Args:
        launches: in all.
        rounds: in each.
        launch: the present launch, from 0.
        round_: the present round, from 0; None before the rounds.
        round_ns: what one round takes, None if not yet known.
        overhead_ns: what one launch takes before its rounds, None if not yet known.

    Returns:
        None where too little is known: before the first launch has reached its rounds.
    """
    if round_ns is None or overhead_ns is None:
        return None
    rounds_left = rounds * (launches - launch) - (round_ or 0)
    launches_left = launches - launch - 1 + (1 if round_ is None and launch > 0 else 0)
    return (rounds_left * round_ns + launches_left * overhead_ns) / 1e9
