"""Text and tables in GitHub's Markdown."""

import re
from collections.abc import Iterable, Iterator, Sequence

# Entities where a backslash would not do: readers differ on `\|` inside a table and on `\<` before HTML.
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;"}
# An underscore between two letters or digits is only itself.
_SPECIAL = re.compile(r"[&<>|]|[\\`*\[\]#!~{}$]|(?<![^\W_])_|_(?![^\W_])")


def table_rows(
    heads: Iterable[str], rows: Iterable[Sequence[str]], *, rules: Sequence[str] | None = None
) -> Iterator[str]:
    """Write a table line by line. Cells are taken as they are: escape what comes from outside.

    *rules* says how each column is aligned: `---` to the left, which is the default, `---:` to the right.
    """
    heads = list(heads)
    for cells in (heads, rules or ["---"] * len(heads), *rows):
        yield f"| {' | '.join(cells)} |"


def escaped(text: str) -> str:
    """Take every special meaning from one line of text."""
    return _SPECIAL.sub(lambda found: _ENTITIES.get(found[0], f"\\{found[0]}"), text)
