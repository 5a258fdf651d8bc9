"""Keep passwords and tokens out of everything that is shown or stored."""

import re
from collections.abc import Mapping
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit

# Schemes whose "//" is followed by a path: an "@" there belongs to a folder's name.
_PATH_SCHEMES = frozenset({"", "file", "sqlite"})
_SECRET_NAMES = re.compile(r"passw|pwd|secret|token|odbc_connect", re.IGNORECASE)
_SECRET_VARIABLES = ("MLFLOW_TRACKING_PASSWORD", "MLFLOW_TRACKING_TOKEN", "DATABRICKS_TOKEN")
_SHORTEST_SECRET = 4
"""A shorter one is not searched for in text on its own: it would blank out ordinary words."""


def without_credentials(uri: str) -> str:
    """Strip user, password and secret query parameters from a tracking URI.

    >>> without_credentials("https://me:pw@mlflow.example:5000/team?token=t&ssl=on")
    'https://mlflow.example:5000/team?ssl=on'
    """
    parts = urlsplit(uri)
    if parts.scheme in _PATH_SCHEMES:
        return uri
    userinfo = _userinfo(parts)
    stripped = uri.replace(f"//{userinfo}@", "//", 1) if userinfo is not None else uri
    if any(_SECRET_NAMES.search(name) for name, _ in _query(parts)):
        kept = urlencode([(name, value) for name, value in _query(parts) if not _SECRET_NAMES.search(name)])
        stripped = stripped.replace(f"?{parts.query}", f"?{kept}" if kept else "", 1)
    return stripped


def strip_userinfo(text: str) -> str:
    """Strip the user and password from every URL inside *text*."""
    return re.sub(r"(?<=://)[^/\s@'\"]+@", "", text)


def secrets_of(uri: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Collect the secrets in *uri* and in MLflow's environment variables, as written and decoded, longest first."""
    found = {environ.get(name, "") for name in _SECRET_VARIABLES}
    parts = urlsplit(uri)
    if parts.scheme not in _PATH_SCHEMES:
        userinfo = _userinfo(parts)
        if userinfo is not None:
            user, colon, password = userinfo.partition(":")
            found |= {userinfo, password if colon else user}
        found |= {value for name, value in _query(parts) if _SECRET_NAMES.search(name)}
    found |= {unquote(secret) for secret in found}
    return tuple(sorted((secret for secret in found if len(secret) >= _SHORTEST_SECRET), key=len, reverse=True))


def redact(text: str, secrets: tuple[str, ...]) -> str:
    """Blank every one of *secrets*, and any user and password in a URL, out of *text*."""
    text = strip_userinfo(text)
    for secret in secrets:
        text = text.replace(secret, "***")
    return text


def _userinfo(parts: SplitResult) -> str | None:
    userinfo, at, _ = parts.netloc.rpartition("@")
    return userinfo if at else None


def _query(parts: SplitResult) -> list[tuple[str, str]]:
    return parse_qsl(parts.query, keep_blank_values=True)
