"""From a loaded model to one whose step trains: forward, loss, gradients, optimizer."""

import dataclasses
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from mlflow_tfexec.measurement.call import ModelStep, PreparedCall
from mlflow_tfexec.models._inputs import to_device
from mlflow_tfexec.models._keras_model import compute_dtype
from mlflow_tfexec.models._objective import Objective, choose_objective
from mlflow_tfexec.models._reference import LoadedModel
from mlflow_tfexec.models._training_state import TrainingState, trainable_variables
from mlflow_tfexec.records.answers import TrainingFacts
from mlflow_tfexec.records.findings import Finding
from mlflow_tfexec.records.spec import Spec

DEFAULT_OPTIMIZER = "adam"
"""Steps of bounded length, so that a made-up task cannot carry weights beyond all numbers."""

COMPARED_STEPS = 5
"""Enough for slots, running statistics and loss scales to take part, and too few for roundings to take over."""

Differentiate = Callable[[tuple[Any, ...]], tuple[list[Any], list[Any], Any]]
"""Inputs and targets → trainable variables, the gradient of the scaled loss by each (None: it does not depend on it),
and the loss."""

_TARGETS_SEED = 7
"""Sets the targets of an input set apart from its inputs."""


def prepare_training(loaded: LoadedModel, spec: Spec) -> LoadedModel:
    """Turn a model into one whose step is a training step on made-up targets.

    Layers are called in training mode. Weights, optimizer and running statistics are put back by `reset`, and losses
    and weights after a few steps are the answer that modes are compared by.

    Raises:
        ValueError: there is nothing to train, no output of floats, or no loss or optimizer of the name.
    """
    model = loaded.subject if loaded.subject is not None else loaded.step.call
    if not trainable_variables(model):
        raise ValueError("the model has no trainable variables, so that --task train has nothing to train")
    outputs = _float_outputs(loaded.step.call(*to_device(loaded.inputs(0))))
    if not outputs:
        raise ValueError("the model has no output of floating-point numbers, from which --task train needs a loss")
    objective = choose_objective(model, outputs, spec.loss)
    optimizer = _optimizer(model, spec)
    training_inputs = functools.partial(_with_targets, loaded.inputs, objective, spec.seed)
    state = TrainingState(model, optimizer, loaded.compute_dtype or compute_dtype(spec.dtype))
    # Gradients once before anything is traced: what a layer makes late is made, and variables that the loss does not
    # depend on are left out, as the optimizer would with a warning in every step.
    differentiate = _differentiation(_forward(model), objective.loss, model, optimizer)
    variables, gradients, _ = differentiate(to_device(training_inputs(0)))
    connected = [v for v, gradient in zip(variables, gradients, strict=True) if gradient is not None]
    if not connected:
        raise ValueError("the loss depends on none of the model's trainable variables, so that nothing can be trained")
    optimizer.build(connected)
    state.take()
    step = _step(differentiate, optimizer, connected)
    return dataclasses.replace(
        loaded,
        step=ModelStep(call=step),
        inputs=training_inputs,
        answer=functools.partial(_answer, state, None),
        rounded=functools.partial(_answer, state, state.round),
        reseeded=functools.partial(_answer, state, state.reseed) if state.draws_random else None,
        reset=state.reset,
        training=(facts := _facts(objective, optimizer, spec, model, draws_random=state.draws_random)),
        findings=(*loaded.findings, *_default_findings(facts)),
    )


def _with_targets(
    inputs: Callable[[int], tuple[Any, ...]], objective: Objective, seed: int, number: int
) -> tuple[Any, ...]:
    return (*inputs(number), objective.make_targets((seed, number, _TARGETS_SEED)))


def _float_outputs(outputs: Any) -> list[Any]:
    import keras
    import tensorflow as tf

    tensors = [tf.convert_to_tensor(leaf) for leaf in keras.tree.flatten(outputs) if leaf is not None]
    return [tensor for tensor in tensors if tensor.dtype.is_floating]


def _forward(model: Any) -> Callable[..., Any]:
    """Call in training mode, where the model knows of it."""
    import keras

    if isinstance(model, keras.Model) or "training" in _parameters(model):
        return functools.partial(model, training=True)
    called: Callable[..., Any] = model
    return called


def _parameters(function: Any) -> Sequence[str]:
    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return ()


def _differentiation(
    forward: Callable[..., Any], loss: Callable[[Any, Any], Any], model: Any, optimizer: Any
) -> Differentiate:
    import tensorflow as tf

    def differentiate(arguments: tuple[Any, ...]) -> tuple[list[Any], list[Any], Any]:
        *inputs, targets = arguments
        variables = trainable_variables(model)
        with tf.GradientTape() as tape:
            predictions = _float_outputs(forward(*inputs))
            terms = [tf.reduce_mean(loss(t, p)) for t, p in zip(targets, predictions, strict=True)]
            # What layers add by themselves, such as a penalty on weights.
            terms += [tf.reduce_sum(term) for term in getattr(model, "losses", ())]
            total = tf.add_n([tf.cast(term, terms[0].dtype) for term in terms])
            scaled = optimizer.scale_loss(total)
        return variables, tape.gradient(scaled, variables), total

    return differentiate


def _step(differentiate: Differentiate, optimizer: Any, connected: Sequence[Any]) -> Callable[..., Any]:
    """Make the function that every mode executes. It returns the loss before the step."""
    wanted = {id(variable) for variable in connected}

    def step(*arguments: Any) -> Any:
        variables, gradients, loss = differentiate(arguments)
        pairs = [(g, v) for g, v in zip(gradients, variables, strict=True) if id(v) in wanted]
        optimizer.apply([g for g, _ in pairs], [v for _, v in pairs])
        return loss

    return step


def _answer(state: TrainingState, change: Callable[[], None] | None, call: PreparedCall) -> dict[str, Any]:
    """Train a few steps from where the model was loaded, and give all losses and weights; then put it back."""
    import tensorflow as tf

    state.reset()
    if change is not None:
        change()
    losses = [call.run() for _ in range(COMPARED_STEPS)]
    # The first loss by itself: however sensitive the rest is to roundings, it is not. Weights are copies, since what is
    # put back next is the same memory.
    answer = {"first_loss": losses[0], "loss": tf.stack(losses), **state.weights()}
    state.reset()
    return answer


def _optimizer(model: Any, spec: Spec) -> Any:
    """Make a fresh optimizer: the one asked for, the one the model was compiled with, or the default."""
    import keras

    if spec.optimizer is None and _is_compiled(model):
        optimizer = type(model.optimizer).from_config(model.optimizer.get_config())
    else:
        name = spec.optimizer or DEFAULT_OPTIMIZER
        try:
            optimizer = keras.optimizers.get(name)
        except ValueError:
            raise ValueError(f"no optimizer {name!r}; give a Keras name such as {DEFAULT_OPTIMIZER}") from None
    if spec.dtype == "mixed_float16" and not isinstance(optimizer, keras.optimizers.LossScaleOptimizer):
        optimizer = keras.optimizers.LossScaleOptimizer(optimizer)
    return optimizer


def _is_compiled(model: Any) -> bool:
    return bool(getattr(model, "compiled", False)) and getattr(model, "optimizer", None) is not None


def _facts(objective: Objective, optimizer: Any, spec: Spec, model: Any, *, draws_random: bool) -> TrainingFacts:
    import keras

    is_scaled = isinstance(optimizer, keras.optimizers.LossScaleOptimizer)
    inner = optimizer.inner_optimizer if is_scaled else optimizer
    try:
        learning_rate = float(inner.get_config()["learning_rate"])
    except (KeyError, TypeError):
        learning_rate = None
    return TrainingFacts(
        loss=objective.name,
        loss_is_default=objective.is_default,
        optimizer=spec.optimizer or (type(inner).__name__ if _is_compiled(model) else DEFAULT_OPTIMIZER),
        optimizer_is_default=spec.optimizer is None and not _is_compiled(model),
        learning_rate=learning_rate,
        loss_scaling=is_scaled,
        targets=objective.targets,
        compared_steps=COMPARED_STEPS,
        draws_random=draws_random,
    )


def _default_findings(facts: TrainingFacts) -> tuple[Finding, ...]:
    defaults = [
        f"{word} {name} (--{word})"
        for word, name, is_default in (
            ("loss", facts.loss, facts.loss_is_default),
            ("optimizer", facts.optimizer, facts.optimizer_is_default),
        )
        if is_default
    ]
    if not defaults:
        return ()
    return (
        Finding(
            code="training_defaults",
            what=f"Chosen here, since neither the request nor the model names one: {', '.join(defaults)}.",
            why=f"Targets are made up in any case: {facts.targets}.",
        ),
    )
