"""What `--inputs` names: files, or a function, and the sets of inputs that come out of them."""

import itertools
import os.path
from collections.abc import Iterator
from pathlib import Path
from types import GeneratorType
from typing import Any

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.models._given_files import SUFFIXES, ArrayFacts, describe_file, read_file
from mlflow_tfexec.models._imports import import_from
from mlflow_tfexec.models._live_inputs import is_live_inputs, load_live_inputs

MOST_SETS = 100
"""A function may yield without end; these are taken."""


def check_inputs(reference: str) -> int | None:
    """Make sure that *reference* can be read, as far as that takes neither TensorFlow nor running a function.

    Returns:
        Items per call. None: only the function knows.

    Raises:
        RequestError: a file cannot be read, or those of several sets are not of one form.
    """
    if is_function(reference):
        _check_function(reference)
        return None
    names = file_names(reference)
    described = [describe_file(name) for name in names]
    for name, facts in zip(names, described, strict=True):
        if facts != described[0]:
            raise RequestError(
                f"--inputs: {name!r} holds {_told(facts)}, and {names[0]!r} {_told(described[0])}. Sets have the "
                "same names, shapes and types; measure other shapes as benchmarks of their own."
            )
    first = next(iter(described[0].values()))
    return first.shape[0] if first.shape else None


def is_function(reference: str) -> bool:
    """Say whether inputs come from `module:function` or `file.py:function` rather than from files."""
    where, separator, function = reference.rpartition(":")
    if not separator or not function.isidentifier() or Path(reference).suffix.lower() in SUFFIXES:
        return False
    return where.endswith(".py") or all(part.isidentifier() for part in where.split("."))


def file_names(reference: str) -> list[str]:
    """Name the files, one per set: separated by commas, unless a file has that very name."""
    if os.path.isfile(reference):  # noqa: PTH113 - Path.is_file raises for a name that is too long
        return [reference]
    return [name.strip() for name in reference.split(",") if name.strip()] or [reference]


def load_sets(reference: str, *, seed: int) -> list[Any]:
    """Load every set of inputs: structures of arrays. Runs in the worker, with TensorFlow imported.

    Raises:
        RequestError: a file cannot be read.
        ValueError: the function raises, or gives nothing.
    """
    if is_live_inputs(reference):
        return [load_live_inputs(reference)]
    if not is_function(reference):
        return [read_file(name) for name in file_names(reference)]
    sets = list(itertools.islice(_called(reference, seed), MOST_SETS))
    if not sets or any(one is None for one in sets):
        raise ValueError(f"--inputs {reference!r} gave nothing; return arrays, or yield several sets of them.")
    return sets


def _called(reference: str, seed: int) -> Iterator[Any]:
    """Call the function: what it returns is one set, what it yields are several."""
    import keras

    where, _, name = reference.rpartition(":")
    # The same in every worker, also where the function draws numbers and sets no seed.
    keras.utils.set_random_seed(seed)
    try:
        function = getattr(import_from(where), name, None)
        if not callable(function):
            raise ValueError(f"--inputs: {where!r} has no function {name!r}.")  # noqa: TRY004, TRY301 - a wrong request
        given = function()
        if isinstance(given, GeneratorType):
            yield from given
        else:
            yield given
    except (ValueError, MemoryError) as error:
        if str(error).startswith("--inputs"):
            raise
        raise ValueError(f"--inputs {reference!r} raised {type(error).__name__}: {error}") from error
    except SystemExit as error:
        raise ValueError(f"--inputs {reference!r} called sys.exit({error.code!r})") from error
    except Exception as error:
        raise ValueError(f"--inputs {reference!r} raised {type(error).__name__}: {error}") from error


def _check_function(reference: str) -> None:
    where = reference.rpartition(":")[0]
    if where.endswith(".py") and not os.path.isfile(where):  # noqa: PTH113 - as above
        raise RequestError(f"--inputs {reference!r}: there is no file {where!r}. Give path/to/file.py:function.")


def _told(facts: dict[str, ArrayFacts]) -> str:
    return ", ".join(f"{name + ' ' if name else ''}{one.shape} {one.dtype}" for name, one in facts.items())
