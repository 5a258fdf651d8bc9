"""What loading a model brings to light that the reader must know."""

from mlflow_tfexec.records.findings import Finding
from mlflow_tfexec.records.spec import BASELINE


def restored_graph(what: str) -> Finding:
    """The model is a graph already, so that no mode can run its Python code; *what* names it."""
    return Finding(
        code="restored_graph",
        what=f"Restored graph: {what} holds no Python code, so eager calls its graph from Python.",
        why="Speed-ups over eager are then small: what tf.function saves was saved when the graph was made.",
        what_to_try="Benchmark the Keras model, or the function, that the graph was made from.",
        mode=BASELINE,
    )


def function_unwrapped(jit_compile: bool | None) -> Finding:
    """The model is a `tf.function`, whose Python function is measured."""
    setting = "" if jit_compile is None else f" Its jit_compile={jit_compile} was set aside."
    return Finding(
        code="function_unwrapped",
        what=f"The model is a tf.function; each mode executes its Python function in its own way.{setting}",
        why="Called as it is, it would be a graph in every mode, eager included.",
    )


def inner_jit(layers: list[str]) -> Finding:
    """Layers that ask for XLA themselves, whatever the mode."""
    return Finding(
        code="inner_jit",
        what=f"XLA runs in every mode within {', '.join(layers)}, whose call is a tf.function with jit_compile=True.",
        why="The names of the modes then promise what the model does not keep.",
        what_to_try="Remove jit_compile=True from the model.",
    )


def own_dtype(dtype: str) -> Finding:
    """A model that is brought along computes in another dtype than the one that is assumed."""
    return Finding(
        code="own_dtype",
        what=f"The model computes in {dtype}: it was made so.",
        why="A saved or live model keeps its own dtype policy; --dtype does not change it.",
    )
