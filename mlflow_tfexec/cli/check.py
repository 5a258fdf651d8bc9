"""`mlflow-tfexec check`: is this benchmark slower than that one? For continuous integration."""

from typing import TYPE_CHECKING, Annotated

import typer

from mlflow_tfexec.benchmarking.notices import say
from mlflow_tfexec.benchmarking.request import AUTO, one_of, optional_margin, unless_auto
from mlflow_tfexec.cli.shared_options import ModesOption, RelativeToOption, RunIdsUriOption
from mlflow_tfexec.errors import EXIT_DONE, EXIT_REGRESSION

if TYPE_CHECKING:
    from mlflow_tfexec.records.gate import Gate
    from mlflow_tfexec.records.recording import Recording

LATEST = "latest"
_FAIL, _PASS = "fail", "pass"


def command(
    reference: Annotated[str, typer.Argument(help="The benchmark to check: a run id, or the path of a recording.")],
    *,
    against: Annotated[
        str,
        typer.Option(
            help="What to hold it against: a run id, the path of a recording, or latest, the newest complete earlier "
            "one of the same model, task and input on the same kind of machine."
        ),
    ],
    mode: ModesOption = None,
    margin: Annotated[
        str, typer.Option(help="Slow-downs up to this are let through; auto: the smaller of the benchmarks' own.")
    ] = AUTO,
    undecided: Annotated[
        str, typer.Option(help="What to do if nothing is shown: pass (exit 0) or fail (exit 3).")
    ] = _PASS,
    junit: Annotated[str, typer.Option(help="File to write JUnit XML to, with one case per mode; auto: none.")] = AUTO,
    relative_to: RelativeToOption = AUTO,
    allow_mixed: Annotated[
        bool, typer.Option("--allow-mixed", help="Check also against another machine, model or input.")
    ] = False,
    tracking_uri: RunIdsUriOption = AUTO,
) -> int:
    """Exit with 3 if a benchmark is slower than another one beyond the margin."""
    from mlflow_tfexec.cli.output import deliver
    from mlflow_tfexec.cli.references import load_reference
    from mlflow_tfexec.reports._junit import junit as write_junit
    from mlflow_tfexec.statistics.gate import check_against
    from mlflow_tfexec.text import plain

    undecided_fails = one_of("outcome for --undecided", undecided, (_PASS, _FAIL)) == _FAIL
    chosen_margin = optional_margin(margin)
    new = load_reference(reference, tracking_uri=tracking_uri)
    base = _base(against, new, tracking_uri, allow_mixed=allow_mixed)
    gate = check_against(
        new,
        base,
        modes=mode or None,
        margin=chosen_margin,
        relative_to=unless_auto(relative_to),
        allow_mixed=allow_mixed,
    )
    if unless_auto(junit) is not None:
        deliver(write_junit(gate, undecided_fails=undecided_fails), output=junit)
    typer.echo(reason_line(gate))
    if gate.outcome != "passed":
        for finding in gate.findings:
            say(plain(finding.sentence()))
    failed = gate.outcome == "regression" or (undecided_fails and gate.outcome == "undecided")
    return EXIT_REGRESSION if failed else EXIT_DONE


def _base(against: str, new: "Recording", tracking_uri: str, *, allow_mixed: bool) -> "Recording":
    from mlflow_tfexec.cli.references import load_reference

    if against.strip().lower() == LATEST:
        from mlflow_tfexec.cli.latest import latest_before

        return latest_before(new, tracking_uri=unless_auto(tracking_uri), any_machine=allow_mixed)
    return load_reference(against, tracking_uri=tracking_uri)


def reason_line(gate: "Gate") -> str:
    """Say the outcome, the modes that it rests on, and what was held against what, on one line."""
    from mlflow_tfexec.text import plain

    deciding = "; ".join(f"{mode.mode} {mode.reason}" for mode in gate.of(gate.outcome))
    relative = f", relative to {gate.relative_to}" if gate.relative_to else ""
    against = f"{gate.model}, against benchmark {gate.base_id}, margin {gate.margin:.3g}{relative}"
    return plain(f"{gate.outcome}: {deciding}. {against}")
