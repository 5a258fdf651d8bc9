"""Every name that is written to MLflow. Importing this module imports no MLflow.

History of SCHEMA_VERSION:
1. One parent run (kind `benchmark`), one child per mode (kind `mode`); the names below. Added since, without a change
   to these: a run of kind `report`, which holds what was said about benchmarks and none itself; the tag
   `tfexec.gpu.driver_cuda`; environment tags on runs that are no benchmarks, which have no `tfexec.kind`; what `attach`
   writes to runs and models that are not ours, and the tag `tfexec.attached_to` on the parent.
"""

SCHEMA_VERSION = 1

PREFIX = "tfexec."
"""All our tags begin with it."""

# Tags on parent and children.
SCHEMA = "tfexec.schema_version"
KIND = "tfexec.kind"
BENCHMARK_ID = "tfexec.benchmark_id"
MODEL = "tfexec.model"
MODEL_URI = "tfexec.model_uri"
"""Of a model from MLflow: a reference that will always mean the same one."""
TASK = "tfexec.task"
STATUS = "tfexec.status"
FAMILY = "tfexec.family"
"""What the benchmarks of one sweep over batch sizes or shapes have in common."""
TF_VERSION = "tfexec.tf.version"
KERAS_VERSION = "tfexec.keras.version"
CUDA_VERSION = "tfexec.cuda.version"
CUDNN_VERSION = "tfexec.cudnn.version"
DEVICE = "tfexec.device"
GPU_NAME = "tfexec.gpu.name"
GPU_DRIVER = "tfexec.gpu.driver"
GPU_DRIVER_CUDA = "tfexec.gpu.driver_cuda"
"""The newest CUDA that the driver supports; CUDA_VERSION is the one that TensorFlow was built with."""
GPU_COMPUTE_CAPABILITY = "tfexec.gpu.compute_capability"
GPU_MEMORY_MB = "tfexec.gpu.memory_mb"
GPU_UUID = "tfexec.gpu.uuid"
CPU_NAME = "tfexec.cpu.name"
HOST_FINGERPRINT = "tfexec.host.fingerprint"

# Tags on children only.
MODE = "tfexec.mode"
REASON = "tfexec.reason"

# Tags on the parent only; the last one on a report as well.
ORDERING = "tfexec.ordering"
FASTEST = "tfexec.fastest"
LOGGED = "tfexec.logged"
"""`"1"` once everything of the benchmark, or of the report, is written; the last thing to be set."""

# Tag on a report only.
BENCHMARK_IDS = "tfexec.benchmark_ids"
"""The ids of the benchmarks that it is about, separated by commas; it ends in `…` where there are more."""

# Tag on the parent of a benchmark that was attached to something.
ATTACHED_TO = "tfexec.attached_to"
"""JSON list of the targets, such as `["runs:/…", "models:/net/3"]`, in the order in which they were attached to."""

# Tags on what a benchmark is attached to, each behind a prefix and a dot.
ATTACH_PREFIX = "tfexec"
ATTACHED_BENCHMARK_ID = "benchmark_id"
ATTACHED_RUN_ID = "benchmark_run_id"
"""The benchmark's own run. Absent: it was attached from a recording."""
ATTACHED_FASTEST = "fastest"
ATTACHED_BEST_SET = "best_set"
"""Modes separated by commas: the truly fastest is among them."""
ATTACHED_SPEEDUP = "speedup"
"""Of the fastest mode over eager, as a plain number. Absent where no mode is proven fastest."""
ATTACHED_ORDERING = "ordering"
ATTACHED_TIME = "attached"
ATTACHED_CONTENT = "attachment"
"""What `pull` gives, as JSON. The last one to be set: a target that has it has all."""


def attached_tag(prefix: str, name: str) -> str:
    """Name a tag on what a benchmark is attached to."""
    return f"{prefix}.{name}"


def attached_latency(prefix: str, mode: str) -> str:
    """Name the metric that holds the median time of one call of *mode*, in milliseconds."""
    return f"{prefix}/latency_ms/{mode}"


def attached_speedup(prefix: str, mode: str) -> str:
    """Name the metric that holds the speed-up of *mode*."""
    return f"{prefix}/{parent_speedup(mode)}"


KIND_BENCHMARK = "benchmark"
KIND_MODE = "mode"
KIND_REPORT = "report"

# MLflow's own tags that the schema rests on.
PARENT_RUN_ID = "mlflow.parentRunId"
NOTE = "mlflow.note.content"
SOURCE_PREFIXES = ("mlflow.user", "mlflow.source.")
"""Tags that say who ran what; children copy them from the parent."""

# Metrics.
SAMPLES = "samples/latency_ms"
"""Series on children: one point per call, step = index of the call among the mode's timed calls."""

MODE_METRICS = (
    *(
        f"latency_ms/{figure}"
        for figure in ("median", "mean", "std", "min", "max", "p05", "p95", "p99", "ci95_low", "ci95_high")
    ),
    "throughput/items_per_s",
    "dispatch_ms/median",
    "first_call_ms/trace",
    "first_call_ms/total",
    "memory/peak_mb",
    "speedup/vs_eager",
    "speedup/ci95_low",
    "speedup/ci95_high",
    "break_even/calls",
    "numerics/max_abs_error",
)
"""Summary metrics of a child, all at step 0."""


def parent_speedup(mode: str) -> str:
    """Name the parent's metric that holds the speed-up of *mode*."""
    return f"speedup/{mode}_vs_eager"


# Params, on children only: MLflow itself logs a project's parameters on the parent.
PARAM_MODE = "mode"
PARAM_MODEL = "model"
PARAM_TASK = "task"
PARAM_BATCH_SIZE = "batch_size"
PARAM_INPUT_SHAPE = "input_shape"
PARAM_DTYPE = "dtype"
PARAM_LOSS = "loss"
PARAM_OPTIMIZER = "optimizer"
PARAM_PRESET = "preset"
PARAM_LAUNCHES = "launches"
PARAM_ROUNDS = "rounds"
PARAM_SEED = "seed"
PARAM_DEVICE = "device"

# Artifacts, on the parent or on a report.
ARTIFACT_DIRECTORY = "tfexec"
RECORDING_FILE = "recording.jsonl"
