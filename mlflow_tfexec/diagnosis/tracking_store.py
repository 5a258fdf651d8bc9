"""Will MLflow take the result?"""

from collections.abc import Iterator

from mlflow_tfexec.diagnosis._check import Check, Result
from mlflow_tfexec.diagnosis._facts import Facts


def judge(facts: Facts) -> Iterator[Result]:
    """Say what the tracking server or store answered."""
    tracking = facts.tracking
    if tracking is None:
        yield Result("unknown", "The tracking store was not asked")
        return
    if tracking.problem is not None:
        found, _, do = tracking.problem.partition("\n")
        yield Result(
            "problem",
            found.rstrip("."),
            why="`run` refuses to measure what it could not log, unless --offline is given",
            do=do.rstrip(".") or None,
            blocks=True,
        )
    elif tracking.is_new:
        yield Result("ok", f"MLflow will write to {tracking.uri}, which the first benchmark creates")
    else:
        yield Result("ok", f"MLflow answers at {tracking.uri}")


CHECK = Check(name="tracking_store", group="Results", position=50, judge=judge)
