"""Rows of the table: times, compilers, shapes."""

from cases.case import OK, Case, Expect
from cases.expectations import REFUSED, findings, no_xla

TIMING = (
    Case("case_timing:overhead_bound", "little work, much overhead (A4, A10)", in_ci=True),
    Case("case_timing:overhead_bound", "transfer timed as well (A13)", options=("--include-transfer",)),
    Case(
        "case_timing:overhead_bound",
        "predict beside a call (A1, A2)",
        modes={"eager": OK, "graph": OK, "keras_predict": OK},
        findings=findings("predict_jit keras_predict"),
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
    Case(
        "case_shapes:repeat",
        "tf.repeat by a tensor (E4)",
        shape="4",
        findings=findings("recompiled xla", "nothing_timed xla"),
    ),
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
