"""One file = one way of executing a model. A module here exports `MODE`; nothing else needs to know of it."""

from functools import cache

from mlflow_tfexec._registry import discover
from mlflow_tfexec.modes._mode import Mode


@cache
def all_modes() -> dict[str, Mode]:
    """Every mode by id, in table order. Imports no TensorFlow."""
    modes: list[Mode] = sorted(discover(__name__, "MODE"), key=lambda mode: mode.position)
    return {mode.id: mode for mode in modes}


def default_modes() -> tuple[str, ...]:
    """Name the modes that are measured when none are named."""
    return tuple(mode.id for mode in all_modes().values() if mode.default)
