"""A name from `keras.applications`, in any case.

Source: https://keras.io/api/applications/
"""

import ast
import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.models._keras_model import prepare_keras_model
from mlflow_tfexec.models._reference import LoadedModel, ReferenceKind
from mlflow_tfexec.records.spec import Spec

# Where Keras 3 releases keep the generated module that lists the applications.
_LISTINGS = ("applications/__init__.py", "api/applications/__init__.py")


@cache
def application_names() -> tuple[str, ...]:
    """Name every model of `keras.applications`, sorted.

    The names are read from Keras's source text: importing Keras would import TensorFlow.

    Raises:
        RequestError: Keras is not installed.
    """
    keras = importlib.util.find_spec("keras")
    if keras is None or not keras.submodule_search_locations:
        raise RequestError("Keras is not installed. Install it with TensorFlow: pip install tensorflow")
    root = Path(next(iter(keras.submodule_search_locations)))
    for listing in _LISTINGS:
        if (root / listing).is_file():
            tree = ast.parse((root / listing).read_text(encoding="utf-8"))
            names = {alias.asname or alias.name for node in tree.body for alias in getattr(node, "names", ())}
            # Classes and model functions start with a capital; the rest are modules.
            return tuple(sorted(name for name in names if name[:1].isupper()))
    raise RequestError("This Keras has no applications that can be listed. Install Keras 3: pip install 'keras>=3'")


def recognise(reference: str) -> str | None:
    """Return the name as Keras spells it, or None."""
    for name in application_names():
        if name.lower() == reference.lower():
            return name
    return None


def load(spec: Spec) -> LoadedModel:
    """Build the application with the weights, the shape and the dtype that are asked for."""
    import keras

    keras.mixed_precision.set_dtype_policy(spec.dtype)
    keras.utils.set_random_seed(spec.seed)
    build = getattr(keras.applications, spec.model)
    arguments: dict[str, Any] = {"weights": spec.weights}
    if spec.input_shape is not None:
        arguments["input_shape"] = spec.input_shape
    try:
        model = build(**arguments)
    except OSError as error:
        raise ValueError(f"--weights {spec.weights!r} cannot be read ({error})") from error
    return prepare_keras_model(model, spec)


KIND = ReferenceKind(
    title="a name from keras.applications",
    position=0,
    recognise=recognise,
    load=load,
    heeds=frozenset({"dtype", "weights"}),
)
