"""The environment of this process as tags for runs that are no benchmarks, named as on benchmarks. No MLflow here."""

import functools
import logging
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from mlflow_tfexec.tracking import keys

T = TypeVar("T")

SWITCH = "MLFLOW_TFEXEC_CONTEXT"

_ON = frozenset({"", "1", "true", "yes", "on"})
_OFF = frozenset({"0", "false", "no", "off"})

_GPU_FACTS = {
    keys.GPU_NAME: "name",
    keys.GPU_UUID: "uuid",
    keys.GPU_COMPUTE_CAPABILITY: "compute_capability",
    keys.GPU_MEMORY_MB: "memory_mb",
}

_logger = logging.getLogger(__name__)


def is_switched_on(environ: Mapping[str, str]) -> bool:
    """Read MLFLOW_TFEXEC_CONTEXT, in any case of letters.

    On: unset, empty, `1`, `true`, `yes`, `on`. Off: `0`, `false`, `no`, `off`. Whoever sets anything else most likely
    wants an end of it: off, and the log says so.
    """
    value = environ.get(SWITCH, "")
    said = value.strip().lower()
    if said not in _ON | _OFF:
        _logger.warning("%s=%r is neither 1 nor 0: no tfexec tags are put on runs. Use 1 or 0.", SWITCH, value)
    return said in _ON


@functools.cache
def environment_tags() -> Mapping[str, str]:
    """Give the tags of this process as they were when it first asked; none where TensorFlow is not installed.

    Asks NVML and the metadata of packages, once; imports no TensorFlow and starts no CUDA. Never raises an Exception:
    whatever fails leaves out what it would have told.
    """
    from mlflow_tfexec.measurement.environment import describe_host, package_version, tensorflow_version

    version = _attempt(tensorflow_version)
    if not version:
        return MappingProxyType({})
    keras_version = _attempt(lambda: package_version("keras"))
    host = _attempt(describe_host) or {}
    return MappingProxyType(tags_of(host, tensorflow=version, keras=keras_version, fingerprint=_fingerprint(host)))


def tags_of(
    host: Mapping[str, Any], *, tensorflow: str, keras: str | None, fingerprint: str | None = None
) -> dict[str, str]:
    """Turn facts into tags.

    Of the GPUs that CUDA shows a program may use any: a fact becomes a tag where it is the same for all of them.

    Args:
        host: as `describe_host` gives it; may be empty.
        tensorflow: version.
        keras: version. None: not known.
        fingerprint: of the host. None: not known.
    """
    gpus = host.get("gpus") or []
    driver = host.get("gpu_driver") or {} if gpus else {}
    facts = {
        keys.TF_VERSION: tensorflow,
        keys.KERAS_VERSION: keras,
        keys.HOST_FINGERPRINT: fingerprint,
        keys.CPU_NAME: (host.get("cpu") or {}).get("name"),
        keys.GPU_DRIVER: driver.get("version"),
        keys.GPU_DRIVER_CUDA: driver.get("cuda_version"),
        **{tag: _common([gpu.get(fact) for gpu in gpus]) for tag, fact in _GPU_FACTS.items()},
    }
    texts = {tag: str(fact).strip() for tag, fact in facts.items() if fact is not None}
    return {tag: text for tag, text in texts.items() if text}


def _common(values: list[Any]) -> Any:
    """Give the one value that all have. None: they differ, or there are none."""
    return values[0] if values and all(value == values[0] for value in values) else None


def _fingerprint(host: Mapping[str, Any]) -> str | None:
    """Give the fingerprint that a benchmark on this machine would carry. None: the machine could not be described."""
    from mlflow_tfexec.measurement.environment import fingerprint

    return _attempt(lambda: fingerprint(host)) if host else None


def _attempt(ask: Callable[[], T]) -> T | None:
    """Ask for facts. None: that failed; drivers, bindings and broken packages raise types of their own."""
    try:
        return ask()
    except Exception:
        _logger.debug("Facts for tfexec tags are not to be had.", exc_info=True)
        return None
