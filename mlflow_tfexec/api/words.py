"""From Python's values to the words of options, and from options in errors back to the names of parameters."""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from mlflow_tfexec.benchmarking.request import AUTO
from mlflow_tfexec.errors import TfexecError

_OPTION = re.compile(r"--([a-z][a-z0-9-]*[a-z0-9])")
_OTHERWISE = {"no_safe_mode": "safe_mode=False"}


def text_of(value: Any) -> str:
    """Write a value as the option of the command says it.

    >>> text_of(None), text_of(8), text_of(["eager", "xla"]), text_of({"ids": (128,), "mask": (128,)})
    ('auto', '8', 'eager,xla', 'ids=128;mask=128')
    """
    if value is None:
        return AUTO
    if isinstance(value, Mapping):
        return ";".join(f"{name}={text_of(part)}" for name, part in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(map(str, value))
    return str(value)


@contextmanager
def in_python_words(function: Callable[..., Any]) -> Iterator[None]:
    """Have errors name the parameters of *function* where they name options.

    Raises:
        TfexecError: of the same type as inside, with the changed text.
    """
    parameters = list(inspect.signature(function).parameters)

    def said(match: re.Match[str]) -> str:
        name = match[1].replace("-", "_")
        known = next((one for one in (name, f"{name}_s") if one in parameters), None)
        return known or _OTHERWISE.get(name, match[0])

    try:
        yield
    except TfexecError as error:
        text = _OPTION.sub(said, str(error))
        if text == str(error):
            raise
        raise type(error)(text) from error
