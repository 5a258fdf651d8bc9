"""What the calling process, where it has TensorFlow loaded, keeps from the processes that measure."""

import os
import sys


def holds_gpu_memory() -> bool:
    """Say whether TensorFlow of this process takes all memory of a GPU. False where it is not loaded: it takes none.

    Source: https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth
    """
    tf = sys.modules.get("tensorflow")
    if tf is None or os.environ.get("TF_FORCE_GPU_ALLOW_GROWTH", "").lower() == "true":
        return False
    try:
        return any(
            not tf.config.experimental.get_memory_growth(gpu) and not tf.config.get_logical_device_configuration(gpu)
            for gpu in tf.config.get_visible_devices("GPU")
        )
    except (ValueError, RuntimeError):
        # It has no such setting, so that nothing can be said.
        return False
