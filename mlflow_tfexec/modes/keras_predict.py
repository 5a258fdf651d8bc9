"""Keras's own `predict` on the one batch: its data handling is timed as well, and `jit_compile="auto"` is resolved."""

from collections.abc import Callable
from typing import Any

from mlflow_tfexec.measurement.call import ModelStep, PreparedCall
from mlflow_tfexec.modes._mode import Mode, NotApplicable


def prepare(step: ModelStep) -> PreparedCall:
    """Call `predict` with the whole batch at once, in silence.

    The model's `jit_compile` is `"auto"` unless it was compiled with another value. Keras resolves it when it is read:
    False without a GPU and where a layer does not support XLA.
    Source: `Trainer.jit_compile` in keras/src/trainers/trainer.py

    Raises:
        NotApplicable: the model has no `predict`.
    """
    if step.predict is None:
        raise NotApplicable("only a Keras model has predict, and this is another callable")
    predict = step.predict
    model = getattr(predict, "__self__", None)
    return PreparedCall(
        function=lambda *inputs: predict(*inputs, batch_size=_batch_size(inputs), verbose=0),
        transfers=True,
        traces=lambda: _traces(model),
        details=lambda: _details(model),
    )


def _batch_size(inputs: Any) -> int:
    """Take the batch from the first tensor: `predict` would cut a large one into pieces of 32."""
    import keras

    return int(keras.tree.flatten(inputs)[0].shape[0])


def _traces(model: Any) -> int:
    """Count the traces of the function that `predict` makes at its first call."""
    count: Callable[[], int] = getattr(
        getattr(model, "predict_function", None), "experimental_get_tracing_count", lambda: 0
    )
    return count()


def _details(model: Any) -> dict[str, Any]:
    resolved = getattr(model, "jit_compile", None)
    return {} if resolved is None else {"jit_compile": bool(resolved)}


MODE = Mode(
    id="keras_predict",
    title="model.predict(x), jit_compile as Keras resolves it",
    position=5,
    prepare=prepare,
    default=False,
    tasks=("inference",),
)
