"""Find every module of a package that exports one named object: so a mode, metric or format is one file."""

import importlib
import pkgutil
from typing import Any


def discover(package: str, attribute: str) -> list[Any]:
    """Import each public module of *package* and return its *attribute*, sorted by module name.

    Modules whose name starts with an underscore are the package's own parts and are left alone.

    Raises:
        AttributeError: a public module lacks the attribute; a silent skip would hide a misspelling.
    """
    found = []
    for module_info in pkgutil.iter_modules(importlib.import_module(package).__path__):
        if not module_info.name.startswith("_"):
            module = importlib.import_module(f"{package}.{module_info.name}")
            found.append(getattr(module, attribute))
    return found
