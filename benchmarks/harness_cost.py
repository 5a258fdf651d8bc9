"""What our block loop adds to each timed call, against a bare `perf_counter_ns` loop on the same function.

Short blocks of both loops alternate in random order inside one process, so that drift hits both alike. The bias is the
median over pairs of (our median - bare median), with a 95 % interval from the order statistics of the pairs.

    python benchmarks/harness_cost.py
"""

import functools
import gc
import math
import random
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from mlflow_tfexec.measurement.blocks import pilot, time_block
from mlflow_tfexec.measurement.call import PreparedCall


def bare_loop(run: Callable[[], Any], calls: int) -> list[int]:
    """Time each call with nothing around it but the clock."""
    times_ns = []
    for _ in range(calls):
        start_ns = time.perf_counter_ns()
        run()
        times_ns.append(time.perf_counter_ns() - start_ns)
    return times_ns


def eager_chain(length: int) -> Callable[[], Any]:
    """Make a step of *length* tiny eager operations: the only TensorFlow call of some 20 µs on a slow core."""
    import tensorflow as tf

    x = tf.ones((2, 2))

    def step() -> Any:
        y = x
        for _ in range(length):
            y = tf.raw_ops.AddV2(x=y, y=x)
        return y

    return step


def compiled_chain(length: int, size: int) -> Callable[[], Any]:
    """Make a compiled function of *length* matrix products; its concrete function is called directly."""
    import tensorflow as tf

    matrix = tf.random.stateless_uniform((size, size), seed=(1, 2)) / size

    @tf.function
    def products(x: Any) -> Any:
        for _ in range(length):
            x = x @ matrix
        return x

    return functools.partial(products.get_concrete_function(matrix), matrix)


def median_interval(values: list[float]) -> tuple[float, float]:
    """Return the 95 % interval of the median by order statistics (binomial, normal approximation)."""
    ordered = sorted(values)
    half = 1.96 * math.sqrt(len(ordered)) / 2
    low = max(0, math.floor(len(ordered) / 2 - half))
    high = min(len(ordered) - 1, math.ceil(len(ordered) / 2 + half))
    return ordered[low], ordered[high]


def compare(name: str, run: Callable[[], Any], *, pairs: int, calls: int) -> None:
    """Print the bias of our median against the bare loop's."""
    call = PreparedCall(function=run)
    pilot(call)
    differences: list[float] = []
    bare_medians = []
    for _ in range(pairs):
        medians = {}
        for ours in random.sample([True, False], 2):
            medians[ours] = median(time_block(call, calls).latency_ns if ours else bare_loop(run, calls))
        differences.append(medians[True] - medians[False])
        bare_medians.append(medians[False])
    bare_ns, bias_ns = median(bare_medians), median(differences)
    low, high = median_interval(differences)
    print(
        f"{name:<34} {bare_ns / 1e3:>10.2f} µs {bias_ns:>+9.0f} ns [{low:+.0f}, {high:+.0f}]"
        f" {100 * bias_ns / bare_ns:>+7.3f} % [{100 * low / bare_ns:+.2f}, {100 * high / bare_ns:+.2f}]"
    )


def main() -> None:
    compiled = [compiled_chain(1, 2), compiled_chain(4, 256), compiled_chain(12, 1024)]
    short = eager_chain(3)
    for run in (short, *compiled):
        run()
    # As the worker does after its first calls, so that collecting before a block walks next to nothing.
    gc.collect()
    gc.freeze()
    print(f"{'call':<34} {'bare median':>13} {'bias':>12}")
    compare("three eager operations", short, pairs=1000, calls=200)
    compare("shortest compiled function", compiled[0], pairs=1000, calls=50)
    compare("compiled function, about 1 ms", compiled[1], pairs=1000, calls=11)
    compare("compiled function, about 100 ms", compiled[2], pairs=150, calls=1)


if __name__ == "__main__":
    main()
