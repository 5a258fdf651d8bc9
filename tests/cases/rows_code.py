"""Rows of the table: text, and what Python code does."""

from cases.case import OK, Case, Expect
from cases.expectations import DIFFERS, FULL, REFUSED, findings, no_graph, no_xla

TEXT = (
    Case(
        "case_text:string_lookup",
        "StringLookup (E8)",
        modes=no_xla("text_in_xla", None, words=("XLA has no string tensors",), layer="string_lookup"),
        in_ci=True,
    ),
    Case(
        "case_text:integer_lookup",
        "IntegerLookup (E9)",
        modes=no_xla("text_in_xla", "LookupTableFindV2", layer="integer_lookup_1"),
    ),
    Case(
        "case_text:string_made_inside",
        "text made and read inside",
        shape="4",
        modes=no_xla("text_in_xla", "AsString", source="case_text.py"),
    ),
    Case(
        "case_text:prints_in_the_graph",
        "tf.print (E13)",
        shape="4",
        modes=no_xla("text_in_xla", "StringFormat", source="case_text.py"),
    ),
    Case("case_text:tokens", "a dictionary of tokens (I4)", modes=FULL, options=("--batch-size", "2"), in_ci=True),
)

PYTHON = (
    Case(
        "case_python:py_function",
        "py_function (E11)",
        shape="4",
        modes=no_xla("python_function_in_graph", "EagerPyFunc", source="case_python.py"),
    ),
    Case(
        "case_python:numpy_function_in_a_layer",
        "numpy_function in a layer (E11)",
        modes=no_xla("python_function_in_graph", "PyFunc", source="in call", layer="doubles_1"),
        in_ci=True,
    ),
    Case(
        "case_python:py_function_without_shape",
        "an unknown shape (E11)",
        shape="4",
        modes=no_graph("shape_unknown_in_graph", "as_list() is not defined", source="in step"),
        exit_code=1,
    ),
    Case(
        "case_python:value_in_a_comprehension",
        "a tensor as a Python bool",
        shape="4",
        modes=no_graph("tensor_as_python_value", source="case_python.py"),
        exit_code=1,
        in_ci=True,
    ),
    Case(
        "case_python:numpy_of_a_tensor",
        "numpy() of a tensor (E12)",
        shape="4",
        modes=no_graph("tensor_as_python_value", "has no attribute 'numpy'", source="case_python.py"),
        exit_code=1,
    ),
    Case(
        "case_python:defined_in_one_branch",
        "defined in one branch only",
        shape="4",
        modes=no_graph("branches_differ", "'y' must also be initialized in the else branch", source="in _undecided"),
        exit_code=1,
    ),
    Case(
        "case_python:list_filled_in_a_loop",
        "a Python list filled in a loop",
        modes=REFUSED,
        exit_code=2,
        refusal=("fills",),
    ),
    Case(
        "case_python:layer_made_in_call",
        "a layer made in every call (E12)",
        shape="4",
        modes=no_graph("variables_in_function", "singleton tf.Variables", source="case_python.py"),
        exit_code=1,
        in_ci=True,
    ),
    Case(
        "case_python:function_that_makes_variables",
        "a nested tf.function that makes variables once (E12)",
        shape="4",
        findings=findings("function_unwrapped"),
    ),
    Case(
        "case_python:sublayer_built_lazily",
        "a layer built lazily inside jit_compile (F9)",
        shape="4",
        findings=findings("inner_jit", "xla_inside eager", "xla_inside graph"),
    ),
    Case(
        "case_python:layer_whose_shape_keras_cannot_infer",
        "a layer made lazily in a Keras graph",
        modes=REFUSED,
        exit_code=2,
        refusal=("lazy",),
    ),
    Case(
        "case_python:tensor_kept_from_a_loop",
        "a leaked tensor",
        shape="4",
        modes=no_graph("tensor_from_another_graph", "is out of scope", source="in body"),
        exit_code=1,
    ),
    Case(
        "case_python:python_random",
        "Python's random numbers (E17)",
        shape="4",
        findings=findings("not_deterministic"),
    ),
    Case(
        "case_python:raises_in_a_graph",
        "refuses graphs, in several lines",
        shape="4",
        modes=no_graph(None, "this model is eager only", source="in step"),
        exit_code=1,
    ),
    Case(
        "case_python:fails_by_value_in_a_graph",
        "an operation fails in a graph; XLA clamps instead",
        shape="4",
        modes={
            "eager": OK,
            "graph": Expect("run_failed", words=("is not in [0, 4)",), op="GatherV2", source="in step"),
            "xla": DIFFERS,
        },
    ),
)
