"""Bring a model that lies elsewhere to this machine, before anything is measured."""

import os
from collections.abc import Callable

from mlflow_tfexec.models import check_loading_options, is_fetched, resolve_reference
from mlflow_tfexec.protocol import ModelSource
from mlflow_tfexec.records.spec import Spec
from mlflow_tfexec.spool import SpooledBenchmark
from mlflow_tfexec.tracking.destination import Destination
from mlflow_tfexec.tracking.models import fetch_model


def fetch(spec: Spec, spooled: SpooledBenchmark, destination: Callable[[], Destination]) -> ModelSource | None:
    """Fetch the model of *spec* into the spool, from the store of *destination*, which is asked for only then.

    Returns:
        None: the reference says where the model lies on this machine.

    Raises:
        RequestError: the model cannot be had, or not with the options given; the spool's directory is removed.
    """
    if not is_fetched(spec.model):
        return None
    try:
        source = fetch_model(
            spec.model, uri=destination().reachable_uri(os.environ), directory=spooled.fetched.absolute()
        )
        path = resolve_reference(source.path)
        check_loading_options(spec.model_copy(update={"model": path}))
    except BaseException:
        spooled.discard()
        raise
    return source
