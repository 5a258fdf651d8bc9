"""Measure ways of executing a Keras or TensorFlow model side by side, and keep the result in MLflow."""

from typing import TYPE_CHECKING, Any

from mlflow_tfexec._version import __version__ as __version__

if TYPE_CHECKING:
    from mlflow_tfexec.api.attaching import attach as attach
    from mlflow_tfexec.api.attaching import pull as pull
    from mlflow_tfexec.api.benchmark import benchmark as benchmark
    from mlflow_tfexec.api.logging import log_to_mlflow as log_to_mlflow
    from mlflow_tfexec.api.result import Benchmark as Benchmark
    from mlflow_tfexec.records.codec import load_recording as load_recording
    from mlflow_tfexec.records.judgement import Judgement as Judgement
    from mlflow_tfexec.records.recording import Recording as Recording
    from mlflow_tfexec.statistics.judge import judge as judge

# Names are resolved on first use: as a plugin this module is imported by every `import mlflow`, and must cost nothing.
_PUBLIC = {
    "Benchmark": "mlflow_tfexec.api.result",
    "Judgement": "mlflow_tfexec.records.judgement",
    "Recording": "mlflow_tfexec.records.recording",
    "attach": "mlflow_tfexec.api.attaching",
    "benchmark": "mlflow_tfexec.api.benchmark",
    "judge": "mlflow_tfexec.statistics.judge",
    "load_recording": "mlflow_tfexec.records.codec",
    "log_to_mlflow": "mlflow_tfexec.api.logging",
    "pull": "mlflow_tfexec.api.attaching",
}

__all__ = [
    "Benchmark",
    "Judgement",
    "Recording",
    "attach",
    "benchmark",
    "judge",
    "load_recording",
    "log_to_mlflow",
    "pull",
]


def __getattr__(name: str) -> Any:
    import importlib

    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
