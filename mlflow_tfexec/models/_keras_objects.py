"""Which classes and functions a saved Keras object names that Keras itself does not know.

Source: keras/src/saving/serialization_lib.py.
"""

import json
import sys
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

_CONFIG = "config.json"
_KNOWN = ("keras", "builtins", "tensorflow", "numpy")


def custom_objects_of(model: Any, archive: Path) -> dict[str, Any]:
    """Find, by the names that the archive calls them, the classes and functions that *model* was made of.

    What is not found is left out: Keras says its name when it loads the archive.
    """
    import keras

    live = _live(model)
    found: dict[str, Any] = {}
    for module, name, registered in _named(json.loads(zipfile.ZipFile(archive).read(_CONFIG))):
        candidates = (
            keras.saving.get_registered_object(registered) if registered else None,
            live.get(name),
            _of_module(module, name),
            _of_module("__main__", name),
        )
        known = next((one for one in candidates if one is not None), None)
        if known is not None:
            found[registered or name] = known
    return found


def _named(config: Any) -> Iterator[tuple[str | None, str, str | None]]:
    """Yield (module, name, registered name) of each class and function of a configuration that is not Keras's."""
    if isinstance(config, dict):
        module, class_name, registered = (config.get(key) for key in ("module", "class_name", "registered_name"))
        if class_name == "function" and isinstance(config.get("config"), str):
            yield None, config["config"], registered if registered != "function" else None
        elif isinstance(class_name, str) and (registered or not _is_known(module)):
            yield module, class_name, registered
        for value in config.values():
            yield from _named(value)
    elif isinstance(config, list):
        for value in config:
            yield from _named(value)


def _is_known(module: Any) -> bool:
    return module is None or str(module).partition(".")[0] in _KNOWN


def _live(model: Any) -> dict[str, Any]:
    """Find by name the classes and functions that a live object and its layers hold."""
    layers = layers_of(model)
    compiled = (getattr(model, name, None) for name in ("loss", "optimizer", "metrics"))
    held = [value for layer in layers for value in _held(layer)]
    return {one.__name__: one for one in (*_code(layers), *_code(held), *_code(_flat(compiled)))}


def layers_of(model: Any) -> list[Any]:
    """List a Keras object and all layers in it."""
    return list(model._flatten_layers()) if hasattr(model, "_flatten_layers") else [model]  # noqa: SLF001 - nested ones, too


def _held(layer: Any) -> list[Any]:
    return list(_flat(vars(layer).values()))


def _flat(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list | tuple):
            yield from _flat(value)
        elif isinstance(value, dict):
            yield from _flat(value.values())
        else:
            yield value


def _code(objects: Iterable[Any]) -> Iterator[Any]:
    """Yield functions as they are, and of other objects their classes, where these are not Keras's."""
    for one in objects:
        found = one if isinstance(one, FunctionType) else type(one)
        if not _is_known(found.__module__):
            yield found


def _of_module(module: Any, name: str) -> Any:
    return getattr(sys.modules.get(str(module)), name, None) if module else None
