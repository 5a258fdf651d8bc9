"""What is to be said of traces and of XLA's compilations: those too many, and those that are missing."""

from collections.abc import Iterator

from mlflow_tfexec.records.findings import Finding
from mlflow_tfexec.records.recording import Recording
from mlflow_tfexec.statistics.rounds import invalid_blocks
from mlflow_tfexec.units import count

_THROUGH_XLA = frozenset({"xla", "xla_autocluster"})
_MAY_USE_XLA = _THROUGH_XLA | {"keras_predict"}


def compile_findings(recording: Recording) -> Iterator[Finding]:
    """Warn of modes that traced or compiled while they were timed, that ran without XLA, or with it unasked."""
    invalid = invalid_blocks(recording)
    for mode in dict.fromkeys(recording.spec.modes):
        values = _values_compiled_for(recording, mode)
        if values:
            yield _recompiled(mode, values, *invalid.get(mode, (0, 0)))
        elif mode in invalid:
            yield _retraced(mode, *invalid[mode])
        counts = [line.xla_compiles for line in recording.mode_lines.get(mode, {}).values()]
        compiles = max((count for count in counts if count is not None), default=None)
        status = (line := recording.final_line(mode)) and line.status
        if compiles == 0 and mode in _THROUGH_XLA and status == "ok":
            yield _without_xla(mode)
        elif compiles and mode not in _MAY_USE_XLA:
            yield _xla_inside(mode, compiles)


def _values_compiled_for(recording: Recording, mode: str) -> int:
    """Count the blocks, warm-up included, in which XLA compiled again for inputs of the same shapes."""
    blocks = (block for block in recording.blocks if block.mode == mode and block.again == "compile")
    return len({(block.launch, block.warmup, block.round) for block in blocks})


def _retraced(mode: str, invalid: int, total: int) -> Finding:
    return Finding(
        code="retraced",
        what=f"Traced or compiled again inside {invalid} of {total} blocks; these were left out.",
        why="Such a block times the compiler. Inputs of changing shape, or Python numbers as arguments, cause it.",
        what_to_try="Feed tensors of one shape.",
        mode=mode,
    )


def _recompiled(mode: str, values: int, invalid: int, total: int) -> Finding:
    left_out = f"; {invalid} of {total} timed blocks were left out for it" if invalid else ", all while warming up"
    return Finding(
        code="recompiled",
        what=f"XLA compiled again in {count(values, 'block', 'blocks')}, without a new trace{left_out}.",
        why="Inputs of a round have the shapes of the last and other values: XLA compiles this model for a value, as "
        "where a shape inside it follows from one. Every new input then costs a compilation.",
        what_to_try="Look for tf.range, tf.reshape, tf.slice and loops whose length is computed from the input.",
        mode=mode,
    )


def _without_xla(mode: str) -> Finding:
    return Finding(
        code="xla_not_used",
        what="XLA compiled nothing in this mode, so its time is not XLA's.",
        why="TensorFlow tells of each compilation, and told of none.",
        what_to_try="Leave the mode out, or report what the model is made of.",
        mode=mode,
    )


def _xla_inside(mode: str, compiles: int) -> Finding:
    times = "once" if compiles == 1 else f"{compiles} times"
    return Finding(
        code="xla_inside",
        what=f"XLA compiled {times} in this mode, which does not ask for it.",
        why="The model itself does, by a tf.function with jit_compile=True inside: its time is partly XLA's.",
        what_to_try="Take jit_compile out of the model, to compare the modes by their names.",
        mode=mode,
    )
