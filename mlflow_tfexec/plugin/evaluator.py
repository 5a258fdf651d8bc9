"""MLflow's entry point `mlflow.model_evaluator`: a benchmark by `mlflow.models.evaluate`.

MLflow loads this module with the first `evaluate` of a process, whoever calls it and for whatever kind of model.
"""

import inspect
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mlflow.models.evaluation.base import EvaluationResult, ModelEvaluator  # noqa: TID253 - loaded by MLflow itself

from mlflow_tfexec.errors import RequestError, TfexecError

if TYPE_CHECKING:
    from mlflow_tfexec.api.result import Benchmark

MODEL_TYPE = "tfexec"

_logger = logging.getLogger(__name__)

# Whoever says one of these says what the inputs are.
_SAY_INPUTS = frozenset({"inputs", "input_shape", "batch_size"})

_FEATURES_ARE_INPUTS = (
    "The features of `data` are the inputs of one call, "
    "unless evaluator_config gives inputs, input_shape or batch_size."
)


class ExecutionModeEvaluator(ModelEvaluator):  # type: ignore[misc]  # MLflow is Any to mypy
    """Measures a logged Keras or TensorFlow model in its ways of executing, as `mlflow_tfexec.benchmark` does.

    The benchmark's run becomes a child of the run of the evaluation. That run, and the LoggedModel through it, get the
    metrics that `attach` would write.
    """

    @classmethod
    def can_evaluate(cls, *, model_type: str | None, evaluator_config: Any = None, **_: Any) -> bool:
        """Say yes to model_type "tfexec" alone: with `evaluators=None` MLflow asks every evaluator there is."""
        del evaluator_config
        return model_type == MODEL_TYPE

    def evaluate(
        self,
        *,
        model: Any = None,
        dataset: Any,
        run_id: str,
        evaluator_config: Mapping[str, Any] | None = None,
        **others: Any,
    ) -> Any:
        """Measure, and write the metrics.

        Args:
            model: as MLflow has loaded it from the URI.
            dataset: its features are the inputs, unless *evaluator_config* says what they are.
            run_id: of the evaluation.
            evaluator_config: parameters of `mlflow_tfexec.benchmark`, without the model.
            others: what MLflow passes besides. Metrics and artifacts of others are refused: nothing is predicted here.

        Returns:
            MLflow's EvaluationResult with the metrics.

        Raises:
            RequestError: something asked for cannot be right. TfexecError: no mode could be measured.
        """
        from mlflow_tfexec.tracking import attachment, keys

        options = _checked(evaluator_config or {})
        _refuse_extras(others)
        result = _measure(_reference(model), dataset, options)
        if result.logging_error is not None:
            _logger.warning("%s", result.logging_error)
        said = attachment.describe(result.recording, result.judgement)
        metrics = attachment.metrics(said, keys.ATTACH_PREFIX)
        if not metrics:
            raise TfexecError(
                f"No mode of {result.judgement.model} could be measured.\n"
                f"See why: mlflow-tfexec report {result.recording_path}"
            )
        # MLflow itself writes them where it knows a LoggedModel, to which it links them and the data.
        if others.get("model_id") is None:
            _write(metrics, run_id=run_id)
        return EvaluationResult(metrics=metrics, artifacts={}, run_id=run_id)


def _checked(config: Mapping[str, Any]) -> dict[str, Any]:
    """Refuse what `benchmark` has no parameter for. Raises RequestError."""
    from mlflow_tfexec.api.benchmark import benchmark

    known = [name for name in inspect.signature(benchmark).parameters if name != "model"]
    unknown = [str(key) for key in config if key not in known]
    if unknown:
        raise RequestError(
            f"evaluator_config has {', '.join(map(repr, unknown))}, which mlflow_tfexec.benchmark does not take.\n"
            f"It takes {', '.join(known)}."
        )
    return dict(config)


def _refuse_extras(others: Mapping[str, Any]) -> None:
    """Refuse what would need predictions. Raises RequestError."""
    for name in ("extra_metrics", "custom_artifacts", "predictions"):
        if others.get(name):
            raise RequestError(
                f'{name} is for evaluators that predict, and model_type="tfexec" only measures times.\n'
                "Leave it out, or evaluate once more with another model_type."
            )


def _reference(model: Any) -> str:
    """Name the model that MLflow has loaded, so that each mode can load it by its native flavor.

    Raises:
        RequestError: it lies in no MLflow store, or is to run in another environment.
    """
    manager = getattr(model, "env_manager", "local")
    if manager != "local":
        raise RequestError(f"env_manager={manager!r}: modes are measured in this environment. Leave env_manager out.")
    model_id = getattr(model, "model_id", None)
    if model_id:
        return f"models:/{model_id}"
    # Models that MLflow 2 has logged have no id.
    description = getattr(model, "_model_meta", None)
    run_id, path = getattr(description, "run_id", None), getattr(description, "artifact_path", None)
    if run_id and path:
        return f"runs:/{run_id}/{path}"
    raise RequestError(
        'model_type="tfexec" takes the URI of a model that MLflow has logged, such as models:/NAME/1, not '
        f"{'a static dataset' if model is None else 'a function or a model elsewhere'}.\n"
        "Log it with mlflow.keras.log_model or mlflow.tensorflow.log_model, or measure it by mlflow_tfexec.benchmark."
    )


def _measure(reference: str, dataset: Any, options: dict[str, Any]) -> "Benchmark":
    from mlflow_tfexec.api.benchmark import benchmark

    if _SAY_INPUTS & options.keys():
        return benchmark(reference, **options)
    try:
        return benchmark(reference, _features(dataset), **options)
    except RequestError as error:
        text = str(error)
        if "input" not in text:
            raise
        # Two lines at most.
        between = " " if "\n" in text else "\n"
        raise RequestError(f"{text}{between}{_FEATURES_ARE_INPUTS}") from None


def _features(dataset: Any) -> Any:
    """Give the features of MLflow's dataset as one array, items first."""
    features = dataset.features_data
    return features.to_numpy() if hasattr(features, "to_numpy") else features


def _write(metrics: Mapping[str, float], *, run_id: str) -> None:
    import mlflow

    mlflow.log_metrics(dict(metrics), run_id=run_id, synchronous=True)
