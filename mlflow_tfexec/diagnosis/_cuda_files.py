"""Where XLA looks for ptxas and libdevice.

Source: xla/debug_options_flags.cc (`xla_gpu_cuda_data_dir`) and tsl's `CandidateCudaRoots`: the directory of the flag,
the `nvidia/cuda_nvcc` package beside TensorFlow, /usr/local/cuda.
"""

import re
import shutil
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path

from mlflow_tfexec.diagnosis._facts import CudaFiles

_DATA_DIRECTORY = re.compile(r"--xla_gpu_cuda_data_dir=(\S+)")
_TOOLKIT = Path("/usr/local/cuda")


def find_cuda_files(environ: Mapping[str, str], packages: Path | None = None, toolkit: Path = _TOOLKIT) -> CudaFiles:
    """Look for both. *packages* stands in for the folder of Python packages, *toolkit* for /usr/local/cuda."""
    packages = packages or Path(sysconfig.get_path("purelib"))
    roots = list(_roots(environ, packages, toolkit))
    ptxas = _first(roots, "bin/ptxas") or shutil.which("ptxas", path=environ.get("PATH"))
    return CudaFiles(ptxas=ptxas, libdevice=_first(roots, "nvvm/libdevice/libdevice.10.bc"))


def _roots(environ: Mapping[str, str], packages: Path, toolkit: Path) -> Iterator[Path]:
    flag = _DATA_DIRECTORY.search(environ.get("XLA_FLAGS", ""))
    if flag:
        yield Path(flag[1].strip("'\""))
    yield packages / "nvidia" / "cuda_nvcc"
    yield toolkit


def _first(roots: list[Path], name: str) -> str | None:
    return next((str(root / name) for root in roots if (root / name).is_file()), None)
