"""What was measured on which machine, as labelled texts. What is not known is not listed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from mlflow_tfexec.records.recording import Header, Recording
from mlflow_tfexec.records.spec import is_live
from mlflow_tfexec.reports import _numbers
from mlflow_tfexec.text import plain
from mlflow_tfexec.units import count


class Fact(NamedTuple):
    """One labelled text."""

    label: str
    text: str


@dataclass(frozen=True)
class Machine:
    """Hardware and versions that a benchmark ran with. None: not known, or not used."""

    device: str | None
    """TensorFlow's own name of the device."""
    gpu: str | None
    """None when TensorFlow ran on the CPU, whatever else the machine holds."""
    gpu_driver: str | None
    cpu: str | None
    tensorflow: str | None
    keras: str | None
    cuda: str | None
    cudnn: str | None

    @property
    def processor(self) -> str | None:
        """Name of the hardware that did the work."""
        return self.gpu or self.cpu


def machine(recording: Recording) -> Machine:
    """Read the machine off a recording's header."""
    environment = recording.header.environment
    device = _at(environment, "tensorflow", "device")
    gpu = recording.header.measured_gpu
    return Machine(
        device=device,
        gpu=_at(gpu, "name"),
        gpu_driver=_at(environment, "gpu_driver", "version") if gpu else None,
        cpu=_at(environment, "cpu", "name"),
        tensorflow=_at(environment, "tensorflow", "version"),
        keras=_at(environment, "tensorflow", "keras_version"),
        cuda=_at(environment, "tensorflow", "cuda_version"),
        cudnn=_at(environment, "tensorflow", "cudnn_version"),
    )


def inputs(header: Header) -> str | None:
    """Write the shapes and dtypes of the inputs, batch included, and whether their transfer was timed.

    None: not recorded.
    """
    texts = []
    for tensor in header.inputs:
        name = f"{tensor.name} " if tensor.name and len(header.inputs) > 1 else ""
        texts.append(plain(f"{name}{_numbers.shape(tensor.shape)} {tensor.dtype}"))
    if header.spec.include_transfer:
        texts.append("including transfer")
    return ", ".join(texts) or None


def values(recording: Recording) -> str | None:
    """Say what the inputs held. None: not recorded."""
    header = recording.header
    if header.spec.inputs is not None:
        sets = "" if header.input_sets is None else f", {count(header.input_sets, 'set', 'sets in turn')}"
        giver = "the calling program" if is_live(header.spec.inputs) else header.spec.inputs
        return plain(f"given by {giver}{sets}")
    known = [tensor for tensor in header.inputs if tensor.values]
    if len({tensor.values for tensor in known}) == 1:
        return plain(str(known[0].values))
    return plain(", ".join(f"{tensor.name or place} {tensor.values}" for place, tensor in enumerate(known))) or None


def facts(recording: Recording) -> tuple[Fact, ...]:
    """List what a reader must know to place the numbers."""
    spec = recording.spec
    known = machine(recording)
    texts = {
        "model": plain(spec.model),
        "model in MLflow": _origin(recording),
        "live object": _live(recording),
        "task": plain(spec.task),
        "loss": _loss(recording),
        "optimizer": _optimizer(recording),
        "input": inputs(recording.header),
        "values": values(recording),
        "dtype policy": plain(spec.dtype),
        "GPU": known.gpu,
        "CPU": known.cpu,
        "TensorFlow": known.tensorflow,
        "Keras": known.keras,
        "CUDA": known.cuda,
        "cuDNN": known.cudnn,
        "GPU driver": known.gpu_driver,
        "preset": _preset(recording),
        "measured": _date(recording.header.created),
        "recording": _cut(recording),
        "benchmark": plain(recording.header.benchmark_id),
    }
    return tuple(Fact(label, text) for label, text in texts.items() if text)


def _loss(recording: Recording) -> str | None:
    training = recording.header.training
    return plain(f"{training.loss}, targets {training.targets}") if training else None


def _optimizer(recording: Recording) -> str | None:
    training = recording.header.training
    if training is None:
        return None
    rate = "" if training.learning_rate is None else f", learning rate {training.learning_rate:.3g}"
    return plain(f"{training.optimizer}{rate}{', loss scaling' if training.loss_scaling else ''}")


def _origin(recording: Recording) -> str | None:
    """Say what an alias or `latest` meant. None: the model is not from MLflow, or its reference says it itself."""
    origin = recording.header.model_origin
    return plain(origin.uri) if origin and origin.uri != recording.spec.model else None


def _live(recording: Recording) -> str | None:
    """Say what a live object was, and that its name is no reference. None: the model is none."""
    live = recording.header.live_object
    return plain(f"{live.kind} {live.type} of a Python program, measured again only from there") if live else None


def _preset(recording: Recording) -> str:
    """Write the preset with what was really measured: early stopping and crashes make it differ from the plan."""
    preset = plain(recording.spec.preset)
    measured = [block for block in recording.blocks if not block.warmup]
    if not measured:
        return preset
    launches = len({block.launch for block in measured})
    rounds = max(block.round for block in measured) + 1
    return f"{preset}, {count(launches, 'launch', 'launches')} × {count(rounds, 'round', 'rounds')}"


def _date(created: str) -> str:
    """Write an ISO 8601 time in UTC for people, to the minute; anything else stays as it is."""
    date, _, time = plain(created).partition("T")
    return f"{date} {time[:5]} UTC" if time.endswith("Z") else plain(created)


def _cut(recording: Recording) -> str | None:
    """Say why the recording is not whole. None: it is."""
    if recording.end is None:
        return "partial, the benchmark was cut short"
    return {"interrupted": "partial, the benchmark was interrupted", "failed": "partial, the benchmark failed"}.get(
        recording.end.status
    )


def _at(tree: Any, *path: str) -> str | None:
    """Follow *path* into nested mappings. None: something on the way is absent, or the text is empty."""
    for step in path:
        if not isinstance(tree, Mapping):
            return None
        tree = tree.get(step)
    return (plain(str(tree)) or None) if isinstance(tree, str | int | float) and not isinstance(tree, bool) else None
