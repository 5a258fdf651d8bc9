"""The steps in which TensorFlow is asked, in order, and how to speak of them."""

from collections.abc import Mapping
from types import MappingProxyType

DOING: Mapping[str, str] = MappingProxyType(
    {
        "import": "importing TensorFlow",
        "driver": "asking the CUDA driver",
        "device": "choosing a device",
        "compute": "computing on it",
        "precision": "timing a matrix product in each precision",
        "xla": "compiling with XLA",
    }
)
"""What the process is doing, by step of `worker.probe`."""
