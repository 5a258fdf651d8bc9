"""What tells benchmarks apart besides their times: the facts of their headers that are not the same in all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from mlflow_tfexec.records.recording import Header

Kind = Literal["subject", "machine", "versions", "other"]
"""`subject`: what was computed. `machine`: on what. `versions`: by which software. `other`: seldom of weight."""

# What weighs on no call; everything else that the environment lists as a package may.
_WEIGHTLESS_PACKAGES = frozenset({"mlflow", "mlflow-skinny", "mlflow-tfexec", "pandas", "tensorflow", "keras"})

# What TensorFlow switches on or off, and what it is called.
_SWITCHES = {"onednn": "oneDNN", "op_determinism": "deterministic operations", "tf32": "TF32"}


@dataclass(frozen=True)
class Difference:
    """One fact that is not the same in all benchmarks."""

    kind: Kind
    label: str
    values: tuple[str | None, ...]
    """One per benchmark, as recorded. None: not there, or not known."""


def differences(headers: Sequence[Header]) -> tuple[Difference, ...]:
    """List the facts that differ between benchmarks; what weighs most comes first."""
    facts = [_facts(header) for header in headers]
    keys = dict.fromkeys(key for of_one in facts for key in of_one)
    rows = [Difference(*key, tuple(of_one.get(key) for of_one in facts)) for key in keys]
    order: list[Kind] = ["subject", "machine", "versions", "other"]
    return tuple(sorted((row for row in rows if len(set(row.values)) > 1), key=lambda row: order.index(row.kind)))


def _facts(header: Header) -> dict[tuple[Kind, str], str | None]:
    return {**_subject(header), **_machine(header), **_versions(header), **_other(header)}


def _subject(header: Header) -> dict[tuple[Kind, str], str | None]:
    spec = header.spec
    inputs = ", ".join(f"{tuple(tensor.shape)} {tensor.dtype}" for tensor in header.inputs)
    return {
        ("subject", "model"): header.model_origin.uri if header.model_origin else spec.model,
        ("subject", "task"): spec.task,
        ("subject", "loss"): header.training.loss if header.training else spec.loss,
        ("subject", "optimizer"): header.training.optimizer if header.training else spec.optimizer,
        ("subject", "input"): inputs or None,
        # Made-up values differ with the seed and weigh on nothing; values that somebody chose may.
        ("subject", "values of the input"): (header.inputs_sha256 or spec.inputs) if spec.inputs else None,
        ("subject", "transfer from the host"): "timed as well" if spec.include_transfer else None,
        ("subject", "batch size"): str(spec.batch_size),
        ("subject", "dtype policy"): spec.dtype,
    }


def _machine(header: Header) -> dict[tuple[Kind, str], str | None]:
    environment, gpu = header.environment, header.measured_gpu
    return {
        ("machine", "device"): recorded(environment, "tensorflow", "device"),
        ("machine", "GPU"): recorded(gpu, "name"),
        ("machine", "GPU driver"): recorded(environment, "gpu_driver", "version") if gpu else None,
        ("machine", "CPU"): recorded(environment, "cpu", "name"),
        ("machine", "usable cores"): recorded(environment, "cpu", "usable_cores"),
        ("machine", "CPU quota"): recorded(environment, "cpu", "cgroup_cpu_quota"),
    }


def _versions(header: Header) -> dict[tuple[Kind, str], str | None]:
    environment = header.environment
    return {
        ("versions", "TensorFlow"): recorded(environment, "tensorflow", "version"),
        ("versions", "Keras"): recorded(environment, "tensorflow", "keras_version"),
        ("versions", "CUDA"): recorded(environment, "tensorflow", "cuda_version"),
        ("versions", "cuDNN"): recorded(environment, "tensorflow", "cudnn_version"),
        ("versions", "Python"): _series(recorded(environment, "python", "version")),
    }


def _other(header: Header) -> dict[tuple[Kind, str], str | None]:
    environment = header.environment
    found: dict[tuple[Kind, str], str | None] = {
        ("other", "weights"): header.weights_sha256,
        **{("other", label): _switch(environment, name) for name, label in _SWITCHES.items()},
        ("other", "GPU id"): recorded(header.measured_gpu, "uuid"),
        ("other", "system"): recorded(environment, "os", "release"),
        ("other", "host fingerprint"): recorded(environment, "fingerprint"),
    }
    for name in sorted(_mapping(environment.get("packages"))):
        if name not in _WEIGHTLESS_PACKAGES:
            found["other", name] = recorded(environment, "packages", name)
    for name in sorted(_mapping(environment.get("variables"))):
        found["other", f"${name}"] = recorded(environment, "variables", name)
    return found


def recorded(tree: Any, *path: str) -> str | None:
    """Follow *path* into nested mappings and write what is there. None: something on the way is absent."""
    for step in path:
        tree = _mapping(tree).get(step)
    return str(tree) if isinstance(tree, str | int | float) and not isinstance(tree, bool) and tree != "" else None


def _switch(environment: Mapping[str, Any], name: str) -> str | None:
    """Write whether something is on. None: not recorded."""
    state = _mapping(environment.get("tensorflow")).get(name)
    return None if state is None else ("on" if state else "off")


def _series(version: str | None) -> str | None:
    """Keep the first two numbers of a version: what Python mends within a series changes no call."""
    return None if version is None else ".".join(version.split(".")[:2])


def _mapping(tree: Any) -> Mapping[str, Any]:
    return tree if isinstance(tree, Mapping) else {}
