"""Every error a user can meet, each with its exit code and the next step in its text."""

EXIT_DONE = 0
EXIT_INCOMPLETE = 1
EXIT_BAD_REQUEST = 2
EXIT_REGRESSION = 3
EXIT_INTERRUPTED = 130


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
