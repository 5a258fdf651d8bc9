"""Are CUDA's libraries there, in the versions that TensorFlow was built for?"""

from collections.abc import Iterator

from mlflow_tfexec.diagnosis._check import Check, Result
from mlflow_tfexec.diagnosis._facts import Facts
from mlflow_tfexec.diagnosis._log import missing_libraries

_INSTALL = "Run: pip install --upgrade 'tensorflow[and-cuda]'"


def judge(facts: Facts) -> Iterator[Result]:
    """Name what the loader missed, what it loaded, and wheels of other versions. Nothing where there is no GPU."""
    if not facts.has_nvidia_gpu:
        return
    missing = [name for name in missing_libraries(facts.tensorflow.log) if not name.startswith("libcuda.so")]
    device = facts.device
    if missing:
        yield Result(
            "problem",
            f"TensorFlow looked in vain for {', '.join(missing)}",
            why="without them it uses no GPU",
            do=_INSTALL,
        )
    elif "cuda_runtime_version" in device or "cudnn_runtime_version" in device:
        yield Result("ok", f"Loaded {_versions(facts)}")
    elif device:
        yield Result(
            "unknown",
            f"TensorFlow {device.get('version')} is built for CUDA {device.get('cuda_version', '?')} and cuDNN "
            f"{device.get('cudnn_version', '?')}; it came to load neither",
        )
    else:
        yield Result("unknown", "CUDA's libraries were not looked for, since TensorFlow did not come so far")
    yield from _wheels(facts)


def _versions(facts: Facts) -> str:
    device = facts.device
    pairs = (("CUDA", "cuda_runtime_version", "cuda_version"), ("cuDNN", "cudnn_runtime_version", "cudnn_version"))
    texts = [
        f"{name} {device[loaded]}{f' (built for {device[built]})' if built in device else ''}"
        for name, loaded, built in pairs
        if loaded in device
    ]
    return ", ".join(texts)


def _wheels(facts: Facts) -> Iterator[Result]:
    wheels = facts.cuda_wheels
    # None installed: the libraries come from elsewhere, or are missing, which is said above.
    if wheels is None or not wheels.met or not wheels.unmet:
        return
    yield Result(
        "problem",
        f"TensorFlow's CUDA packages are not those it asks for: {', '.join(wheels.unmet)}",
        why="a library of another version may be refused, or be slower",
        do=_INSTALL,
    )


CHECK = Check(name="cuda_libraries", group="GPU", position=21, judge=judge)
