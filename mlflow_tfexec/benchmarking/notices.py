"""Lines for people, beside the report: always on standard error."""

import sys


def say(line: str) -> None:
    """Write one line, with the command's name before it."""
    sys.stderr.write(f"mlflow-tfexec: {line}\n")
    sys.stderr.flush()
