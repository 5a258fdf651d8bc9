"""From a loaded model to a step of the task that is asked for."""

import dataclasses

from mlflow_tfexec.models._float64 import with_float64_reference
from mlflow_tfexec.models._reference import LoadedModel
from mlflow_tfexec.models._training import prepare_training
from mlflow_tfexec.records.spec import Spec


def for_task(loaded: LoadedModel, spec: Spec) -> LoadedModel:
    """Make a loaded model do what *spec* asks of it: infer, with a reference in float64 where asked for, or train."""
    if spec.task == "train":
        loaded = prepare_training(loaded, spec)
    elif spec.float64_reference:
        loaded = with_float64_reference(loaded)
    # Whatever is behind the step, nobody needs it any more.
    return dataclasses.replace(loaded, subject=None)
