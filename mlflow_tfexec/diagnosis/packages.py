"""Is everything installed that this package asks for?"""

from collections.abc import Iterator

from mlflow_tfexec.diagnosis._check import Check, Result
from mlflow_tfexec.diagnosis._facts import Facts


def judge(facts: Facts) -> Iterator[Result]:
    """Compare what is asked for with what is installed."""
    python = facts.host.get("python", {}).get("version", "of unknown version")
    packages = facts.packages
    if packages is None or packages.version is None:
        yield Result(
            "unknown",
            f"Python {python}; mlflow-tfexec runs from a folder and is not installed; what it asks for is not known",
            do="Run in a clone: pip install -e .",
        )
    elif packages.unmet:
        yield Result(
            "problem",
            f"Python {python} lacks {', '.join(packages.unmet)}",
            why="a benchmark may stop at the first use",
            do="Run: pip install --upgrade mlflow-tfexec (in a clone: pip install -e .)",
        )
    else:
        yield Result("ok", f"Python {python} has all {packages.met} packages that mlflow-tfexec asks for")


CHECK = Check(name="packages", group="Start", position=60, judge=judge)
