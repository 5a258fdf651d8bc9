"""Are oneDNN's operations on, and does TensorFlow use this processor's instructions?"""

from collections.abc import Iterator

from mlflow_tfexec.diagnosis._check import Check, Result
from mlflow_tfexec.diagnosis._facts import Facts
from mlflow_tfexec.diagnosis._log import onednn_is_on, unused_instructions

_VARIABLE = "TF_ENABLE_ONEDNN_OPTS"


def judge(facts: Facts) -> Iterator[Result]:
    """Read it from what TensorFlow says at import, which is where it says it."""
    if "import" not in facts.tensorflow.steps or "error" in facts.tensorflow.steps["import"]:
        yield Result("unknown", "oneDNN's state is not known, since TensorFlow was not imported")
        return
    setting = facts.variables.get(_VARIABLE)
    if onednn_is_on(facts.tensorflow.log):
        unused = unused_instructions(facts.tensorflow.log)
        beside = f"; TensorFlow's own operations are built without {' '.join(unused)}" if unused else ""
        yield Result("ok", f"oneDNN's operations are on{beside}")
    elif setting is not None:
        yield Result(
            "note",
            f"oneDNN's operations are off: {_VARIABLE}={setting}",
            why="convolutions and matrix products of every mode but XLA's run in slower code; times are those of "
            "this setting",
            do=f"Unset {_VARIABLE} unless that is what you deploy",
        )
    else:
        yield Result("note", "oneDNN's operations are not on: this TensorFlow or processor does not use them")


CHECK = Check(name="onednn", group="TensorFlow", position=12, judge=judge)
