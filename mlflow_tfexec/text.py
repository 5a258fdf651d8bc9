"""Text from outside made safe to lay out: one line, nothing that steers a terminal or hides."""

import unicodedata

# A spreadsheet takes a cell that begins so for a formula: https://owasp.org/www-community/attacks/CSV_Injection
_FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # noqa: RUF001 - full-width forms count as well


def plain(text: str) -> str:
    r"""Return *text* on one line, without control characters, direction marks or broken surrogates.

    >>> plain("two\nlines\x1b[2J")
    'two lines [2J'
    """
    return " ".join("".join(map(_visible, text)).split())


def _visible(character: str) -> str:
    """Return what may stand for one character."""
    category = unicodedata.category(character)
    if category in {"Cc", "Zl", "Zp"}:
        return " "
    # Direction overrides show a text other than the one that is compared and searched.
    if category == "Cf":
        return ""
    return "\N{REPLACEMENT CHARACTER}" if category == "Cs" else character


def spreadsheet_cell(text: str) -> str:
    """Return *text* as `plain` does, with a leading apostrophe if a spreadsheet would take it for a formula.

    >>> spreadsheet_cell("=1+1")
    "'=1+1"
    """
    text = plain(text)
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def shortened(text: str, length: int) -> str:
    """Return *text* cut to at most *length* characters, with an ellipsis where something is missing."""
    return text if len(text) <= length else text[: length - 1] + "…"
