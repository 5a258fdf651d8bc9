"""Bring a model that lies elsewhere to this machine, before anything is measured."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from mlflow_tfexec.models import check_loading_options, is_fetched, resolve_reference
from mlflow_tfexec.protocol import ModelSource
from mlflow_tfexec.records.spec import Spec
from mlflow_tfexec.spool import place_for_model
from mlflow_tfexec.tracking.destination import Destination
from mlflow_tfexec.tracking.models import fetch_model


@contextmanager
def fetched(spec: Spec, root: Path, destination: Callable[[], Destination]) -> Iterator[ModelSource | None]:
    """Fetch the model of *spec*, from the store of *destination*, which is asked for only then, and remove it after.

    Args:
        spec: the first of those that are measured inside, which differ in sizes only.
        root: of the spool, in which the model lies meanwhile.
        destination: says where the store is.

    Yields:
        None: the reference says where the model lies on this machine.

    Raises:
        RequestError: the model cannot be had, or not with the options given.
    """
    if not is_fetched(spec.model):
        yield None
        return
    with place_for_model(root) as directory:
        source = fetch_model(spec.model, uri=destination().reachable_uri(os.environ), directory=directory)
        check_loading_options(spec.model_copy(update={"model": resolve_reference(source.path)}))
        yield source
