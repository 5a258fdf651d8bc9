"""Asking everybody: TensorFlow in a process of its own, MLflow, and the machine, side by side."""

import dataclasses
from collections.abc import Mapping

from mlflow_tfexec.benchmarking.notices import say
from mlflow_tfexec.diagnosis._facts import Facts, Tracking
from mlflow_tfexec.diagnosis._gather import gather, load_now
from mlflow_tfexec.diagnosis._probe import tensorflow_probe
from mlflow_tfexec.spool import spool_root


def ask_all(
    environ: Mapping[str, str],
    *,
    tracking_uri: str | None,
    experiment: str | None,
    spool_dir: str | None,
    timeout_s: float,
) -> Facts:
    """Gather every fact, and say on standard error what is being waited for."""
    load = load_now()
    with tensorflow_probe() as probe:
        say("looking at this machine, with TensorFlow starting in a process of its own")
        tracking = _ask_tracking(environ, tracking_uri, experiment)
        facts = gather(environ, spool=spool_root(spool_dir, environ), tracking=tracking, load=load)
        answer = probe.answer(timeout_s, say)
    return dataclasses.replace(facts, tensorflow=answer)


def _ask_tracking(environ: Mapping[str, str], tracking_uri: str | None, experiment: str | None) -> Tracking:
    """Ask MLflow. It may be what is missing."""
    from mlflow_tfexec.tracking.reachability import reach

    try:
        found = reach(tracking_uri=tracking_uri, experiment=experiment, environ=environ)
    except ImportError as error:
        return Tracking(problem=f"MLflow cannot be imported: {error}.\nRun: pip install 'mlflow>=3.1,<4'")
    return Tracking(found.uri, problem=found.problem, is_new=found.is_new)
