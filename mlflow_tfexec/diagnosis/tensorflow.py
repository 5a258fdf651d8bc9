"""Does TensorFlow import here, and does it compute?"""

from collections.abc import Iterator

from mlflow_tfexec.diagnosis._check import Check, Result
from mlflow_tfexec.diagnosis._facts import Facts, TensorFlowAnswer
from mlflow_tfexec.diagnosis._log import fatal_message
from mlflow_tfexec.diagnosis._steps import DOING

_NEEDED = ("import", "device", "compute")
# Of no use to a benchmark by themselves; the checks that need them say so.
_OPTIONAL = ("precision", "xla")


def judge(facts: Facts) -> Iterator[Result]:
    """Say how far it came."""
    answer = facts.tensorflow
    for step in _NEEDED:
        error = answer.fact(step, "error")
        if error is not None:
            yield _failed(step, str(error))
            return
    if answer.unanswered is not None and answer.unanswered not in _OPTIONAL:
        yield _ended(answer)
        return
    if any(step not in answer.steps for step in _NEEDED):
        yield Result("unknown", "TensorFlow was not asked", blocks=True)
        return
    device = facts.device
    import_s = answer.steps["import"]["seconds"]
    yield Result(
        "ok",
        f"TensorFlow {device.get('version')} with Keras {device.get('keras_version')} "
        f"imports in {import_s:.1f} s and computes on {device.get('device')}",
    )


def _failed(step: str, error: str) -> Result:
    if step == "import" and "No module named 'tensorflow'" in error:
        return Result(
            "problem",
            "TensorFlow is not installed in this environment",
            do="Run: pip install 'tensorflow>=2.16', or use the environment where it is",
            blocks=True,
        )
    return Result(
        "problem",
        f"{_sentence(step)} fails: {error}",
        do="Install TensorFlow anew, or set right what the message names" if step == "import" else None,
        blocks=True,
    )


def _ended(answer: TensorFlowAnswer) -> Result:
    """Tell a process that died from one that was still busy."""
    doing = DOING[answer.unanswered or "import"]
    fatal = fatal_message(answer.log)
    if answer.end is not None and answer.end.startswith("no answer"):
        return Result(
            "unknown",
            f"TensorFlow was ended while {doing}: {answer.end}",
            why="a benchmark would wait there as well",
            do="Give it longer with --timeout; if that does not help, look for a full disk, a slow file system, "
            "or a GPU driver that hangs",
            blocks=True,
        )
    return Result(
        "problem",
        f"TensorFlow's process ended while {doing}: {fatal or answer.end}",
        why="every mode of a benchmark would end there",
        do=_advice(fatal),
        blocks=True,
    )


def _advice(fatal: str | None) -> str | None:
    for name in ("TF_XLA_FLAGS", "XLA_FLAGS"):
        if fatal and f"in {name}" in fatal:
            return f"Correct {name}, or unset it"
    return "Run `python -c 'import tensorflow'` and read what it prints" if fatal is None else None


def _sentence(step: str) -> str:
    doing = DOING[step]
    return doing[0].upper() + doing[1:]


CHECK = Check(name="tensorflow", group="TensorFlow", position=10, judge=judge)
