"""The options that ask for benchmarks instead of naming them: the same in every command that takes them."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from mlflow_tfexec.cli.request import AUTO, unless_auto, whole
from mlflow_tfexec.errors import RequestError

if TYPE_CHECKING:
    from mlflow_tfexec.tracking.filters import Query

_MOST = 100_000

ModelOption = Annotated[str, typer.Option("--model", help="Only of this model, as `runs` shows it.")]
ExperimentOption = Annotated[
    list[str] | None, typer.Option("--experiment", help="Only in this experiment; may be given several times.")
]
GpuOption = Annotated[str, typer.Option("--gpu", help="Only on a GPU of this name, such as 'NVIDIA T4'.")]
TfVersionOption = Annotated[str, typer.Option("--tf-version", help="Only with this version of TensorFlow.")]
ModeOption = Annotated[str, typer.Option("--mode", help="Only those that have this mode, measured or failed.")]
TaskOption = Annotated[str, typer.Option("--task", help="Only of this task.")]
FamilyOption = Annotated[str, typer.Option("--family", help="Only of this sweep over batch sizes or shapes.")]
SinceOption = Annotated[
    str, typer.Option("--since", help="Only from this day, time (UTC) or span back on: 2026-01-31, 12h, 7d.")
]
UntilOption = Annotated[str, typer.Option("--until", help="Only up to this day (to its end), time or span back.")]
FilterOption = Annotated[
    str, typer.Option("--filter", help="Only those whose own run matches this, in MLflow's search grammar.")
]
LimitOption = Annotated[str, typer.Option("--limit", help="The newest so many; auto: 20.")]
TrackingUriOption = Annotated[str, typer.Option("--tracking-uri", help="Where to look; auto: MLflow's own setting.")]


@dataclass(frozen=True)
class QueryOptions:
    """The options of a query as text, as the shell gives them."""

    model: str = AUTO
    experiment: Sequence[str] = ()
    gpu: str = AUTO
    tf_version: str = AUTO
    mode: str = AUTO
    task: str = AUTO
    family: str = AUTO
    since: str = AUTO
    until: str = AUTO
    filter: str = AUTO
    limit: str = AUTO

    @property
    def experiments(self) -> tuple[str, ...]:
        """Name the experiments that are asked for; none: all."""
        return tuple(name for name in self.experiment if unless_auto(name) is not None)

    @property
    def given(self) -> dict[str, str]:
        """Name the options that ask for something, `--` included, with what was said."""
        said = {
            "--model": self.model,
            "--gpu": self.gpu,
            "--tf-version": self.tf_version,
            "--mode": self.mode,
            "--task": self.task,
            "--family": self.family,
            "--since": self.since,
            "--until": self.until,
            "--filter": self.filter,
            "--limit": self.limit,
        }
        given = {option: text for option, text in said.items() if unless_auto(text) is not None}
        return given | ({"--experiment": ", ".join(self.experiments)} if self.experiments else {})


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
        limit=whole("limit", limit, most=_MOST) if limit else default_limit or filters.DEFAULT_LIMIT,
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
