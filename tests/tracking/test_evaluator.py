"""What the evaluator asks of `benchmark` and does with the answer, where a real evaluation would take too long."""

import functools
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from recordings import make_recording

from mlflow_tfexec.api import benchmark as benchmark_module
from mlflow_tfexec.api.result import Benchmark
from mlflow_tfexec.errors import RequestError, TfexecError
from mlflow_tfexec.statistics.judge import judge

pytestmark = pytest.mark.mlflow

LOGGED = SimpleNamespace(model_id="m-1", env_manager="local")
BY_MLFLOW_2 = SimpleNamespace(model_id=None, _model_meta=SimpleNamespace(run_id="abc", artifact_path="net"))
FEATURES = SimpleNamespace(features_data=np.zeros((2, 3)))


@pytest.fixture
def asked(monkeypatch, request):
    """Put a benchmark in place that measures nothing; give what it was asked for."""
    calls, failure = [], getattr(request, "param", None)

    @functools.wraps(benchmark_module.benchmark)
    def benchmark(model, inputs=None, **options):
        calls.append((model, inputs, options))
        recording = make_recording()
        return Benchmark(recording, judge(recording), Path("recording.jsonl"), logging_error=failure)

    monkeypatch.setattr(benchmark_module, "benchmark", benchmark)
    return calls


@pytest.fixture
def run(sqlite_store):
    import mlflow

    mlflow.set_tracking_uri(sqlite_store)
    mlflow.set_experiment("mine")
    with mlflow.start_run() as active:
        yield active.info.run_id
    mlflow.set_tracking_uri(None)


def evaluate(model=LOGGED, dataset=FEATURES, config=None, run_id="r", **others):
    from mlflow_tfexec.plugin.evaluator import ExecutionModeEvaluator

    return ExecutionModeEvaluator().evaluate(
        model=model, dataset=dataset, run_id=run_id, evaluator_config=config, **{"model_type": "tfexec", **others}
    )


@pytest.mark.parametrize("model_type", ["classifier", "regressor", "text", "TFEXEC", "", None])
def test_no_other_type_of_model_is_evaluated(model_type):
    from mlflow_tfexec.plugin.evaluator import ExecutionModeEvaluator

    assert not ExecutionModeEvaluator.can_evaluate(model_type=model_type, evaluator_config={"modes": "eager,xla"})
    assert ExecutionModeEvaluator.can_evaluate(model_type="tfexec", evaluator_config={})


def test_a_model_that_mlflow_2_logged_is_found_by_its_run_and_its_metrics_are_on_the_evaluations_run(asked, run):
    import mlflow

    result = evaluate(BY_MLFLOW_2, run_id=run, model_id=None)
    assert [call[0] for call in asked] == ["runs:/abc/net"]
    assert result.metrics["tfexec/latency_ms/xla"] > 0
    assert mlflow.get_run(run).data.metrics == pytest.approx(result.metrics)


def test_a_tables_features_are_the_inputs_as_one_array(asked):
    import pandas as pd

    table = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    evaluate(dataset=SimpleNamespace(features_data=table), model_id="m-1")
    [(reference, inputs, options)] = asked
    assert (reference, options) == ("models:/m-1", {})
    assert inputs.tolist() == [[1.0, 3.0], [2.0, 4.0]]


@pytest.mark.parametrize("config", [{"batch_size": 8}, {"input_shape": (8, 8, 3)}, {"inputs": np.ones((1, 2))}])
def test_who_says_what_the_inputs_are_is_not_given_the_data(config, asked):
    evaluate(config=config, model_id="m-1")
    [(_, _, options)] = asked
    assert options == {key: value for key, value in config.items() if key != "inputs"}
    assert asked[0][1] is config.get("inputs")


@pytest.mark.parametrize(
    ("model", "others", "said"),
    [
        (None, {}, "not a static dataset"),
        (SimpleNamespace(), {}, "not a function or a model elsewhere"),
        (SimpleNamespace(model_id="m-1", env_manager="virtualenv"), {}, "env_manager='virtualenv'"),
        (LOGGED, {"custom_artifacts": [print]}, "custom_artifacts is for evaluators that predict"),
        (LOGGED, {"predictions": "y"}, "predictions is for evaluators that predict"),
    ],
)
def test_what_cannot_be_measured_as_asked_is_refused_before_anything_is(model, others, said, asked):
    with pytest.raises(RequestError, match=said) as refusal:
        evaluate(model, **others)
    assert len(str(refusal.value).splitlines()) <= 2
    assert asked == []


def test_an_evaluation_in_which_no_mode_could_be_measured_fails(asked, monkeypatch):
    from mlflow_tfexec.tracking import attachment

    monkeypatch.setattr(attachment, "metrics", lambda *_: {})
    with pytest.raises(TfexecError, match="No mode of EfficientNetV2S could be measured") as failure:
        evaluate(model_id="m-1")
    assert "mlflow-tfexec report recording.jsonl" in str(failure.value)


@pytest.mark.parametrize("asked", ["MLflow did not take it."], indirect=True)
def test_a_benchmark_that_mlflow_did_not_take_is_told_and_the_evaluation_goes_on(asked, caplog):
    assert evaluate(model_id="m-1").metrics
    assert "MLflow did not take it." in caplog.text


def test_a_refusal_that_has_nothing_to_do_with_inputs_is_passed_on_as_it_is(monkeypatch):
    @functools.wraps(benchmark_module.benchmark)
    def refuse(*_, **__):
        raise RequestError("preset 'slow' is not known.")

    monkeypatch.setattr(benchmark_module, "benchmark", refuse)
    with pytest.raises(RequestError) as refusal:
        evaluate(config={"preset": "slow"})
    assert str(refusal.value) == "preset 'slow' is not known."
