"""Wall-clock time as the recording writes it."""

from datetime import datetime, timezone


def utc_now() -> str:
    """Return the present time in UTC, ISO 8601 with milliseconds, such as `2026-01-31T12:00:00.000Z`."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
