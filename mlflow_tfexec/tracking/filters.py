"""From what is asked for to MLflow's search grammar. Pure: no MLflow.

MLflow reads a filter with sqlparse. A string there is anything between two quotes of one kind, taken as it stands:
neither a doubled quote nor a backslash is undone. But a quote behind a backslash ends a string only if no other quote
of its kind follows. So a value is said exactly, or it is refused here.
Source: `mlflow.utils.search_utils.SearchUtils.parse_search_filter`, `SQL_REGEX` of sqlparse.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.tracking import keys

LONGEST_VALUE = 8000
"""Characters of a tag at most; MLflow cuts what is longer."""

DEFAULT_LIMIT = 20

_START = "attributes.start_time"
_QUOTES = ("'", '"')

_SPAN = re.compile(r"([0-9]{1,6}) ?(min|h|d|w)", re.IGNORECASE)
_UNITS = {"min": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_INSTANT = re.compile(_DAY.pattern + r"[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2})?([Zz]|[+-][0-9]{2}:[0-9]{2})?")

# A mode starts within the first launch of its benchmark.
_LONGEST_START_MS = 24 * 3600 * 1000

_SHOWN = 80


@dataclass(frozen=True)
class Query:
    """Which benchmarks are asked for. None: anything will do."""

    model: str | None = None
    gpu: str | None = None
    tf_version: str | None = None
    task: str | None = None
    family: str | None = None
    """Of one sweep over batch sizes or shapes."""
    mode: str | None = None
    """A mode that the benchmark has, measured or failed."""
    since_ms: int | None = None
    """Started then or later; milliseconds since 1970, UTC."""
    until_ms: int | None = None
    """Started then or earlier."""
    extra: str | None = None
    """More conditions on the benchmark's own run, in MLflow's grammar."""
    experiments: tuple[str, ...] = ()
    """Names; none: all experiments."""
    limit: int = DEFAULT_LIMIT
    """Benchmarks at most, the newest."""


def benchmark_filter(query: Query, run_ids: Sequence[str] = ()) -> str:
    """Write the filter for the parent runs of *query*, save for its mode; *run_ids* narrows it to these runs.

    Raises:
        RequestError: a value cannot be said in MLflow's grammar.
    """
    plain = [f"{_START} >= {query.since_ms}"] if query.since_ms is not None else []
    plain += [f"{_START} <= {query.until_ms}"] if query.until_ms is not None else []
    if run_ids:
        plain.append(f"attributes.run_id IN ({', '.join(map(_quoted_id, run_ids))})")
    return _joined(keys.KIND_BENCHMARK, _tags(query), plain, query.extra)


def mode_filter(query: Query) -> str:
    """Write the filter for the nested runs of the mode of *query*.

    It holds no more than what nested runs know: `extra` and the exact times are the parent's.

    Raises:
        RequestError: a value cannot be said in MLflow's grammar.
    """
    plain = [f"{_START} >= {query.since_ms}"] if query.since_ms is not None else []
    plain += [f"{_START} <= {query.until_ms + _LONGEST_START_MS}"] if query.until_ms is not None else []
    mode = [("--mode", keys.MODE, query.mode)] if query.mode is not None else []
    return _joined(keys.KIND_MODE, [*_tags(query), *mode], plain, None)


def since_ms(text: str, *, now_ms: int) -> int:
    """Read `--since`: a day, a time, or a span back from now such as `7d`. A day begins at midnight UTC.

    >>> since_ms("2026-01-31", now_ms=0), since_ms("12h", now_ms=50_000_000)
    (1769817600000, 6800000)

    Raises:
        RequestError: it is none of these.
    """
    return _moment("--since", text, now_ms=now_ms)


def until_ms(text: str, *, now_ms: int) -> int:
    """Read `--until`, as `since_ms` does, except that a day counts to its end.

    Raises:
        RequestError: it is none of these.
    """
    last = timedelta(days=1) - timedelta(milliseconds=1) if _DAY.fullmatch(text.strip()) else timedelta()
    return _moment("--until", text, now_ms=now_ms) + int(last.total_seconds() * 1000)


def _moment(option: str, text: str, *, now_ms: int) -> int:
    value = text.strip()
    span = _SPAN.fullmatch(value)
    if span:
        back = timedelta(**{_UNITS[span[2].lower()]: int(span[1])})
        # Everything is later than 1970.
        return max(0, now_ms - int(back.total_seconds()) * 1000)
    if not (_DAY.fullmatch(value) or _INSTANT.fullmatch(value)):
        raise RequestError(_no_time(option, text))
    try:
        # Python 3.10 does not read the Z.
        moment = datetime.fromisoformat(re.sub("[zZ]$", "+00:00", value))
    except ValueError:
        raise RequestError(_no_time(option, text)) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    milliseconds = int(moment.timestamp() * 1000)
    if milliseconds < 0:
        raise RequestError(f"{option} {text!r} is before 1970, when MLflow's time begins. Give a later one.")
    return milliseconds


def _no_time(option: str, text: str) -> str:
    return (
        f"{option} {shown(text)} is no time. Give a day such as 2026-01-31, a time such as 2026-01-31T12:00 (UTC), "
        "or a span back from now such as 12h or 7d."
    )


def _tags(query: Query) -> list[tuple[str, str, str]]:
    """List (option, tag, value) of what parents and nested runs carry alike."""
    asked = (
        ("--model", keys.MODEL, query.model),
        ("--gpu", keys.GPU_NAME, query.gpu),
        ("--tf-version", keys.TF_VERSION, query.tf_version),
        ("--task", keys.TASK, query.task),
        ("--family", keys.FAMILY, query.family),
    )
    return [(option, tag, value) for option, tag, value in asked if value is not None]


def _joined(kind: str, tags: Sequence[tuple[str, str, str]], plain: Sequence[str], extra: str | None) -> str:
    """Put conditions together from the last to the first, so that each value is quoted with a view to what follows.

    *extra* comes last: whatever is wrong with its quotes, it cannot reach back into ours.
    """
    text = " AND ".join([*plain, *([extra] if extra is not None else [])])
    for option, tag, value in reversed(tags):
        condition = f"tags.`{tag}` = {_quoted(option, value, following=text)}"
        text = f"{condition} AND {text}" if text else condition
    first = f"tags.`{keys.KIND}` = '{kind}'"
    return f"{first} AND {text}" if text else first


def _quoted(option: str, value: str, *, following: str) -> str:
    """Put *value* between quotes that end where they should. Raises RequestError if there are none."""
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise RequestError(f"{option} {shown(value)} is not text that a tracking store can hold. Correct it.")
    if len(value) > LONGEST_VALUE:
        raise RequestError(
            f"{option} {shown(value)} has {len(value)} characters, and a tag at most {LONGEST_VALUE}. Shorten it."
        )
    for quote in _QUOTES:
        if quote not in value and not (value.endswith("\\") and quote in following):
            return f"{quote}{value}{quote}"
    why = "ends in a backslash" if value.endswith("\\") else "has both kinds of quotes"
    raise RequestError(
        f"{option} {shown(value)} {why}, which MLflow's search cannot take here. "
        "Leave the option out, or give a part of the value in --filter with LIKE '%…%'."
    )


def _quoted_id(run_id: str) -> str:
    if not re.fullmatch(r"[\w-]+", run_id):
        raise RequestError(f"Run id {shown(run_id)} cannot be looked up in MLflow.")
    return f"'{run_id}'"


def shown(text: str) -> str:
    """Quote *text* for a message, cut to what fits into a line."""
    return repr(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…")
