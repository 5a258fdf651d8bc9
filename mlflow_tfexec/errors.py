"""Every error a user can meet, each with its exit code and the next step in its text."""

from collections.abc import Mapping
from types import MappingProxyType

EXIT_DONE = 0
EXIT_INCOMPLETE = 1
EXIT_BAD_REQUEST = 2
EXIT_REGRESSION = 3
EXIT_INTERRUPTED = 130

EXIT_MEANINGS: Mapping[int, str] = MappingProxyType(
    {
        EXIT_DONE: "done",
        EXIT_INCOMPLETE: "not completed: fewer than eager and one more mode were measured, or any mode is not ok with "
        "`--strict`, or MLflow did not take the result",
        EXIT_BAD_REQUEST: "the request is wrong: nothing was measured and nothing written",
        EXIT_REGRESSION: "`check` found a regression, or with `--undecided fail` could not rule one out",
        EXIT_INTERRUPTED: "interrupted: what was complete is logged",
    }
)
"""What each exit code says, for the help and the README."""


class TfexecError(Exception):
    """Something went wrong that the user can act on.

    The text is one or two lines: the thing, its value, what to do.
    """

    exit_code = EXIT_INCOMPLETE


class RequestError(TfexecError):
    """The request is wrong: nothing was measured and no run was created."""

    exit_code = EXIT_BAD_REQUEST


class RecordingError(RequestError):
    """A recording is missing, is not one of ours, or was written by a later format."""


class TrackingError(RequestError):
    """The tracking server or store cannot be used as asked."""


class SpoolError(TfexecError):
    """What was measured could not be written to disk."""


class LoggingFailed(TfexecError):  # noqa: N818 - reads as the sentence it is
    """MLflow did not take what was to be written. A measurement is on disk, and `sync` will try again."""


class Interrupted(KeyboardInterrupt):
    """The user or the system asked us to stop.

    No TfexecError, and no Exception: a library that catches everything must not swallow it.
    """
