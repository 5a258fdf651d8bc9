"""Write the reference of the commands into the README, read off the commands themselves.

`python docs/reference.py` writes it anew; with `--check` it only says whether the README is up to date (exit 1: no).
What it says is what `--help` says: names, defaults and texts come from the signatures under `mlflow_tfexec/cli/`.
"""

import dataclasses
import inspect
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

from typer.models import OptionInfo

from mlflow_tfexec.cli.app import build_app
from mlflow_tfexec.cli.query_options import QueryOptions
from mlflow_tfexec.errors import EXIT_MEANINGS

README = Path(__file__).parents[1] / "README.md"
BEGIN = "<!-- reference: written by docs/reference.py, from the code -->"
END = "<!-- end of the reference -->"
QUERY_HEAD = "### `QUERY`\n\nAll that is given must hold, and values are compared exactly."
QUERY = [field.name for field in dataclasses.fields(QueryOptions)]


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One option or argument of a command."""

    name: str
    """Of the function's parameter."""
    flag: str | None
    """As it is typed, dashes included. None: an argument."""
    default: Any
    """`inspect.Parameter.empty` where there is none."""
    meaning: str
    several: bool

    @property
    def required(self) -> bool:
        """Say whether it must be given."""
        return self.default is inspect.Parameter.empty

    @property
    def placeholder(self) -> str:
        """The word for its value in a usage line."""
        return (self.flag or self.name).strip("-").replace("-", "_").upper()


def main(arguments: Sequence[str]) -> int:
    """Write the README, or with `--check` compare it; return the exit code."""
    before = README.read_text(encoding="utf-8")
    after = updated(before)
    if arguments == ["--check"]:
        if after != before:
            sys.stderr.write("README.md and the commands differ. Write it anew: python docs/reference.py\n")
        return int(after != before)
    README.write_text(after, encoding="utf-8")
    return 0


def updated(readme: str) -> str:
    """Put the reference between its two marks. Raises ValueError if these are not there, each once and in order."""
    if (readme.count(BEGIN), readme.count(END)) != (1, 1) or readme.index(BEGIN) > readme.index(END):
        raise ValueError(f"README.md needs the lines {BEGIN!r} and {END!r}, in this order.")
    head, _, rest = readme.partition(BEGIN)
    return f"{head}{BEGIN}\n\n{reference()}\n{END}{rest.partition(END)[2]}"


def reference() -> str:
    """Describe every command, the options of a query once for all that take them, and the exit codes."""
    commands = {str(info.name): info.callback for info in build_app().registered_commands}
    parts = ["\n".join(_command(name, callback)) for name, callback in commands.items()]
    asked = next(found for found in map(parameters, commands.values()) if _takes_query(found))
    query = "\n".join([QUERY_HEAD, "", *_table(one for one in asked if one.name in QUERY)])
    codes = "\n".join(f"- {code}: {meaning}." for code, meaning in EXIT_MEANINGS.items())
    return "\n\n".join([*parts, query, f"### Exit codes\n\n{codes}"]) + "\n"


def parameters(command: Any) -> list[Parameter]:
    """Read what a command takes off its signature, which is where typer reads it, in order."""
    return [_parameter(one) for one in inspect.signature(command, eval_str=True).parameters.values()]


def _parameter(one: inspect.Parameter) -> Parameter:
    kind, said = get_args(one.annotation)
    # In an annotation typer takes the first text for a name, wherever its signature puts it.
    names = [text for text in (said.default, *(said.param_decls or ())) if isinstance(text, str)]
    flag = None
    if isinstance(said, OptionInfo):
        flag = next((text for text in names if text.startswith("--")), f"--{one.name.replace('_', '-')}")
    default = one.default
    if flag is not None and "/" in flag:
        # A switch that may also be given a value has one to show.
        flag, default = flag.partition("/")[0], str(default).lower()
    return Parameter(one.name, flag, default, _markdown(said.help), several="list" in str(kind))


def _command(name: str, command: Any) -> Iterator[str]:
    """Describe one command: how it is called, what it does, what it takes."""
    found = parameters(command)
    takes_query = _takes_query(found)
    own = [parameter for parameter in found if not (takes_query and parameter.name in QUERY)]
    own.sort(key=lambda parameter: parameter.flag is not None)
    words = ["mlflow-tfexec", name, *filter(None, map(_word, own))]
    words += ["[QUERY]"] if takes_query else []
    words += ["[OPTIONS]"] if any(parameter.flag and not parameter.required for parameter in own) else []
    yield f"### `{' '.join(words)}`"
    yield ""
    yield _markdown(inspect.getdoc(command).splitlines()[0])
    if own:
        yield ""
        yield from _table(own)


def _takes_query(found: Iterable[Parameter]) -> bool:
    return {parameter.name for parameter in found} >= set(QUERY)


def _word(parameter: Parameter) -> str | None:
    """Write what must or may be named in a usage line. None: an option that may be left out."""
    if parameter.flag is not None:
        return f"{parameter.flag} {parameter.placeholder}" if parameter.required else None
    name = parameter.placeholder if parameter.required else f"[{parameter.placeholder}]"
    return f"{name}..." if parameter.several else name


def _table(found: Iterable[Parameter]) -> Iterator[str]:
    yield "| | default | |"
    yield "|---|---|---|"
    for one in found:
        # An argument's need is in the usage line; a switch, and an option that may be repeated, have no text for it.
        default = "required" if one.flag and one.required else one.default if isinstance(one.default, str) else ""
        yield f"| `{one.flag or one.placeholder}` | {default} | {one.meaning} |"


def _markdown(text: str) -> str:
    """Escape what would end a cell or begin markup; backticks stay."""
    return " ".join(text.split()).replace("|", r"\|").replace("<", "&lt;").replace("*", r"\*")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
