"""What a session finds out that the reader must know."""

from collections.abc import Mapping

from mlflow_tfexec.records.answers import OutputDifference
from mlflow_tfexec.records.findings import Finding


def cpu_only(reason: str) -> Finding:
    """`--device auto` found no GPU; *reason* says why in its first line, and what to do in its second."""
    problem, _, advice = reason.partition("\n")
    return Finding(
        code="cpu_only",
        what="This is a measurement of the CPU: TensorFlow can use no GPU here.",
        why=problem,
        what_to_try=advice or None,
    )


def gpu_order_uncertain(name: str | None) -> Finding:
    """Several GPUs of different kinds, numbered differently by CUDA and by the driver."""
    return Finding(
        code="gpu_order_uncertain",
        what=f"Which of this machine's GPUs was measured is not certain; TensorFlow calls it {name or 'nothing'}.",
        why="CUDA numbers GPUs by its own rule, the driver by their slots, and the GPUs here are of different kinds.",
        what_to_try="Set CUDA_DEVICE_ORDER=PCI_BUS_ID.",
    )


def keras_backend_overridden(backend: str) -> Finding:
    """KERAS_BACKEND names another backend than TensorFlow."""
    return Finding(
        code="keras_backend_overridden",
        what=f"KERAS_BACKEND={backend} was overridden: the workers run Keras on TensorFlow.",
        why="Only TensorFlow's ways of executing are measured.",
        what_to_try="Unset KERAS_BACKEND to make this message go away.",
    )


def auto_jit(flags: str) -> Finding:
    """Auto-clustering is on, so that `graph` is partly XLA."""
    return Finding(
        code="auto_jit",
        what=f"TF_XLA_FLAGS={flags} switches auto-clustering on: graph is partly compiled by XLA here.",
        why="The difference between graph and xla is then not the difference between TensorFlow's runtime and XLA.",
        what_to_try="Unset TF_XLA_FLAGS.",
    )


def no_steady_state(launch: int, busy_s: Mapping[str, float]) -> Finding:
    """Warm-up ended by its limit for the modes of *busy_s*, after so much work each."""
    modes = ", ".join(f"{mode} ({seconds:.1f} s)" for mode, seconds in busy_s.items())
    return Finding(
        code="no_steady_state",
        what=f"Call times had not settled by the end of warm-up in launch {launch + 1}: {modes}.",
        why="Clocks, caches or other work on the machine still changed them; medians may be too high or too low.",
        what_to_try="Raise --warmup, or keep the machine quiet.",
    )


def not_deterministic(output: OutputDifference, task: str) -> Finding:
    """The baseline disagrees with itself."""
    if task == "train":
        twice, advice = "Training twice from the same weights, eagerly,", "Draw random numbers by Keras's layers, whose"
        advice += " seeds are put back, or by tf.random.stateless functions."
    else:
        twice, advice = "Two eager calls on the same input", "Look for random layers that are active in inference."
    return Finding(
        code="not_deterministic",
        what=f"{twice} differ: {difference_text(output, task)}.",
        why="Other modes' outputs cannot be judged against a baseline that changes.",
        what_to_try=advice,
    )


# float32 resolves 1e-7 of a value: outputs that vary by little more than that hide whatever a mode does to them.
_LEAST_SPREAD = 1e-6


def is_uninformative(spread: float | None) -> bool:
    """Say whether outputs of this relative spread are too alike to show a difference. None is not known."""
    return spread is not None and spread < _LEAST_SPREAD


def outputs_uninformative() -> Finding:
    """The outputs are all alike, so that comparing them proves little."""
    return Finding(
        code="outputs_uninformative",
        what="All outputs of the model are nearly the same number, so equal outputs prove little.",
        why="With random weights some models give one answer whatever they are shown; speed does not depend on it.",
        what_to_try="Use trained weights (--weights imagenet) to compare answers.",
    )


def difference_text(output: OutputDifference, task: str = "inference") -> str:
    """Say how large a difference in outputs is, where it is largest, and what was allowed."""
    what = "losses or weights" if task == "train" else "outputs"
    where = f", most in {output.outputs[0].name!r}" if output.outputs and output.outputs[0].name else ""
    if output.max_abs_error is None:
        return f"{what} differ from eager in number, shape or non-numeric content{where}"
    relative = f", {output.max_rel_error:.2g} of the largest value" if output.max_rel_error is not None else ""
    return (
        f"{what} differ from eager by up to {output.max_abs_error:.3g}{relative}{where}; "
        f"allowed: {output.rtol:g} of a value plus {output.atol:g} of the largest"
    )


def no_reference_loads(launch: int, reason: str) -> Finding:
    """The process of the reference loads could not go on."""
    return Finding(
        code="no_reference_loads",
        what=f"The reference loads of launch {launch + 1} could not be timed: {reason}.",
        why="Held against another benchmark, a change of the machine's speed cannot be told from one of the model's.",
    )


def caller_holds_gpu() -> Finding:
    """TensorFlow of the program that asked for the benchmark takes all memory of the GPU."""
    return Finding(
        code="caller_holds_gpu",
        what="TensorFlow of the calling program takes nearly all memory of the GPU at its first use.",
        why="The processes that measure need some of it: they may run out, or choose slower algorithms that need less.",
        what_to_try="Before the GPU is first used: tf.config.experimental.set_memory_growth(gpu, True), for each GPU.",
    )
