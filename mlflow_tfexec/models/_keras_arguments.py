"""Making Keras layers again whose `__init__` does not take what every configuration holds.

Without a `get_config` of its own, a layer's configuration says `name`, `trainable` and `dtype`, and Keras calls the
class with them. A class that takes no keywords, as tutorials write it, could then be saved and never loaded.
"""

import inspect
from collections.abc import Mapping
from typing import Any

_EVERY = ("name", "trainable", "dtype")


def make_again_by_own_arguments(class_: type[Any]) -> None:
    """Have Keras make *class_* from a configuration with what its `__init__` takes, where it has no `from_config`."""
    if class_.from_config.__module__.partition(".")[0] != "keras":
        return
    parameters = inspect.signature(class_.__init__).parameters
    takes_all = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())
    missing = [] if takes_all else [name for name in _EVERY if name not in parameters]
    if missing:
        class_.from_config = classmethod(lambda cls, config: _made(cls, config, missing))


def _made(class_: type[Any], config: Mapping[str, Any], missing: list[str]) -> Any:
    """Call *class_* without what it does not take, and give the layer that afterwards."""
    import keras

    arguments = {name: value for name, value in config.items() if name not in missing}
    policy = keras.dtype_policies.deserialize(config["dtype"]) if "dtype" in missing and "dtype" in config else None
    before = keras.config.dtype_policy()
    if policy is not None:
        # Layers made inside follow the policy that is set while they are made.
        keras.config.set_dtype_policy(policy)
    try:
        layer = class_(**arguments)
    finally:
        keras.config.set_dtype_policy(before)
    if "trainable" in missing and not config.get("trainable", True):
        layer.trainable = False
    return layer
