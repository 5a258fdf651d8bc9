"""A program with objects of every kind that can be live, run as `__main__`: packs them all, or makes them again.

python live_objects.py DIRECTORY packs, and tells what each answers. `make` runs in another process, in which the
objects' classes and functions are not defined.
"""

import functools
import inspect
import json
import linecache
import sys
import textwrap
import threading
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.models import _unpacking
from mlflow_tfexec.models._keras_model import hash_weights
from mlflow_tfexec.models._packing import describe, name_of, pack_model
from mlflow_tfexec.protocol import ModelSource

if "--make" not in sys.argv:

    class NoArguments(keras.Model):
        def __init__(self):
            super().__init__()
            self.first, self.second = keras.layers.Dense(3), keras.layers.Dense(2)

        def call(self, x):
            return self.second(self.first(x))

    class WithConfig(keras.Model):
        def __init__(self, units, **more):
            super().__init__(**more)
            self.units, self.dense = units, keras.layers.Dense(units)

        def call(self, x):
            return self.dense(x)

        def get_config(self):
            return {**super().get_config(), "units": self.units}

    class Arguments(keras.Model):
        def __init__(self, function):
            super().__init__()
            self.function, self.dense = function, keras.layers.Dense(3)

        def call(self, x):
            return self.function(self.dense(x))

    class ForeignVariable(keras.Model):
        def __init__(self):
            super().__init__()
            self.factor = tf.Variable([1.0, 2.0, 3.0, 4.0])

        def call(self, x):
            return x * self.factor

    @keras.saving.register_keras_serializable("mine")
    class Registered(keras.layers.Layer):
        def build(self, shape):
            self.kernel = self.add_weight(shape=(shape[-1],))

        def call(self, x):
            return x * self.kernel

    class Bare(keras.layers.Layer):
        def __init__(self):
            super().__init__()

        def call(self, x):
            return x + 1

    class Module(tf.Module):
        def __init__(self):
            super().__init__()
            self.w, self.more = tf.Variable(np.full((4, 2), 0.5, np.float32)), [tf.Variable(1.0)]

        def __call__(self, x):
            return x @ self.w + self.more[0]

    class TracedModule(Module):
        @tf.function(input_signature=[tf.TensorSpec([None, 4])])
        def __call__(self, x):
            return x @ self.w * 2

    factor = tf.Variable([1.0, 2.0, 3.0, 4.0])

    def closure(x):
        return x * factor

    def branching(x):
        # Without its source AutoGraph cannot turn this into a graph.
        if tf.reduce_sum(x) > 0:
            return x + 1
        return x - 1

    @tf.function(jit_compile=True)
    def traced(x):
        return tf.tanh(x) * factor

    def activation(x):
        return x * 2

    def from_a_cell():
        """Define a function as a notebook does: its source is nowhere on disk, and only `linecache` has it."""
        place, source = "/nowhere/ipykernel_1/2.py", inspect.getsource(branching).replace("def branching", "def cell")
        source = textwrap.dedent(source)
        linecache.cache[place] = (len(source), None, source.splitlines(keepends=True), place)
        exec(compile(source, place, "exec"), globals())
        return globals()["cell"]

    def objects():
        def built(model):
            model(tf.ones((1, 4)))
            return model

        def over(model):
            return lambda x: model(x) * 2

        keras.utils.set_random_seed(3)
        entry = keras.Input((4,))
        dense = keras.layers.Dense
        frozen = built(NoArguments())
        frozen.first.trainable = False
        half = keras.Sequential([entry, dense(2, dtype="bfloat16")])
        traced(tf.ones(4))
        module = TracedModule()
        module(tf.ones((1, 4)))
        return {
            "sequential": keras.Sequential([entry, keras.layers.BatchNormalization(), dense(2, activation=activation)]),
            "functional": keras.Model(entry, [Registered()(entry), dense(2)(entry)]),
            "lambda_layer": keras.Sequential([entry, keras.layers.Lambda(lambda x: x * 3)]),
            "no_arguments": built(NoArguments()),
            "frozen": frozen,
            "not_built": NoArguments(),
            "with_config": built(WithConfig(3)),
            "bare_layer": keras.Sequential([entry, Bare()]),
            "half": half,
            "module": Module(),
            "traced_module": module,
            "traced": traced,
            "closure": closure,
            "branching": tf.function(branching),
            "cell": from_a_cell(),
            "lambda": lambda x: x + factor,
            "over_keras": over(built(keras.Sequential([dense(3)]))),
            "partial": functools.partial(tf.multiply, 2.0),
            "arguments": built(Arguments(tf.nn.relu)),
            "foreign_variable": built(ForeignVariable()),
            "concrete": traced.get_concrete_function(tf.TensorSpec([4])),
            "lock": functools.partial(tf.multiply, 2.0, lock=threading.Lock()),
        }


def facts(model, *, called):
    """Say all that has to be the same on the other side."""
    weights = getattr(model, "weights", None)
    found = {"weights": None if weights is None else hash_weights(weights)}
    if isinstance(model, keras.Model):
        found["trainable"] = [layer.trainable for layer in model.layers]
        found["compiled"] = bool(model.compiled)
    if called:
        answer = tf.nest.flatten(model(tf.ones((1, 4))))
        found["answer"] = [np.asarray(tf.cast(one, tf.float32)).tolist() for one in answer]
    return found


def pack(directory):
    plan = {}
    for name, model in objects().items():
        called = name not in {"not_built", "lock", "concrete"}
        before = facts(model, called=called)
        try:
            described = describe(model)
            source = pack_model(model, described, directory / name, compiled=False)
        except RequestError as error:
            plan[name] = {"refused": str(error)}
        else:
            assert facts(model, called=called) == before, name
            plan[name] = {"source": source.model_dump_json(), "facts": before, "called": called}
            plan[name] |= {"name": name_of(model, described), "kind": described.kind, "type": described.type}
    (directory / "plan.json").write_text(json.dumps(plan))


def _answers_as_graph(model):
    function = getattr(model, "python_function", model)
    return tf.function(function)(tf.ones((1, 4))) is not None


def make(path):
    made = {}
    for name, one in json.loads(path.read_text()).items():
        if "source" in one:
            source = ModelSource.model_validate_json(one["source"])
            model = _unpacking._unpickled(Path(source.path), source.module_paths)
            made[name] = facts(model, called=one["called"])
            # As a mode does it: the source of a function must have come along.
            made[name]["graph"] = _answers_as_graph(model)
    (path.parent / "made.json").write_text(json.dumps(made))


if __name__ == "__main__":
    make(Path(sys.argv[2])) if sys.argv[1] == "--make" else pack(Path(sys.argv[1]))
