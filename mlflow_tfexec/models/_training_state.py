"""Everything that training changes, as it was before: weights, running statistics, seeds and the optimizer's slots."""

from collections.abc import Sequence
from typing import Any

from mlflow_tfexec.models._rounding import few_roundings

_SEED_STATE = "seed_generator_state"
"""What Keras calls the variable of a `SeedGenerator`; it counts up with every draw."""


class TrainingState:
    """Remembers the state of a model and its optimizer, and puts it back."""

    def __init__(self, model: Any, optimizer: Any, dtype: str) -> None:
        self._change = few_roundings(dtype)
        self._model = model
        self._optimizer = optimizer
        self._before = _copies(_variables(model))
        self._kept: list[tuple[Any, Any]] = []

    def take(self) -> None:
        """Remember the optimizer as it is now, and the model as it was at first. Both have all their variables now."""
        own = {id(variable): copy for variable, copy in self._before}
        variables = [*_variables(self._model), *self._optimizer.variables]
        self._kept = [(v, own.get(id(v), copy)) for v, copy in _copies(variables)]
        self.reset()

    def reset(self) -> None:
        """Put everything back."""
        for variable, value in self._kept:
            variable.assign(value)

    def weights(self) -> dict[str, Any]:
        """Copy the model's own state, by name; seeds are none of it."""
        names = [_name(v) for v, _ in self._kept]
        own = {id(v) for v in _variables(self._model)}
        return {
            # Two layers may have one name.
            f"weights/{name}" if names.count(name) == 1 else f"weights/{place:04}/{name}": copy
            for place, (name, (v, copy)) in enumerate(zip(names, _copies([v for v, _ in self._kept]), strict=True))
            if id(v) in own and _SEED_STATE not in name
        }

    @property
    def draws_random(self) -> bool:
        """True: layers draw from seeds that are kept here, and can be put back."""
        return bool(self._seeds())

    def reseed(self) -> None:
        """Change every seed."""
        import tensorflow as tf

        for seed in self._seeds():
            seed.assign(tf.convert_to_tensor(seed) + tf.constant(1_000_003, dtype=seed.dtype))

    def round(self) -> None:
        """Change every trainable weight by a few roundings, up or down."""
        import numpy as np
        import tensorflow as tf

        generator = np.random.default_rng(0)
        for variable in trainable_variables(self._model):
            value = tf.convert_to_tensor(variable)
            if not value.dtype.is_floating:
                continue
            signs = generator.choice(np.array([-1.0, 1.0]), value.shape)
            variable.assign(value * tf.cast(1 + self._change * signs, value.dtype))

    def _seeds(self) -> list[Any]:
        return [v for v, _ in self._kept if _SEED_STATE in _name(v)]


def trainable_variables(model: Any) -> list[Any]:
    """List what training changes by gradients. Empty: nothing is known of any."""
    found = getattr(model, "trainable_variables", None)
    return list(found) if isinstance(found, list | tuple) else []


def _variables(model: Any) -> list[Any]:
    """List all state of a model: Keras's `variables` hold seeds and running statistics as well."""
    found = getattr(model, "variables", None)
    listed = [*(found if isinstance(found, list | tuple) else ()), *trainable_variables(model)]
    return list({id(variable): variable for variable in listed}.values())


def _copies(variables: Sequence[Any]) -> list[tuple[Any, Any]]:
    import tensorflow as tf

    return [(variable, tf.identity(tf.convert_to_tensor(variable))) for variable in variables]


def _name(variable: Any) -> str:
    return str(getattr(variable, "path", None) or variable.name)
