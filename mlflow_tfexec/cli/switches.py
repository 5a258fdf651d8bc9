"""Switches that take a value as well: a parameter of a project always has one, and a switch alone cannot carry it."""

from collections.abc import Mapping, Sequence
from typing import Any

from typer.core import TyperCommand

_VALUES = frozenset({"true", "false"})


class SwitchCommand(TyperCommand):
    """A command whose switches with a `--no-` form may also be given as `--switch true` and `--switch false`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line as typer does, once values are put into the names of switches."""
        negations = {
            name: parameter.secondary_opts[0]
            for parameter in self.params
            if getattr(parameter, "is_flag", False) and parameter.secondary_opts
            for name in parameter.opts
        }
        return super().parse_args(ctx, without_values(args, negations))


def without_values(arguments: Sequence[str], negations: Mapping[str, str]) -> list[str]:
    """Write `--switch true` as `--switch`, and `--switch false` as its negation. A switch alone stays as it is.

    >>> without_values(["M", "--safe-mode", "false", "--strict"], {"--safe-mode": "--no-safe-mode"})
    ['M', '--no-safe-mode', '--strict']
    """
    written: list[str] = []
    for argument in arguments:
        before = written[-1] if written else ""
        if before in negations and argument.lower() in _VALUES:
            written[-1] = before if argument.lower() == "true" else negations[before]
        else:
            written.append(argument)
    return written
