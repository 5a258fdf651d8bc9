"""The options that ask for benchmarks instead of naming them: the same in every command that takes them."""

import functools
import inspect
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlflow_tfexec.benchmarking.request import AUTO, unless_auto, whole
from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.tracking.filters import DEFAULT_LIMIT

if TYPE_CHECKING:
    from mlflow_tfexec.tracking.filters import Query

_MOST = 100_000

TrackingUriOption = Annotated[str, typer.Option("--tracking-uri", help="Where to look; auto: MLflow's own setting.")]


@dataclass(frozen=True)
class QueryOptions:
    """The options of a query as text, as the shell gives them. Each field is an option of the commands that ask."""

    model: Annotated[str, typer.Option(help="Only of this model: the tag `tfexec.model`, as `runs` shows it.")] = AUTO
    experiment: Annotated[
        list[str] | None,
        typer.Option(help="Only in this experiment; may be given several times. Otherwise in all experiments."),
    ] = None
    gpu: Annotated[str, typer.Option(help="Only on a GPU of this name, such as 'NVIDIA T4': `tfexec.gpu.name`.")] = AUTO
    tf_version: Annotated[str, typer.Option(help="Only with this version of TensorFlow: `tfexec.tf.version`.")] = AUTO
    mode: Annotated[str, typer.Option(help="Only those that have this mode, measured or failed.")] = AUTO
    task: Annotated[str, typer.Option(help="Only of this task: `tfexec.task`.")] = AUTO
    family: Annotated[
        str, typer.Option(help="Only of this sweep over batch sizes or shapes: the tag `tfexec.family`.")
    ] = AUTO
    since: Annotated[
        str,
        typer.Option(
            help="Only those that began then or later: a day, a time in UTC such as 2026-01-31T12:00, or a span "
            "back from now such as 30min, 12h, 7d or 2w."
        ),
    ] = AUTO
    until: Annotated[
        str, typer.Option(help="Only those that began then or earlier, said likewise; a day counts to its end.")
    ] = AUTO
    filter: Annotated[
        str, typer.Option(help="Only those whose own run, the parent, matches this in MLflow's search grammar.")
    ] = AUTO
    limit: Annotated[str, typer.Option(help=f"The newest so many; auto: {DEFAULT_LIMIT}.")] = AUTO

    @property
    def experiments(self) -> tuple[str, ...]:
        """Name the experiments that are asked for; none: all."""
        return tuple(name for name in self.experiment or () if unless_auto(name) is not None)

    @property
    def given(self) -> dict[str, str]:
        """Name the options that ask for something, `--` included, with what was said."""
        said = {f"--{name.replace('_', '-')}": getattr(self, name) for name in _NAMES if name != "experiment"}
        given = {option: text for option, text in said.items() if unless_auto(text) is not None}
        return given | ({"--experiment": ", ".join(self.experiments)} if self.experiments else {})


_NAMES = tuple(field.name for field in fields(QueryOptions))


def takes_query(command: Callable[..., int]) -> Callable[..., int]:
    """Give *command* an option for each field of QueryOptions, in the place of its parameter `query`.

    typer reads the options of a command off its signature, so that is where they are put.
    """
    signature = inspect.signature(command)

    @functools.wraps(command)
    def with_query(**given: Any) -> int:
        return command(query=QueryOptions(**{name: given.pop(name) for name in _NAMES}), **given)

    parameters = list(signature.parameters.values())
    [place] = [place for place, parameter in enumerate(parameters) if parameter.name == "query"]
    options = [
        option.replace(kind=option.KEYWORD_ONLY) for option in inspect.signature(QueryOptions).parameters.values()
    ]
    parameters[place : place + 1] = options
    with_query.__dict__["__signature__"] = signature.replace(parameters=parameters)
    return with_query


def build_query(options: QueryOptions, *, default_limit: int | None = None) -> "Query":
    """Check every option and put them together.

    Args:
        options: what was asked for.
        default_limit: benchmarks at most where --limit says nothing. None: 20.

    Raises:
        RequestError: one option cannot be right; the text names it, its value, and what would be.
    """
    from mlflow_tfexec.tracking import filters

    now_ms = int(time.time() * 1000)
    since, until, limit = unless_auto(options.since), unless_auto(options.until), unless_auto(options.limit)
    query = filters.Query(
        model=unless_auto(options.model),
        gpu=unless_auto(options.gpu),
        tf_version=unless_auto(options.tf_version),
        mode=unless_auto(options.mode),
        task=unless_auto(options.task),
        family=unless_auto(options.family),
        since_ms=None if since is None else filters.since_ms(since, now_ms=now_ms),
        until_ms=None if until is None else filters.until_ms(until, now_ms=now_ms),
        extra=unless_auto(options.filter),
        experiments=options.experiments,
        limit=whole("limit", limit, most=_MOST) if limit else default_limit or DEFAULT_LIMIT,
    )
    if query.since_ms is not None and query.until_ms is not None and query.since_ms > query.until_ms:
        raise RequestError(f"--since {since!r} is later than --until {until!r}: nothing lies between. Exchange them.")
    return query


def none_found(options: QueryOptions) -> str:
    """Say that no benchmark matches, and what was asked."""
    from mlflow_tfexec.tracking.filters import shown

    asked = [f"{option} {shown(text)}" for option, text in options.given.items() if option != "--limit"]
    if not asked:
        return "No benchmark is in this tracking store. Look in another with --tracking-uri."
    return f"No benchmark matches {' '.join(asked)}. Values are compared exactly; `mlflow-tfexec runs` lists them."
