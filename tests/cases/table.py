"""Every case, with what is to come of it. Letters such as E4 in comments: kinds of trouble, by where they come from."""

from collections.abc import Mapping

from cases.case import OK, Case, Expect

ALL_OK = {"eager": OK, "graph": OK, "xla": OK}
FULL = {"eager": OK, "graph": OK, "graph_nojit": OK, "xla": OK, "graph_control": OK}
DIFFERS = Expect("outputs_differ", words=("outputs differ from eager",))
REFUSED: Mapping[str, Expect] = {}


def findings(*codes: str) -> frozenset[str]:
    """Give findings as `code` or `code mode`."""
    return frozenset(codes)


def no_xla(
    cause: str, op: str | None, *, words: tuple[str, ...] = (), source: str | None = None, layer: str | None = None
):
    """Expect eager and graph to do, and XLA to lack an operation."""
    said = words or ("unsupported operations", (op or "").partition(",")[0])
    failure = Expect("compile_failed", words=said, cause=cause, op=op, source=source, layer=layer)
    return {"eager": OK, "graph": OK, "xla": failure}


def no_graph(cause: str | None, *words: str, source: str, layer: str | None = None):
    """Expect that only eager does: the model cannot be traced."""
    failure = Expect("trace_failed", words=words, cause=cause, source=source, layer=layer)
    return {"eager": OK, "graph": failure, "xla": failure}


def lost(mode: str, status: str, *words: str, **facts: str):
    """Expect one mode to be lost, and the others not."""
    return {**ALL_OK, mode: Expect(status, words=words, **facts)}


TIMING = (
    Case("case_timing:overhead_bound", "little work, much overhead (A4, A10)", in_ci=True),
    Case("case_timing:overhead_bound", "transfer timed as well (A13)", options=("--include-transfer",)),
    Case(
        "case_timing:overhead_bound",
        "predict beside a call (A1, A2)",
        modes={"eager": OK, "graph": OK, "keras_predict": OK},
    ),
    Case(
        "case_timing:elementwise",
        "predict of a callable",
        shape="4",
        modes={"eager": OK, "graph": OK, "keras_predict": Expect("skipped", words=("only a Keras model has predict",))},
    ),
    Case("case_timing:convolution", "convolutions (D1, D6)"),
    Case("case_timing:numpy_work_in_call", "NumPy work in the call (A9)", shape="4"),
    Case("case_timing:slow_to_compile", "slow compile (C3)", shape="4"),
    Case(
        "case_timing:never_traced",
        "a trace that never ends (C3)",
        shape="4",
        modes={"eager": OK, "graph": Expect("timeout", words=("no answer within 60 s",))},
        options=("--timeout", "60"),
        exit_code=1,
    ),
    Case(
        "case_timing:never_the_same_time",
        "times that do not settle",
        shape="4",
        modes={"eager": OK, "graph": OK},
    ),
    Case(
        "case_timing:traces_in_every_call",
        "retracing by Python numbers (B1)",
        shape="4",
        findings=findings("retraced eager", "nothing_timed eager"),
        exit_code=1,
    ),
    Case(
        "case_timing:compiles_in_every_call",
        "compiling by Python numbers (C4)",
        shape="4",
        findings=findings("retraced eager", "nothing_timed eager", "xla_inside eager", "xla_inside graph"),
        exit_code=1,
    ),
    Case(
        "case_timing:compiles_inside",
        "jit_compile inside the model",
        shape="4",
        findings=findings("xla_inside eager", "xla_inside graph"),
        in_ci=True,
    ),
    Case(
        "case_timing:loop",
        "a loop under auto-clustering (C9)",
        shape="4",
        modes={"eager": OK, "graph": OK, "xla_autocluster": OK},
        findings=findings("xla_not_used xla_autocluster"),
    ),
    Case(
        "case_timing:elementwise",
        "small operations under auto-clustering",
        shape="4",
        modes={"eager": OK, "graph": OK, "xla_autocluster": OK},
    ),
    Case(
        "case_timing:loop",
        "auto-clustering by the user's own flags (C9)",
        shape="4",
        environment={"TF_XLA_FLAGS": "--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit"},
        findings=findings("auto_jit"),
    ),
)

SHAPES = (
    Case("case_shapes:open_length", "an open length (C1)", findings=findings("default_dimensions"), in_ci=True),
    Case("case_shapes:fixed_batch", "a batch built into the model"),
    Case(
        "case_shapes:fixed_batch",
        "another batch than the model's",
        modes=REFUSED,
        options=("--batch-size", "3"),
        exit_code=2,
        refusal=("batch size 3 does not fit the model, which is built for 4",),
    ),
    Case(
        "case_shapes:length_from_value",
        "XLA compiles for a value (C2)",
        shape="4",
        findings=findings("recompiled xla", "nothing_timed xla"),
        in_ci=True,
    ),
    Case("case_shapes:boolean_mask", "boolean_mask, summed up (E3)", shape="4"),
    Case("case_shapes:repeat", "tf.repeat by a tensor (E4)", shape="4"),
    Case("case_shapes:conditional_padding", "conditional padding (E5)", shape="4"),
    Case("case_shapes:non_max_suppression", "non-maximum suppression (E14)", shape="4"),
    Case("case_shapes:ragged_answer", "a ragged answer (E7)", shape="4"),
    Case(
        "case_shapes:ragged_range",
        "a ragged range (E16)",
        shape="4",
        modes=no_xla("operation_without_xla", "RaggedRange", source="case_shapes.py"),
    ),
)

TEXT = (
    Case(
        "case_text:string_lookup",
        "StringLookup (E8)",
        modes=no_xla("text_in_xla", None, words=("DT_STRING",)),
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
        findings=findings("xla_inside eager", "xla_inside graph"),
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

NUMERICS = (
    Case("case_numerics:moments_of_large_numbers", "moments of large numbers (F1)", shape="3"),
    Case("case_numerics:chaotic", "chaotic (F6)", shape="4", modes={**ALL_OK, "xla": DIFFERS}, in_ci=True),
    Case("case_numerics:sign_of_complex_numbers", "sign of complex numbers (F4)", shape="4"),
    Case("case_numerics:in_top_k_with_nan", "in_top_k with NaN (F3)", shape="4", modes={**ALL_OK, "xla": DIFFERS}),
    Case("case_numerics:check_numerics", "check_numerics that holds (F2)", shape="4"),
    Case(
        "case_numerics:check_numerics_fails",
        "check_numerics that fails (F2)",
        shape="4",
        modes=REFUSED,
        exit_code=2,
        refusal=("the model's own check : Tensor had NaN values",),
    ),
    Case(
        "case_numerics:check_numerics_everywhere",
        "enable_check_numerics (F8)",
        shape="4",
        modes=no_xla("operation_without_xla", "DebugNumericSummaryV2"),
    ),
    Case("case_numerics:assertion", "assertions, which XLA leaves out (F17)", shape="4"),
    Case("case_numerics:not_a_number", "answers with NaN", shape="4"),
    Case("case_numerics:sigmoid", "bfloat16 (F5)", options=("--dtype", "bfloat16")),
    Case("case_numerics:sigmoid", "mixed precision on a CPU (H6)", options=("--dtype", "mixed_float16")),
    Case(
        "case_numerics:nearly_constant",
        "answers that say nothing",
        findings=findings("outputs_uninformative"),
    ),
    Case(
        "case_numerics:random_numbers",
        "random numbers in inference (F17)",
        shape="4",
        findings=findings("not_deterministic"),
        in_ci=True,
    ),
    Case(
        "case_numerics:stateless_random_numbers",
        "stateless random numbers, which XLA draws otherwise",
        shape="4",
        modes={**ALL_OK, "xla": DIFFERS},
    ),
    Case("case_numerics:dropout", "dropout, left out in inference", modes=FULL),
    Case(
        "case_numerics:dropout_always", "dropout in inference (F18)", shape="16", findings=findings("not_deterministic")
    ),
    Case(
        "case_numerics:counts_calls",
        "a state that every call changes",
        shape="4",
        findings=findings("not_deterministic"),
    ),
    Case("case_numerics:determinism", "operation determinism (E18)"),
    Case(
        "case_numerics:determinism_and_random_numbers",
        "operation determinism without a seed",
        shape="4",
        modes=REFUSED,
        exit_code=2,
        refusal=("seed",),
    ),
    Case(
        "case_numerics:eigenvalues",
        "eigenvalues (E13)",
        shape="4",
        modes=no_xla("operation_without_xla", "Eig", source="case_numerics.py"),
    ),
)

LAYERS = (
    Case("case_layers:lstm", "LSTM (E15)", modes=FULL),
    Case("case_layers:gru_both_ways", "GRU in both directions (E15)"),
    Case("case_layers:two_inputs_two_outputs", "two inputs, two outputs", modes=FULL),
    Case("case_layers:nested_inputs", "nested inputs (I4)"),
    Case("case_layers:lambda_layer", "a Lambda layer (I3)"),
    Case("case_layers:subclassed", "a model that does not say its inputs", shape="4"),
    Case(
        "case_layers:subclassed",
        "a model that does not say its inputs, and nobody else does",
        modes=REFUSED,
        exit_code=2,
        refusal=("--input-shape",),
    ),
    Case(
        "case_layers:private_class",
        "a name that graphs do not allow",
        shape="4",
        modes=no_graph("name_not_allowed", "is not a valid root scope name", source=""),
        exit_code=1,
    ),
    Case("case_layers:module", "a tf.Module", shape="4"),
    Case("case_layers:function", "a tf.function with a signature", findings=findings("function_unwrapped")),
    Case(
        "case_layers:no_answer",
        "no answer at all",
        shape="4",
        modes=REFUSED,
        exit_code=2,
        refusal=("it returned nothing",),
    ),
    Case("case_layers:sparse_answer", "a sparse tensor as answer", shape="4"),
    Case("case_layers:large_answer", "an answer of 64 MiB", shape="4"),
    Case("case_layers:strategy", "variables of a distribution strategy (E19)"),
)

PROCESSES = (
    Case(
        "case_processes:calls_exit",
        "sys.exit in one mode",
        shape="4",
        modes=lost("graph", "trace_failed", "the model called sys.exit('a farewell')"),
        in_ci=True,
    ),
    Case(
        "case_processes:killed",
        "killed in one mode",
        shape="4",
        modes=lost("xla", "crashed", "ended by signal 9 (SIGKILL)"),
    ),
    Case(
        "case_processes:ends_quietly",
        "an end without a word in one mode",
        shape="4",
        modes=lost("xla", "crashed", "ended with exit code 0"),
    ),
    Case(
        "case_processes:endless_recursion",
        "endless recursion in one mode",
        shape="4",
        modes=lost("graph", "trace_failed", "RecursionError", source="in _recurse"),
    ),
    Case(
        "case_processes:out_of_memory_in_python",
        "no memory for Python in one mode (G)",
        shape="4",
        modes=lost("graph", "oom", "MemoryError", source="in _huge_array"),
    ),
    Case(
        "case_processes:out_of_memory_in_tensorflow",
        "no memory for TensorFlow in one mode (G)",
        shape="4",
        modes=lost("graph", "oom", "OOM when allocating tensor", op="Fill", source="in _huge_tensor"),
        in_ci=True,
    ),
    Case("case_processes:starts_threads", "threads that never end", shape="4"),
    Case("case_processes:starts_processes", "children that never end", shape="4"),
    Case("case_processes:prints_much", "a megabyte printed", shape="4"),
    Case("case_processes:closes_its_streams", "standard streams closed", shape="4"),
    Case(
        "case_processes:variable_on_another_device",
        "a variable on another device (E10)",
        shape="4",
        modes={
            "eager": OK,
            "graph": OK,
            "xla": Expect("compile_failed", words=("located in device",), cause="variable_on_another_device"),
        },
    ),
    Case("case_processes:float64_by_default", "another default dtype of Keras"),
)

CASES = (*TIMING, *SHAPES, *TEXT, *PYTHON, *NUMERICS, *LAYERS, *PROCESSES)
