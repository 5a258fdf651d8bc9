"""What the causes of failures mean, and what to do about each."""

from collections.abc import Mapping
from typing import NamedTuple

SMALLER_BATCH = "smaller_batch"
"""Code of the finding that says which smaller batch a mode without enough memory was tried on, and whether it fits."""


class Advice(NamedTuple):
    """Two sentences for the reader of a failed mode."""

    why: str
    what_to_try: str


BY_CAUSE: Mapping[str, Advice] = {
    "operation_without_xla": Advice(
        "XLA has no implementation of this operation for this device.",
        "Replace the operation, or put jit_compile=True only around the parts of the model that lack it.",
    ),
    "python_function_in_graph": Advice(
        "tf.py_function and tf.numpy_function call back into Python, which XLA cannot compile.",
        "Write that part with TensorFlow operations, or leave it outside of the compiled part.",
    ),
    "text_in_xla": Advice(
        "XLA computes numbers only: text, lookups of text and printing have to stay outside.",
        "Look up tokens before the model, and give it numbers.",
    ),
    "shape_from_values": Advice(
        "XLA fixes every shape when it compiles, and here a shape follows from values that are known only at run time.",
        "Pad to a fixed size, and mask; give tf.repeat, tf.unique or tf.boolean_mask an output of a fixed size.",
    ),
    "variables_in_function": Advice(
        "A tf.function makes variables each time it is traced, which is allowed once only.",
        "Make layers and variables in the model's constructor or build method.",
    ),
    "tensor_as_python_value": Advice(
        "In a graph a tensor has no value yet, and the model's Python code asks for one (if, for, int(), .numpy()).",
        "Use tf.cond, tf.while_loop or tf.where, and keep NumPy out of call().",
    ),
    "branches_differ": Advice(
        "In a graph both branches of an if, and every turn of a loop, give the same variables, shapes and types.",
        "Give each variable a value before the if or the loop, of the shape and type that it has afterwards.",
    ),
    "name_not_allowed": Advice(
        "A graph names its parts after layers, and takes no name that begins with an underscore.",
        "Give the model or the layer a name=, or its class a name without the underscore.",
    ),
    "shape_unknown_in_graph": Advice(
        "An operation such as tf.py_function gives a tensor of unknown shape, and what follows needs to know it.",
        "Call set_shape on its result.",
    ),
    "tensor_from_another_graph": Advice(
        "The model keeps a tensor of one trace and uses it in another.",
        "Do not store tensors on the model or in global variables while it is called.",
    ),
    "not_a_number": Advice(
        "A check for NaN and infinity in the model itself found one.",
        "Look at the inputs and weights: random ones may overflow where trained ones do not.",
    ),
    "variable_on_another_device": Advice(
        "A variable lives on another device than the compiled function, which XLA does not bridge.",
        "Make the variables under the same tf.device as the call.",
    ),
    "not_deterministic_op": Advice(
        "Operation determinism is switched on, and this operation has no deterministic implementation.",
        "Switch it off for the benchmark, or replace the operation.",
    ),
    "wrong_input": Advice(
        "The model was given an input of another shape than this part of it takes.",
        "Check --input-shape and --batch-size, or give inputs with --inputs.",
    ),
    "gpu_newer_than_build": Advice(
        "This TensorFlow was built before this GPU and holds no code for it.",
        "Install a newer TensorFlow; `mlflow-tfexec doctor` compares the two.",
    ),
    "libdevice_missing": Advice(
        "XLA needs libdevice, a file of CUDA's compiler, and does not find it.",
        "pip install 'tensorflow[and-cuda]', or set XLA_FLAGS=--xla_gpu_cuda_data_dir to CUDA's directory.",
    ),
    "ptxas_missing": Advice(
        "XLA needs ptxas, CUDA's assembler, and does not find it or cannot use it.",
        "pip install 'tensorflow[and-cuda]', or put CUDA's bin directory first in PATH.",
    ),
    "cuda_library_missing": Advice(
        "A CUDA library cannot be loaded, or is of another version than TensorFlow was built for.",
        "pip install 'tensorflow[and-cuda]'; `mlflow-tfexec doctor` lists what is found.",
    ),
}

BY_STATUS: Mapping[str, Advice] = {
    "trace_failed": Advice(
        "tf.function could not turn the model's Python code into a graph.",
        "Look for Python code in the model that depends on tensor values.",
    ),
    "compile_failed": Advice(
        "XLA could not compile the graph: often an operation that it lacks, or a shape unknown in advance.",
        "Give a fixed input shape and look for the operation that the reason names.",
    ),
    "run_failed": Advice("The call itself raised an error.", "Run the model once by hand in this mode."),
    "oom": Advice("There was not enough memory.", "Free the device of other programs."),
    "timeout": Advice("The worker did not answer in time.", "If it was not stuck, allow more time with --timeout."),
    "crashed": Advice(
        "The worker process ended by itself; the other modes ran in processes of their own and are not touched.",
        "Read the worker's last lines in the recording.",
    ),
}

_UNKNOWN = Advice("The mode could not be measured.", "Read the worker's last lines in the recording.")


def advise(status: str, cause: str | None) -> Advice:
    """Give the advice for a cause where it is known, else for the status."""
    return BY_CAUSE.get(cause or "") or BY_STATUS.get(status, _UNKNOWN)


def place(op: str | None, layer: str | None, source: str | None) -> str:
    """Say which operation of which layer failed, and on which line of the model's code. Empty: nothing is known."""
    parts = (("operation", op), ("layer", layer), ("line", source))
    return ", ".join(f"{word} {value}" for word, value in parts if value)
