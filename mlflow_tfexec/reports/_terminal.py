"""What every text for a terminal is made of: lines that fit its width, labels, and prose that hangs."""

import io
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

DEFAULT_WIDTH = 120
"""Wide enough for the usual columns where nobody says how wide the terminal is."""

GAP = 2
"""Cells between two columns."""
INDENT = 2


def written(parts: Iterable["RenderableType"], *, width: int, color: bool) -> str:
    """Write *parts* one below the other, no line wider than *width* cells unless it says so itself.

    *color* True puts in ANSI colours for a terminal; False gives plain text for a file or a pipe.
    """
    from rich.console import Console

    content = io.StringIO()
    console = Console(
        file=content,
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=not color,
        markup=False,
        highlight=False,
        emoji=False,
        legacy_windows=False,
    )
    for part in parts:
        console.print(part)
    return "".join(f"{line.rstrip()}\n" for line in content.getvalue().splitlines())


def labelled(label: str, text: str, *, style: str = "", indent: int = 0) -> "RenderableType":
    """Put a label before *text*."""
    from rich.text import Text

    return indented(Text.assemble(f"{label}: ", (text, style)), indent)


def indented(text: "Text", indent: int = INDENT) -> "RenderableType":
    """Move *text* to the right, all its lines."""
    from rich.padding import Padding

    return Padding(text, (0, 0, 0, indent))


def hanging(marker: str, text: str, *, style: str, width: int = 0) -> "RenderableType":
    """Put *marker*, at least *width* wide, before *text*, whose later lines stay clear of it."""
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid.grid(padding=(0, GAP, 0, 0))
    grid.add_column(overflow="fold", min_width=width or None)
    grid.add_column(overflow="fold")
    grid.add_row(Text(marker, style=style), Text(text))
    return grid
