"""A program of a user's, as test_evaluate.py runs it: evaluations in one store, whose outcomes it prints as JSON.

python evaluations.py FILE_FOR_OUTCOMES
"""

import json
import sys
from pathlib import Path

import keras
import mlflow
import numpy as np
from mlflow import MlflowClient

QUICK = {"preset": "quick", "rounds": 2, "warmup_s": 0.1, "block_ms": 2, "modes": ["eager", "graph"], "device": "cpu"}


def evaluate(model, data, **arguments):
    """Give what an evaluation came to: its result, its run and the runs beneath it, or its error."""
    with mlflow.start_run() as run:
        try:
            found = {"metrics": mlflow.models.evaluate(model, data, **arguments).metrics, "error": None}
        except Exception as error:  # noqa: BLE001 - the outcome
            found = {"metrics": {}, "error": str(error), "type": type(error).__name__}
    stored = mlflow.get_run(run.info.run_id)
    beneath = MlflowClient().search_runs(
        [run.info.experiment_id], filter_string=f"tags.`mlflow.parentRunId` = '{run.info.run_id}'"
    )
    kinds = [child.data.tags.get("tfexec.kind") for child in beneath]
    return {**found, "run": stored.data.metrics, "tags": stored.data.tags, "beneath": kinds,
            "benchmark": [child.data.tags for child in beneath]}  # fmt: skip


def tfexec(model, data, **config):
    return evaluate(model, data, model_type="tfexec", evaluators="tfexec", evaluator_config={**QUICK, **config})


model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
with mlflow.start_run():
    logged = mlflow.tensorflow.log_model(model, name="net", pip_requirements=["tensorflow"], signature=False)
rows = np.arange(12, dtype=np.float64).reshape(3, 4) / 7
outcomes = {
    "measured": tfexec(logged.model_uri, rows),
    "wrong features": tfexec(logged.model_uri, rows[:, :3]),
    "inputs in the config": tfexec(logged.model_uri, np.zeros((1, 1)), inputs=rows[:2]),
    "images as data": tfexec(logged.model_uri, np.zeros((2, 8, 8, 3))),
    "a function": tfexec(lambda frame: frame, rows),
    "unknown keys": tfexec(logged.model_uri, rows, roundz=2, col_mapping={}),
    "extra metrics": evaluate(
        logged.model_uri, rows, model_type="tfexec", evaluators="tfexec",
        extra_metrics=[mlflow.metrics.make_metric(eval_fn=lambda *_: 1.0, greater_is_better=True, name="mine")],
    ),
    "classifier": evaluate(
        lambda frame: np.array([0, 1, 1]), rows, targets=np.array([0, 1, 1]), model_type="classifier",
        evaluator_config={"log_explainer": False},
    ),
    "classifier by tfexec": evaluate(
        lambda frame: np.array([0, 1, 1]), rows, targets=np.array([0, 1, 1]), model_type="classifier",
        evaluators="tfexec",
    ),
}  # fmt: skip
outcomes["linked"] = [[one.key, one.value, one.run_id] for one in mlflow.get_logged_model(logged.model_id).metrics]
Path(sys.argv[1]).write_text(json.dumps(outcomes, default=float))
