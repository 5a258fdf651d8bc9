"""Load what Keras saved: uncompiled, in safe mode unless told otherwise, with its errors put into one line."""

import re
from typing import Any

from mlflow_tfexec.models import _findings
from mlflow_tfexec.models._custom_objects import import_custom_objects
from mlflow_tfexec.models._keras_model import compute_dtype, prepare_keras_model
from mlflow_tfexec.models._reference import LoadedModel
from mlflow_tfexec.records.spec import Spec

UNSAFE = (
    "it holds Python code (a Lambda layer, for instance), which safe mode does not run. If you trust whoever made the "
    "file: --no-safe-mode, which lets it run any code"
)

# What Keras says, in its several releases and formats, of a class or a function that it does not know.
_UNKNOWN = re.compile(r"(?:Could not locate|Unknown) (?:the )?([\w ]+?):? ['\"]([^'\"]+)['\"]")


def load_saved_keras(spec: Spec) -> LoadedModel:
    """Load the file that *spec* names as its model.

    Raises:
        ValueError: Keras refuses the file; the text says which option would help, if one would.
    """
    model = _load(spec)
    loaded = prepare_keras_model(model, spec)
    dtype = loaded.compute_dtype
    if dtype is None or dtype == compute_dtype(spec.dtype):
        return loaded
    return loaded.with_finding(_findings.own_dtype(dtype))


def _load(spec: Spec) -> Any:
    import keras

    custom_objects = import_custom_objects(spec.custom_objects)
    try:
        return keras.saving.load_model(
            spec.model, custom_objects=custom_objects, compile=False, safe_mode=spec.safe_mode
        )
    except OSError as error:
        raise ValueError(f"its weights cannot be read ({error}); save the model again, or copy it anew") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        text = str(error)
        if spec.safe_mode and ("safe_mode" in text or "unsafe_deserialization" in text):
            raise ValueError(UNSAFE) from error
        unknown = _UNKNOWN.search(text)
        if unknown:
            name = unknown[2].rpartition(">")[2]
            raise ValueError(
                f"Keras does not know the {unknown[1]} {name!r}. "
                f"Say where it is: --custom-objects path/to/file.py:{name} or module:{name}"
            ) from error
        raise
