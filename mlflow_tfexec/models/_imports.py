"""Import what a reference names: a module, or a Python file by its path."""

import importlib
import importlib.util
import os.path
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from mlflow_tfexec.errors import RequestError


def split_reference(reference: str) -> tuple[str, str] | None:
    """Take `where:name` apart; `where` is a file that ends in .py, or a module. None: it has another form.

    Raises:
        RequestError: the file is not there.
    """
    where, separator, name = reference.rpartition(":")
    if not separator or not name.isidentifier():
        return None
    if where.endswith(".py"):
        if not os.path.isfile(where):  # noqa: PTH113 - Path.is_file raises for a name that is too long
            raise RequestError(f"No file {where!r} for {reference!r}. Give the path of an existing Python file.")
        return where, name
    return (where, name) if all(part.isidentifier() for part in where.split(".")) else None


def import_named(where: str, name: str, *, what: str = "function") -> Any:
    """Import *where* and return what it calls *name*; *what* is what should be there.

    Raises:
        ValueError: there is nothing of that name.
    """
    found = getattr(import_from(where), name, None)
    if found is None:
        raise ValueError(f"{where!r} has no {what} {name!r}")
    return found


def import_from(where: str) -> ModuleType:
    """Import a module by name, or a file by path with its directory importable, as running it would."""
    return _import_file(Path(where).resolve()) if where.endswith(".py") else importlib.import_module(where)


def _import_file(path: Path) -> ModuleType:
    loaded = sys.modules.get(path.stem)
    # Once: a class imported twice is two classes, and a model made of one is not found by the other.
    if loaded is not None and getattr(loaded, "__file__", None) == str(path):
        return loaded
    sys.path.insert(0, str(path.parent))
    module_spec = importlib.util.spec_from_file_location(path.stem, path)
    if module_spec is None or module_spec.loader is None:
        raise ValueError(f"cannot import {str(path)!r}")
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[path.stem] = module
    module_spec.loader.exec_module(module)
    return module
