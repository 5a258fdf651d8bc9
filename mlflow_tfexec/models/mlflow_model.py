"""A model in MLflow: `models:/name/version`, `models:/name@alias`, `models:/m-…` or `runs:/run/path`.

Only the form is known here. The parent fetches the model, and a worker loads the file that was fetched.
"""

import re

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.models._reference import LoadedModel, ReferenceKind
from mlflow_tfexec.records.spec import Spec

_FORMS = re.compile(
    r"models:/(?P<name>[^/@]+)(/(?P<version>[0-9]+|latest)|@(?P<alias>[^/@]+))|models:/m-[^/@]+|runs:/[^/]+/.+"
)


def recognise(reference: str) -> str | None:
    """Take any reference that begins as one into MLflow does; whether the model exists is not asked."""
    if not reference.startswith(("models:", "runs:")):
        return None
    if _FORMS.fullmatch(reference) is None:
        raise RequestError(
            f"{reference!r} names no model in MLflow. "
            "Give models:/name/version, models:/name@alias, models:/m-… or runs:/run_id/path."
        )
    return reference


def load(spec: Spec) -> LoadedModel:
    """Refuse: the model was not fetched."""
    raise ValueError(f"{spec.model!r} lies in MLflow and was not fetched")


KIND = ReferenceKind(
    title="a model in MLflow",
    position=5,
    recognise=recognise,
    load=load,
    heeds=frozenset({"custom_objects", "safe_mode", "endpoint"}),
    is_fetched=True,
)
