"""Rows of the table: numbers, and structures."""

from cases.case import Case
from cases.expectations import ALL_OK, DIFFERS, FULL, REFUSED, findings, no_graph, no_xla

NUMERICS = (
    Case(
        "case_numerics:moments_of_large_numbers",
        "moments of large numbers (F1)",
        shape="3",
        modes={**ALL_OK, "xla": DIFFERS},
    ),
    Case(
        "case_numerics:chaotic",
        "chaotic (F6)",
        shape="4",
        findings=findings("outputs_undetermined"),
        in_ci=True,
    ),
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
    Case("case_numerics:not_a_number", "answers with NaN", shape="4", findings=findings("outputs_not_finite")),
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
