"""Rows of the table: what models do to their process."""

from cases.case import OK, Case, Expect
from cases.expectations import findings, lost

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
    Case(
        "case_processes:out_of_memory_by_batch",
        "no memory for a batch in one mode (G)",
        shape="4",
        modes=lost("graph", "oom", "OOM when allocating tensor", op="Fill", source="in _huge_tensor"),
        options=("--batch-size", "8"),
        findings=findings("smaller_batch graph"),
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
