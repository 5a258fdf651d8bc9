"""A diagnosis for people: grouped, what is in order in one line, what is not with its reason and its cure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mlflow_tfexec.diagnosis._check import Check, Result
from mlflow_tfexec.reports._terminal import DEFAULT_WIDTH, INDENT, hanging, written
from mlflow_tfexec.text import plain
from mlflow_tfexec.units import count

if TYPE_CHECKING:
    from rich.console import RenderableType

_MARKS = {"ok": ("✓", "green"), "note": ("!", "yellow"), "problem": ("✗", "red"), "unknown": ("?", "magenta")}


def to_text(
    diagnosis: Mapping[Check, Sequence[Result]],
    *,
    ready: bool,
    start: str | None,
    width: int | None = None,
    color: bool = False,
) -> str:
    """Write the results by group, then whether a benchmark can run, then the line that starts one."""
    return written(_parts(diagnosis, ready=ready, start=start), width=width or DEFAULT_WIDTH, color=color)


def _parts(
    diagnosis: Mapping[Check, Sequence[Result]], *, ready: bool, start: str | None
) -> Iterator["RenderableType"]:
    from rich.text import Text

    groups: dict[str, list[Result]] = {}
    for check, results in diagnosis.items():
        groups.setdefault(check.group, []).extend(results)
    for group, results in groups.items():
        if results:
            yield Text(group, style="bold")
            for result in results:
                yield from _result(result)
            yield Text()
    conclusion = _conclusion([result for results in groups.values() for result in results], ready=ready)
    yield Text(f"{conclusion}{':' if start is not None and ready else '.'}", style="bold")
    if start is not None and ready:
        # For copying: it stays whole, however narrow the terminal.
        yield Text(f"{' ' * INDENT}{start}", no_wrap=True, overflow="ignore")


def _result(result: Result) -> Iterator["RenderableType"]:
    from rich.padding import Padding

    mark, style = _MARKS[result.status]
    lines = [plain(result.found)]
    if result.why is not None:
        lines.append(plain(result.why))
    if result.do is not None:
        lines.append(f"→ {plain(result.do)}")
    yield Padding(hanging(mark, "\n".join(lines), style=style), (0, 0, 0, INDENT))


def _conclusion(results: Sequence[Result], *, ready: bool) -> str:
    names = {"problem": ("problem", "problems"), "unknown": ("unknown", "unknown"), "note": ("note", "notes")}
    counts = [
        count(number, *words)
        for status, words in names.items()
        if (number := sum(result.status == status for result in results))
    ]
    beside = f" ({', '.join(counts)})" if counts else ""
    return f"{'A benchmark can run here' if ready else 'It is not shown that a benchmark can run here'}{beside}"
