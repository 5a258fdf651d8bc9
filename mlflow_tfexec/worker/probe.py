"""What TensorFlow can do here, step by step: `python -m mlflow_tfexec.worker.probe`, started by `doctor` only.

Each step's facts are on their way before the next begins: whatever ends the process ends one step.
"""

import ctypes
import importlib
import sys
from collections.abc import Callable, Mapping
from time import perf_counter
from types import MappingProxyType
from typing import Any

from mlflow_tfexec.protocol import Probed
from mlflow_tfexec.units import BYTES_PER_MB
from mlflow_tfexec.worker.channel import Channel
from mlflow_tfexec.worker.failures import reason_of

_SIZE = 512
"""Of the matrices that are timed: large enough that the product is the work, small enough to take no time."""
_REPEATS = 7


def main() -> None:
    """Take the steps in order, up to the first that fails."""
    channel = Channel.take_over()
    for step, ask in STEPS.items():
        try:
            facts = ask()
        except SystemExit as error:
            facts = {"error": f"sys.exit({error.code!r}) was called"}
        except Exception as error:  # noqa: BLE001 - what TensorFlow raises is what we are here to tell
            facts = {"error": reason_of(error)}
        channel.reply(Probed(step=step, facts=facts))
        # A precision that is missing says nothing about XLA; without a device there is nothing to ask.
        if "error" in facts and step != "precision":
            return


def _import() -> dict[str, Any]:
    start_s = perf_counter()
    # TensorFlow first: Keras imports it, too, and would word its absence in its own way.
    for name in ("tensorflow", "keras"):
        importlib.import_module(name)
    return {"seconds": perf_counter() - start_s}


def _driver() -> dict[str, Any]:
    """Load CUDA's own driver library as TensorFlow does, and start it. Empty where there is no such library."""
    if sys.platform != "linux":
        return {}
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return {"missing": str(error)}
    code = int(driver.cuInit(0))
    facts: dict[str, Any] = {"init": code}
    text = ctypes.c_char_p()
    if code and driver.cuGetErrorString(code, ctypes.byref(text)) == 0 and text.value:
        facts["init_text"] = text.value.decode(errors="replace")
    return facts


def _device() -> dict[str, Any]:
    from mlflow_tfexec.worker.device import choose_device

    return choose_device("auto")


def _compute() -> dict[str, Any]:
    """Multiply two small matrices of ones, and look at the result."""
    import tensorflow as tf

    from mlflow_tfexec.worker.device import peak_memory_bytes

    size = 8
    ones = tf.ones((size, size))
    product = float(tf.linalg.matmul(ones, ones)[0, 0])
    if product != size:
        raise ArithmeticError(f"a product of ones is {product:g} and not {size}")
    peak = peak_memory_bytes("CPU")
    return {"peak_memory_mb": peak // BYTES_PER_MB} if peak is not None else {}


def _precision() -> dict[str, Any]:
    """Time one matrix product in each precision, in ns: the quickest of a few, after a first."""
    import tensorflow as tf

    from mlflow_tfexec.worker.device import fence_for

    fence = fence_for("GPU" if tf.config.get_visible_devices("GPU") else "CPU")
    times: dict[str, Any] = {"size": _SIZE}
    for name in ("float32", "bfloat16", "float16"):
        matrix = tf.cast(tf.ones((_SIZE, _SIZE)), name)
        samples = []
        for _ in range(_REPEATS + 1):
            fence()
            start_s = perf_counter()
            tf.linalg.matmul(matrix, matrix)
            fence()
            samples.append(perf_counter() - start_s)
        times[name] = round(1e9 * min(samples[1:]))
    return times


def _xla() -> dict[str, Any]:
    """Compile a function that needs libdevice on a GPU, run it, and hold it against the same without XLA."""
    import tensorflow as tf

    def step(values: Any) -> Any:
        return tf.reduce_sum(tf.sin(values) * values)

    start_s = perf_counter()
    values = tf.ones((64,))
    compiled = float(tf.function(step, jit_compile=True)(values))
    seconds = perf_counter() - start_s
    plain = float(step(values))
    if abs(compiled - plain) > 1e-3 * abs(plain):
        raise ArithmeticError(f"XLA computes {compiled:g}, TensorFlow {plain:g}")
    return {"seconds": seconds}


STEPS: Mapping[str, Callable[[], dict[str, Any]]] = MappingProxyType(
    {
        "import": _import,
        "driver": _driver,
        "device": _device,
        "compute": _compute,
        "precision": _precision,
        # Last: a wrong XLA flag ends the process here, and only here.
        "xla": _xla,
    }
)


if __name__ == "__main__":
    main()
