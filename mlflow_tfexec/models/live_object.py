"""The name of a live object, `live:/name`, as recordings of benchmarks from Python hold it: nothing loads by it."""

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.models._reference import LoadedModel, ReferenceKind
from mlflow_tfexec.records.spec import Spec, is_live


def recognise(reference: str) -> str | None:
    """Refuse any reference that begins as such a name does."""
    if not is_live(reference):
        return None
    raise RequestError(
        f"{reference!r} was an object of a Python program, which no reference finds again. "
        "Measure it from there with mlflow_tfexec.benchmark, or give path/to/file.py:function."
    )


def load(spec: Spec) -> LoadedModel:
    """Refuse: the calling program brings its object along."""
    raise ValueError(f"{spec.model!r} was not brought along")


KIND = ReferenceKind(title="a live object", position=6, recognise=recognise, load=load)
