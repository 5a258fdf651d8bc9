"""One way to talk to MLflow: quietly, with bounded patience, and with failures told in one line."""

import logging
import os
import re
import socket
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from mlflow_tfexec.errors import TfexecError, TrackingError
from mlflow_tfexec.tracking.credentials import redact, secrets_of, without_credentials

RETRIES = "MLFLOW_HTTP_REQUEST_MAX_RETRIES"
TIMEOUT = "MLFLOW_HTTP_REQUEST_TIMEOUT"

REACHING: Mapping[str, str] = MappingProxyType({RETRIES: "1", TIMEOUT: "5"})
"""Before measuring: someone waits at the prompt, and MLflow's own 7 retries take more than two minutes."""

TRANSFERRING: Mapping[str, str] = MappingProxyType({RETRIES: "3", TIMEOUT: "60"})
"""Once it has answered. What is sent is safe on disk and can be sent again, so a dead server costs a quarter minute."""

_SILENCE: Mapping[str, str] = MappingProxyType(
    {
        # Without this, ending a run costs one more request and prints a line to stdout.
        "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
        "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    }
)

# MLflow tries to open such a database for 100 seconds, whatever the reason that it cannot.
_DATABASE_SERVERS = ("postgresql", "mysql")
_KNOCK_TIMEOUT_S = 5.0

# A page in place of MLflow's JSON: what MLflow says then holds the whole page.
_NOT_MLFLOW = re.compile(r"^API request to endpoint .* (failed with error code (?P<status>\d+)|valid JSON format)")

_LONGEST_REASON = 200

_NOT_FOUND = 404


@dataclass(frozen=True)
class Purpose:
    """What a tracking store is wanted for, which decides what to do where it cannot be used."""

    otherwise: str
    """What helps beside starting it."""
    elsewhere: str
    """What to do instead of moving a folder of files into a database."""


MEASURING = Purpose(
    otherwise="or measure now with --offline and run `mlflow-tfexec sync` later",
    elsewhere="keep this benchmark elsewhere with `--tracking-uri sqlite:///mlflow.db`",
)
QUERYING = Purpose(
    otherwise="or give `mlflow-tfexec report` the path of a recording, which needs no store",
    elsewhere="look in another store with --tracking-uri",
)
NAMING = Purpose(
    otherwise="or give the path of a recording instead of the run id",
    elsewhere="look in another store with --tracking-uri",
)
REPORTING = Purpose(
    otherwise="or leave out --log",
    elsewhere="keep this report elsewhere with `--tracking-uri sqlite:///mlflow.db`",
)
ATTACHING = Purpose(
    otherwise="and run the command again",
    elsewhere="name another store with --tracking-uri",
)


@contextmanager
def quiet(patience: Mapping[str, str], uri: str | None = None) -> Iterator[None]:
    """Talk to MLflow with nothing on stdout or stderr, and with *patience* where the user has set none.

    *uri* is where to, credentials included: some releases of MLflow 3 look for a run's artifacts not where their client
    was told to, but where the environment says.

    MLflow reads its settings from the environment at each request, so they are set there for the while.
    Logging is switched off as a whole because alembic configures its own loggers when a database is created.
    """
    settings = {name: value for name, value in patience.items() if name not in os.environ}
    settings.update(_SILENCE)
    if uri is not None:
        settings["MLFLOW_TRACKING_URI"] = uri
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with environment(settings), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)


@contextmanager
def environment(settings: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for the while, and put back what was there."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def reached(uri: str, purpose: Purpose = MEASURING) -> Iterator[None]:
    """Turn whatever MLflow raises inside into a TrackingError that says what to do."""
    try:
        yield
    except TfexecError:
        raise
    except Exception as error:  # noqa: BLE001 - store plugins, SQL drivers and HTTP raise types of their own
        shown = without_credentials(uri)
        if urlsplit(uri).scheme in {"", "file"}:
            raise TrackingError(
                f"Tracking store {shown!r} is a folder of files, which MLflow no longer uses. "
                f"Move it into a database with `mlflow migrate-filestore`,\nor {purpose.elsewhere}."
            ) from None
        kind = "server" if shown.startswith("http") else "store"
        raise TrackingError(
            f"Cannot use the MLflow tracking {kind} at {shown}: {reason(error, uri)}.\n"
            f"Start it or correct --tracking-uri, {purpose.otherwise}."
        ) from None


def connect(uri: str) -> Any:
    """Make an `mlflow.MlflowClient` for *uri*, credentials included. A database is opened, a server not yet asked.

    Raises:
        OSError: the port of a database server takes no connection.
        Exception: the driver's own, where the database server refuses us.
    """
    parts = urlsplit(uri)
    if parts.scheme.startswith(_DATABASE_SERVERS):
        # Several hosts, or a socket file: left to the driver, which knows how to read them.
        if parts.hostname and re.search(r":\d+$", parts.netloc):
            socket.create_connection((parts.hostname, parts.port or 0), timeout=_KNOCK_TIMEOUT_S).close()
        _enter(uri)
    from mlflow import MlflowClient

    return MlflowClient(tracking_uri=uri)


def _enter(uri: str) -> None:
    """Open a database once, as MLflow will, to learn of a wrong password or a missing driver at once."""
    from sqlalchemy import create_engine
    from sqlalchemy.exc import DBAPIError
    from sqlalchemy.pool import NullPool

    try:
        create_engine(uri, poolclass=NullPool).connect().close()
    except DBAPIError as error:
        # What the driver says, without SQLAlchemy's link to its manual.
        raise error.orig or error from None


def is_absent(error: Exception) -> bool:
    """Say whether MLflow answered that the run or experiment does not exist.

    A server that is no MLflow answers 404 too, without MLflow's JSON; that is not counted.
    """
    return getattr(error, "error_code", None) == "RESOURCE_DOES_NOT_EXIST" and not str(error).startswith("API request")


def is_gone(error: Exception) -> bool:
    """Say whether an artifact store answered that there is no such file."""
    return (
        is_absent(error)
        or any(isinstance(link, FileNotFoundError) for link in _chain(error))
        or any(_http_status(link) == _NOT_FOUND for link in _chain(error))
    )


def reason(error: BaseException, uri: str) -> str:
    """Put the root of *error* into one line without credentials."""
    status = _http_status(error)
    if status in {401, 403}:
        return (
            f"it refused the credentials (HTTP {status}); "
            "check MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or MLFLOW_TRACKING_TOKEN"
        )
    strange = _NOT_MLFLOW.search(str(error))
    if strange:
        return f"it answers, but not as MLflow does (HTTP {strange['status'] or 200})"
    text = _root(error) or " ".join(str(error).split()) or type(error).__name__
    text = redact(text, secrets_of(uri, os.environ)).rstrip(".")
    return text if len(text) <= _LONGEST_REASON else text[: _LONGEST_REASON - 1] + "…"


def _http_status(error: BaseException) -> int | None:
    """Read the HTTP status off an MLflow or requests exception."""
    response = getattr(error, "response", None)
    if response is not None and hasattr(response, "status_code"):
        return int(response.status_code)
    if hasattr(error, "get_http_status_code"):
        return int(error.get_http_status_code())
    return None


def _root(error: BaseException) -> str | None:
    """Find what the operating system, the network or a failing server said, at the bottom of the pile of wrappers.

    None: it was not a matter of the network.
    """
    found = None
    for link in _chain(error):
        strerror = getattr(link, "strerror", None)
        if isinstance(link, OSError) and isinstance(strerror, str):
            found = strerror
        elif "Timeout" in type(link).__name__ and found is None:
            found = "no answer in time"
        elif type(link).__name__ == "ResponseError":  # urllib3's, such as "too many 503 error responses"
            found = str(link)
    return found


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Walk an exception's causes, urllib3's `reason` and requests' wrapped argument included, each once."""
    waiting, seen = [error], set()
    while waiting:
        link = waiting.pop(0)
        if id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        inner = (link.__cause__, link.__context__, getattr(link, "reason", None), *link.args)
        waiting.extend(one for one in inner if isinstance(one, BaseException))
