"""What our block loop adds to each timed call, against a bare `perf_counter_ns` loop on the same compiled function.

Blocks of both loops alternate in random order inside one process, so that drift hits both alike; the figure is the
median over pairs of (our median - bare median).

    python benchmarks/harness_cost.py
"""

import functools
import random
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from mlflow_tfexec.measurement.blocks import calls_per_block, pilot, time_block
from mlflow_tfexec.measurement.call import PreparedCall

PAIRS = 60
BLOCK_MS = 100.0


def bare_loop(run: Callable[[], Any], calls: int) -> list[int]:
    """Time each call with nothing around it but the clock."""
    times_ns = []
    for _ in range(calls):
        start_ns = time.perf_counter_ns()
        run()
        times_ns.append(time.perf_counter_ns() - start_ns)
    return times_ns


def chain(length: int, size: int) -> Callable[[], Any]:
    """Make a compiled function of *length* matrix products; its concrete function is called directly."""
    import tensorflow as tf

    matrix = tf.random.stateless_uniform((size, size), seed=(1, 2)) / size

    @tf.function
    def products(x: Any) -> Any:
        for _ in range(length):
            x = x @ matrix
        return x

    concrete = products.get_concrete_function(matrix)
    return functools.partial(concrete, matrix)


def compare(name: str, run: Callable[[], Any], pairs: int) -> None:
    """Print the bias of our median against the bare loop's."""
    call = PreparedCall(run=run)
    calls = calls_per_block(pilot(call), BLOCK_MS)
    differences, bare_medians = [], []
    for _ in range(pairs):
        medians = {}
        for ours in random.sample([True, False], 2):
            medians[ours] = median(time_block(call, calls).latency_ns if ours else bare_loop(run, calls))
        differences.append(medians[True] - medians[False])
        bare_medians.append(medians[False])
    bare_ns, bias_ns = median(bare_medians), median(differences)
    print(
        f"{name:<28} {bare_ns / 1e3:>12.2f} µs {bias_ns:>+10.0f} ns {100 * bias_ns / bare_ns:>+8.3f} %  ({calls} calls)"
    )


def main() -> None:
    print(f"{'compiled function':<28} {'bare median':>15} {'bias':>13} {'bias':>10}")
    for name, length, size, pairs in (
        ("shortest call", 1, 2, 4 * PAIRS),
        ("about 1 ms", 3, 256, PAIRS),
        ("about 100 ms", 12, 1024, PAIRS // 3),
    ):
        compare(name, chain(length, size), pairs)


if __name__ == "__main__":
    main()
