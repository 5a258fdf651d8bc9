"""Bring a model that lies elsewhere to this machine, before anything is measured."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from mlflow_tfexec.benchmarking.notices import say
from mlflow_tfexec.models import check_loading_options, is_fetched, resolve_reference
from mlflow_tfexec.protocol import ModelSource
from mlflow_tfexec.records.spec import Spec
from mlflow_tfexec.spool import place_for_model
from mlflow_tfexec.tracking.destination import Destination
from mlflow_tfexec.tracking.downloading import Download
from mlflow_tfexec.tracking.models import fetch_model
from mlflow_tfexec.units import BYTES_PER_MB, count, memory


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
        uri = destination().reachable_uri(os.environ)
        source = fetch_model(spec.model, uri=uri, directory=directory, tell=lambda now: say(download_sentence(now)))
        check_loading_options(spec.model_copy(update={"model": resolve_reference(str(source.path))}))
        yield source


def download_sentence(download: Download) -> str:
    """Say what is fetched and how large it is, or how much of it has come.

    >>> download_sentence(Download("models:/net/3", 4, 850 * 2**20))
    'fetching models:/net/3 from MLflow: 4 files, 850 MiB'
    >>> download_sentence(Download("models:/net/3", 4, 850 * 2**20, done_bytes=90 * 2**20))
    'fetching models:/net/3: 90 MiB of 850 MiB'
    """
    whole = None if download.total_bytes is None else _size(download.total_bytes)
    if download.done_bytes is None:
        size = f", {whole}" if whole else ""
        return f"fetching {download.reference} from MLflow: {count(download.files, 'file', 'files')}{size}"
    return f"fetching {download.reference}: {_size(download.done_bytes)}{f' of {whole}' if whole else ''}"


def _size(number_bytes: int) -> str:
    return memory(number_bytes / BYTES_PER_MB) if number_bytes >= BYTES_PER_MB else "less than 1 MiB"
