"""From the text of options to a spec, with every wrong value refused in one line."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from mlflow_tfexec.benchmarking.shapes import input_shapes
from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.records.spec import BASELINE, PRESETS, Spec

AUTO = "auto"
"""Said for an option that is to follow from the others; an empty option does not pass through every shell."""

DTYPES = ("float32", "float16", "bfloat16", "float64", "mixed_float16", "mixed_bfloat16")
TASKS = ("inference", "train")

# Beyond these a number is a slip of the finger: no such benchmark ends in a lifetime, or fits in memory.
_MAX_COUNT = 100_000
_MAX_BATCH = 10_000_000
_MAX_SECONDS = 7 * 86_400.0
_LEAST_BESIDE_BASELINE = 2

_TRAINING_NAMES = {"loss": "mean_squared_error", "optimizer": "adam"}


@dataclass(frozen=True)
class RunOptions:
    """The options of `run` as text, as the shell or MLproject gives them."""

    model: str
    modes: str = AUTO
    task: str = "inference"
    preset: str = "standard"
    batch_size: str = AUTO
    input_shape: str = AUTO
    shapes: str = AUTO
    inputs: str = AUTO
    include_transfer: bool = False
    dtype: str = "float32"
    weights: str = "none"
    custom_objects: str = "none"
    endpoint: str = AUTO
    safe_mode: bool = True
    device: str = AUTO
    seed: str = "0"
    launches: str = AUTO
    rounds: str = AUTO
    block_ms: str = "100"
    warmup: str = "10"
    timeout: str = "1800"
    margin: str = "0.05"
    time_budget: str = AUTO
    loss: str = AUTO
    optimizer: str = AUTO
    float64_reference: bool = False


def build_spec(options: RunOptions) -> Spec:
    """Check every option and put them together.

    Raises:
        RequestError: one option cannot be right; the text names it, its value, and what would be.
    """
    from mlflow_tfexec.models import check_loading_options, resolve_reference
    from mlflow_tfexec.models._given import check_inputs

    spec = read_options(options, count_items=check_inputs)
    spec = spec.model_copy(update={"model": resolve_reference(options.model)})
    check_loading_options(spec)
    return spec


def read_options(options: RunOptions, *, count_items: Callable[[str], int | None]) -> Spec:
    """Check every option but the model, which is taken as it is named, and put them together.

    Args:
        options: what was asked for.
        count_items: says how many items the inputs of a name hold. None: that is not known before they are loaded.

    Raises:
        RequestError: one option cannot be right.
    """
    task = one_of("task", options.task, TASKS)
    preset_name = one_of("preset", options.preset, tuple(PRESETS))
    preset = PRESETS[preset_name]
    # A number of launches given is a plan without a look in between: all the error is spent at its end.
    looks = preset.looks if _is_auto(options.launches) else (whole("launches", options.launches),)
    return Spec(
        modes=_modes(options.modes, task),
        task=task,
        preset=preset_name,
        **_sizes(options, count_items),
        include_transfer=options.include_transfer,
        dtype=one_of("dtype", options.dtype, DTYPES),
        weights=_weights(options.weights),
        custom_objects=_names(options.custom_objects),
        endpoint=unless_auto(options.endpoint),
        safe_mode=options.safe_mode,
        device=_device(options.device),
        seed=whole("seed", options.seed, least=0, most=2**31 - 1),
        launches=looks[-1],
        looks=looks,
        rounds=preset.rounds if _is_auto(options.rounds) else whole("rounds", options.rounds),
        block_ms=_number("block-ms", options.block_ms, least=1.0, most=60_000.0),
        warmup_s=_number("warmup", options.warmup, least=0.0, most=_MAX_SECONDS),
        timeout_s=_number("timeout", options.timeout, least=1.0, most=_MAX_SECONDS),
        margin=_margin(options.margin),
        time_budget_s=_time_budget(options.time_budget),
        loss=_of_training("loss", options.loss, task),
        optimizer=_of_training("optimizer", options.optimizer, task),
        float64_reference=_float64_reference(options.float64_reference, task),
        model=options.model,
    )


def mode_variables(spec: Spec) -> dict[str, Mapping[str, str]]:
    """Give the environment variables that each mode's process starts with; flags are added to the user's own."""
    from mlflow_tfexec.modes import all_modes

    return {
        mode: {name: _with_own_flags(name, value) for name, value in all_modes()[mode].variables.items()}
        for mode in spec.modes
    }


def _with_own_flags(name: str, value: str) -> str:
    """Put a mode's flags behind those that the user has set: of a flag that is given twice the last counts."""
    own = os.environ.get(name, "").strip()
    return f"{own} {value}" if own and name.endswith("_FLAGS") else value


def unless_auto(text: str) -> str | None:
    """Return what was given. None: `auto`, so that it follows from something else."""
    return None if _is_auto(text) else text


def _is_auto(text: str) -> bool:
    return text.strip().lower() in {AUTO, ""}


def _modes(text: str, task: str) -> tuple[str, ...]:
    """Read a list of modes, separated by commas, each of which can execute *task*."""
    from mlflow_tfexec.modes import all_modes, default_modes

    if _is_auto(text):
        return default_modes()
    names = [name.strip().lower() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in all_modes():
            raise RequestError(f"No mode named {name!r}. {_suggestion(name, tuple(all_modes()))}")
        if names.count(name) > 1:
            raise RequestError(f"Mode {name!r} is named twice in --modes {text!r}. Name each mode once.")
        if task not in all_modes()[name].tasks:
            raise RequestError(f"Mode {name!r} is not for --task {task}. Leave it out.")
    if BASELINE not in names:
        raise RequestError(f"--modes {text!r} lacks {BASELINE!r}, which all others are compared with. Add it.")
    if len(names) < _LEAST_BESIDE_BASELINE:
        raise RequestError(f"--modes {text!r} leaves nothing to compare. Name at least one mode beside {BASELINE!r}.")
    # In table order, so that the same set is the same benchmark however it is typed.
    return tuple(mode for mode in all_modes() if mode in names)


def _of_training(name: str, text: str, task: str) -> str | None:
    """Read the Keras name of a loss or an optimizer. None: `auto`, the model's own or a default."""
    if _is_auto(text):
        return None
    if task != "train":
        raise RequestError(f"--{name} {text!r} is for --task train, and the task is {task}. Leave it out.")
    if not text.strip().isidentifier():
        raise RequestError(f"--{name} {text!r} is not a name. Give one of Keras's, such as {_TRAINING_NAMES[name]}.")
    return text.strip()


def _float64_reference(asked: bool, task: str) -> bool:
    """Refuse a reference in float64 for a task whose answers have none."""
    if asked and task != "inference":
        raise RequestError(f"--float64-reference is for --task inference, and the task is {task}. Leave it out.")
    return asked


def _time_budget(text: str) -> float | None:
    """Read the time after which no further launch begins. None: `auto`, no limit."""
    return None if _is_auto(text) else _number("time-budget", text, least=1.0, most=_MAX_SECONDS)


def optional_margin(text: str) -> float | None:
    """Read a margin of equivalence. None: `auto`."""
    return None if _is_auto(text) else _margin(text)


def _margin(text: str) -> float:
    return _number("margin", text, least=0.001, most=1.0)


def one_of(name: str, text: str, known: Sequence[str]) -> str:
    """Return *text* in lower case if it is one of *known*. Raises RequestError with a suggestion if not."""
    value = text.strip().lower()
    if value in known:
        return value
    raise RequestError(f"No {name} named {text!r}. {_suggestion(value, known)}")


def _suggestion(value: str, known: Sequence[str]) -> str:
    close = get_close_matches(value, known, n=1)
    return f"{f'Did you mean {close[0]!r}? ' if close else ''}Known: {', '.join(known)}."


def whole(name: str, text: str, *, least: int = 1, most: int = _MAX_COUNT) -> int:
    """Read a whole number. Raises RequestError for what is none, or out of range."""
    try:
        value = int(text)
    except ValueError:
        raise RequestError(f"--{name} {text!r} is not a whole number. Give one from {least} to {most}.") from None
    if not least <= value <= most:
        raise RequestError(f"--{name} {value} is out of range. Give a whole number from {least} to {most}.")
    return value


def seconds(name: str, text: str) -> float:
    """Read how long to wait, in seconds. Raises RequestError for what is no such time."""
    return _number(name, text, least=1.0, most=_MAX_SECONDS)


def _number(name: str, text: str, *, least: float, most: float) -> float:
    try:
        value = float(text)
    except ValueError:
        raise RequestError(f"--{name} {text!r} is not a number. Give one from {least:g} to {most:g}.") from None
    # Written so that NaN is refused, too.
    if not least <= value <= most:
        raise RequestError(f"--{name} {text!r} is out of range. Give a number from {least:g} to {most:g}.")
    return value


def _sizes(options: RunOptions, count_items: Callable[[str], int | None]) -> dict[str, Any]:
    """Read what defines the size of a call: batch, shape, or inputs that bring their own."""
    fields: dict[str, Any] = {}
    if not _is_auto(options.batch_size):
        fields |= {"batch_size": whole("batch-size", options.batch_size, most=_MAX_BATCH), "batch_asked": True}
    if not _is_auto(options.input_shape):
        fields |= input_shapes("input-shape", options.input_shape)
    if _is_auto(options.inputs):
        return fields
    for option, text in (("input-shape", options.input_shape), ("shapes", options.shapes)):
        if not _is_auto(text):
            raise RequestError(f"--inputs {options.inputs!r} has a shape, so --{option} {text!r} cannot be. Give one.")
    batch = count_items(options.inputs)
    if batch is not None and fields.get("batch_size", batch) != batch:
        raise RequestError(
            f"--batch-size {options.batch_size} does not fit --inputs {options.inputs!r}, which hold {batch} items. "
            "Leave it out, or give as many."
        )
    return fields | {"inputs": options.inputs} | ({} if batch is None else {"batch_size": batch})


def _weights(text: str) -> str | None:
    value = text.strip()
    if value.lower() in {"none", ""}:
        return None
    if value.lower() == "imagenet":
        return "imagenet"
    if os.path.isfile(value):  # noqa: PTH113 - Path.is_file raises for a name that is too long
        return value
    raise RequestError(f"No weights {text!r}. Give none, imagenet, or the path of a weights file.")


def _names(text: str) -> tuple[str, ...]:
    """Read a list separated by commas; `none` is empty."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    return () if [name.lower() for name in names] == ["none"] else names


def _device(text: str) -> str:
    value = text.strip().lower()
    if value in {AUTO, "cpu", "gpu"} or re.fullmatch(r"gpu:[0-9]{1,4}", value):
        return value
    raise RequestError(f"No device named {text!r}. Give auto, cpu, gpu or gpu:N with N from 0.")
