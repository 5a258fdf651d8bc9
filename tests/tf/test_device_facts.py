"""What a worker finds out about the device it is given, on a CPU and from made-up CUDA libraries."""

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import psutil
import pytest

from mlflow_tfexec.measurement.call import no_fence
from mlflow_tfexec.worker.device import fence_for, loaded_cuda_versions, peak_memory_bytes

pytestmark = pytest.mark.tf

# The kernel lags behind by the pages that each thread counts for itself.
INEXACT = 2**24

SOURCES = {
    "libcudart.so.12": "int cudaRuntimeGetVersion(int *version) {{ *version = {number}; return {status}; }}",
    "libcudnn.so.9": "#include <stddef.h>\nsize_t cudnnGetVersion(void) {{ return {number}; }}",
}

compiles = pytest.mark.skipif(
    shutil.which("cc") is None or sys.platform != "linux", reason="needs a C compiler and Linux's list of mapped files"
)


def library(directory, name, *, number, status=0):
    """Compile a library that gives *number* as its version, and return its line in the list of mapped files."""
    directory.mkdir(exist_ok=True)
    source, path = directory / f"{name}.c", directory / name
    source.write_text(SOURCES[name].format(number=number, status=status))
    subprocess.run(["cc", "-shared", "-fPIC", "-o", path, source], check=True)
    return f"7f0000000000-7f0000001000 r-xp 00000000 08:01 131 {' ' * 20}{path}\n"


def test_the_cpu_asked_for_is_the_device(device_facts):
    import tensorflow as tf

    assert device_facts["device"] == "CPU"
    assert device_facts["version"] == tf.__version__
    assert tf.config.get_visible_devices("GPU") == []
    assert not {"device_details", "cuda_runtime_version", "tf32"} & set(device_facts)
    assert None not in device_facts.values()


def test_a_cpu_needs_no_fence(device_facts):
    assert fence_for("CPU") is no_fence


def test_a_cpu_told_to_return_early_needs_one(device_facts):
    import tensorflow as tf

    tf.config.experimental.set_synchronous_execution(enable=False)
    try:
        assert fence_for("CPU") is tf.test.experimental.sync_devices
    finally:
        tf.config.experimental.set_synchronous_execution(enable=True)


def test_a_gpu_always_needs_a_fence(device_facts):
    import tensorflow as tf

    assert fence_for("GPU:1") is tf.test.experimental.sync_devices


def test_peak_memory_is_no_less_than_what_is_in_use_and_does_not_shrink():
    block = np.ones(50_000_000, dtype=np.uint8)
    in_use = psutil.Process().memory_info().rss
    peak = peak_memory_bytes("CPU")
    assert in_use - INEXACT < peak < psutil.virtual_memory().total
    del block
    assert peak_memory_bytes("CPU") > peak - INEXACT


@compiles
@pytest.mark.parametrize(
    ("cuda", "cudnn", "versions"),
    [
        (12050, 90300, {"cuda_runtime_version": "12.5", "cudnn_runtime_version": "9.3.0"}),
        (11080, 8907, {"cuda_runtime_version": "11.8", "cudnn_runtime_version": "8.9.7"}),
        (13000, 91002, {"cuda_runtime_version": "13.0", "cudnn_runtime_version": "9.10.2"}),
    ],
)
def test_loaded_libraries_are_asked_for_their_versions(tmp_path, cuda, cudnn, versions):
    maps = library(tmp_path, "libcudart.so.12", number=cuda) + library(tmp_path, "libcudnn.so.9", number=cudnn)
    assert loaded_cuda_versions(maps) == versions


@compiles
def test_a_library_that_is_really_mapped_is_found(tmp_path):
    library(tmp_path, "libcudart.so.12", number=12090)
    ctypes.CDLL(str(tmp_path / "libcudart.so.12"))
    # Other tests' libraries stay mapped until the process ends.
    lines = Path("/proc/self/maps").read_text().splitlines()
    maps = "\n".join(line for line in lines if str(tmp_path) in line)
    assert loaded_cuda_versions(maps) == {"cuda_runtime_version": "12.9"}


@compiles
def test_a_library_in_a_directory_with_a_space_is_found(tmp_path):
    maps = library(tmp_path / "my environment", "libcudnn.so.9", number=90300)
    assert loaded_cuda_versions(maps) == {"cudnn_runtime_version": "9.3.0"}


@compiles
def test_a_runtime_that_does_not_say_its_version_has_none(tmp_path):
    assert loaded_cuda_versions(library(tmp_path, "libcudart.so.12", number=12050, status=35)) == {}


def test_without_cuda_libraries_there_are_no_versions():
    maps = "7f00-7f10 r-xp 00000000 08:01 131    /usr/lib/libc.so.6\n7f10-7f20 rw-p 00000000 00:00 0 \n"
    assert loaded_cuda_versions(maps) == {}
    assert loaded_cuda_versions("") == {}
