"""Python's values as options, and errors that name parameters."""

import pytest

from mlflow_tfexec.api.benchmark import benchmark
from mlflow_tfexec.api.words import in_python_words, text_of
from mlflow_tfexec.errors import RequestError, TrackingError


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "auto"),
        (3, "3"),
        (0.05, "0.05"),
        ("eager,xla", "eager,xla"),
        (("eager", "xla"), "eager,xla"),
        ([224, 224, 3], "224,224,3"),
        ({"ids": [128], "image": (8, 8, 3)}, "ids=128;image=8,8,3"),
    ],
)
def test_a_value_is_written_as_its_option_says_it(value, text):
    assert text_of(value) == text


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("--batch-size 0 is out of range", "batch_size 0 is out of range"),
        ("--warmup and --time-budget", "warmup_s and time_budget_s"),
        ("run any code: --no-safe-mode", "run any code: safe_mode=False"),
        ("mlflow ui --backend-store-uri x", "mlflow ui --backend-store-uri x"),
        ("a well-known -- dash", "a well-known -- dash"),
    ],
)
def test_an_error_names_parameters_where_it_named_options(said, read):
    with pytest.raises(RequestError) as caught, in_python_words(benchmark):
        raise RequestError(said)

    assert str(caught.value) == read


def test_an_error_keeps_its_type():
    with pytest.raises(TrackingError), in_python_words(benchmark):
        raise TrackingError("name another with --experiment")
