"""Is anything set that bends results, or that a benchmark overrides?"""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from mlflow_tfexec.diagnosis._check import Check, Result
from mlflow_tfexec.diagnosis._facts import Facts

_LONGEST_VALUE = 80

_ON = ("1", "true", "yes", "on")

# Said by other checks, or without influence on a time or an answer.
_SAID_ELSEWHERE = frozenset(
    {
        "CUDA_DEVICE_ORDER", "CUDA_HOME", "CUDA_PATH", "CUDA_VERSION", "NVIDIA_DRIVER_CAPABILITIES",
        "NVIDIA_REQUIRE_CUDA", "NVIDIA_VISIBLE_DEVICES",
        "CUDA_VISIBLE_DEVICES", "NVIDIA_TF32_OVERRIDE", "OMP_NUM_THREADS", "TF_CPP_MAX_VLOG_LEVEL",
        "TF_CPP_MIN_LOG_LEVEL", "TF_CPP_VMODULE", "TF_ENABLE_ONEDNN_OPTS", "TF_NUM_INTEROP_THREADS",
        "TF_NUM_INTRAOP_THREADS",
    }
)  # fmt: skip

# Variables that say a thing by being on: (why, what to do).
_SWITCHES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "CUDA_LAUNCH_BLOCKING": (
            "every kernel is waited for, which hides what graph modes and XLA gain on a GPU",
            "Unset CUDA_LAUNCH_BLOCKING",
        ),
        "CUDA_CACHE_DISABLE": (
            "kernels that the driver compiles are compiled again by every process, within its first calls",
            "Unset CUDA_CACHE_DISABLE",
        ),
        "TF_DETERMINISTIC_OPS": (
            "operations are slower, and Keras switches its own XLA off",
            "Unset TF_DETERMINISTIC_OPS unless that is what you deploy",
        ),
        "TF_FUNCTION_JIT_COMPILE_DEFAULT": (
            "a tf.function without jit_compile is compiled by XLA, so that `graph` is `xla`",
            "Unset TF_FUNCTION_JIT_COMPILE_DEFAULT",
        ),
        "TF_USE_LEGACY_KERAS": (
            "tf.keras is then Keras 2, while models by name are built with Keras 3",
            "Unset TF_USE_LEGACY_KERAS, or bring a model whose imports do not mix both",
        ),
    }
)
# Dumps of every compiled module; the options that write or trace.
_SLOWING = re.compile(r"--xla_(?:dump_to|dump_hlo\w*|hlo_profile)\b\S*")


def judge(facts: Facts) -> Iterator[Result]:
    """Judge each variable that is known, and name the others."""
    variables = dict(facts.variables)
    found = [*_backend(variables), *_auto_jit(variables), *_dumps(variables), *_switches(variables)]
    yield from found
    told = {*_SAID_ELSEWHERE, *_SWITCHES, "KERAS_BACKEND"}
    told |= {result.found.partition("=")[0] for result in found}
    rest = {name: value for name, value in variables.items() if name not in told}
    if rest:
        yield Result(
            "note",
            f"Also set: {', '.join(f'{name}={_short(value)}' for name, value in rest.items())}",
            why="they are read by TensorFlow or by what lies under it, and are kept with every benchmark",
        )
    elif not found:
        yield Result("ok", "No variable is set that bends results")


def _backend(variables: Mapping[str, str]) -> Iterator[Result]:
    backend = variables.get("KERAS_BACKEND", "tensorflow")
    if backend != "tensorflow":
        yield Result(
            "note",
            f"KERAS_BACKEND={backend}",
            why="a benchmark measures Keras on TensorFlow, and overrides it for its own processes",
            do="Nothing, unless the model's own code asks for another backend",
        )


def _auto_jit(variables: Mapping[str, str]) -> Iterator[Result]:
    flags = variables.get("TF_XLA_FLAGS", "")
    if "auto_jit" in flags:
        yield Result(
            "note",
            f"TF_XLA_FLAGS={flags}",
            why="TensorFlow then compiles parts of every graph with XLA: `graph` is no longer a graph without XLA, and "
            "TensorFlow has shipped bugs that this setting alone brings out",
            do="Unset TF_XLA_FLAGS",
        )


def _dumps(variables: Mapping[str, str]) -> Iterator[Result]:
    flags = variables.get("XLA_FLAGS", "")
    slowing = _SLOWING.findall(flags)
    if slowing:
        yield Result(
            "note",
            f"XLA_FLAGS={flags}",
            why=f"{' '.join(slowing)} makes XLA write files, which slows first calls and fills the disk",
            do="Take it out of XLA_FLAGS while measuring",
        )


def _switches(variables: Mapping[str, str]) -> Iterator[Result]:
    for name, (why, do) in _SWITCHES.items():
        if variables.get(name, "").lower() in _ON:
            yield Result("note", f"{name}={variables[name]}", why=why, do=do)


def _short(value: str) -> str:
    return value if len(value) <= _LONGEST_VALUE else value[: _LONGEST_VALUE - 1] + "…"


CHECK = Check(name="flags", group="Settings", position=40, judge=judge)
