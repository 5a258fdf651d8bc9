"""What is known while a benchmark runs, and is handed from one launch to the next."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.measurement.environment import fingerprint, gpu_missing_reason
from mlflow_tfexec.protocol import Built, Hello, ModelSource
from mlflow_tfexec.records.codec import FORMAT, FORMAT_VERSION
from mlflow_tfexec.records.findings import Finding
from mlflow_tfexec.records.line import Line
from mlflow_tfexec.records.recording import FindingLine, Header
from mlflow_tfexec.records.spec import Spec
from mlflow_tfexec.session import findings
from mlflow_tfexec.session.clock import utc_now
from mlflow_tfexec.session.observer import Observer
from mlflow_tfexec.session.phases import PhaseClock
from mlflow_tfexec.spool import SpooledBenchmark


@dataclass
class BenchmarkState:
    """What one launch hands to the next."""

    spec: Spec
    spool: SpooledBenchmark
    observer: Observer
    environment: dict[str, Any]
    variables: Mapping[str, Mapping[str, str]]
    """mode → environment variables of its process."""
    source: ModelSource | None = None
    """Where a model lies that its reference names elsewhere."""
    clock: PhaseClock = field(default_factory=PhaseClock)
    start_ns: int = field(default_factory=time.perf_counter_ns)
    created: str = field(default_factory=utc_now)
    failed: dict[str, str] = field(default_factory=dict)
    """mode → status, of modes that are not started again."""
    calls: dict[str, int] = field(default_factory=dict)
    """mode → calls per block, from the first launch's pilot."""
    call_ns: dict[str, int] = field(default_factory=dict)
    """mode → about how long one call takes."""
    overhead_ns: int | None = None
    """What the first launch took before its rounds."""
    header: Header | None = None
    pending: list[Line] = field(default_factory=list)
    """Lines that came before the header could be written."""

    def modes(self) -> list[str]:
        """Name the modes that still run."""
        return [mode for mode in self.spec.modes if mode not in self.failed]

    def append(self, line: Line) -> None:
        """Write a line of the recording, behind the header."""
        if self.header is None:
            self.pending.append(line)
        else:
            self.spool.append(line)

    def add_finding(self, finding: Finding) -> None:
        """Write a finding into the recording."""
        self.append(FindingLine(finding=finding))

    def write_header(self, built: Built | None) -> None:
        """Write the recording's first line, once a worker has told what only TensorFlow knows."""
        if built is not None:
            self.environment.setdefault("tensorflow", {}).update(built.numerics)
        self.environment["fingerprint"] = fingerprint(self.environment)
        self.header = Header(
            format=FORMAT,
            version=FORMAT_VERSION,
            benchmark_id=self.spool.benchmark_id,
            created=self.created,
            spec=self._measured_spec(built),
            environment=self.environment,
            inputs=built.inputs if built else (),
            inputs_sha256=built.inputs_sha256 if built else None,
            input_sets=built.input_sets if built else None,
            weights_sha256=built.weights_sha256 if built else None,
            model_origin=self.source.origin if self.source else None,
            live_object=self.source.live if self.source else None,
            training=built.training if built else None,
        )
        self.spool.append(self.header)
        for finding in built.findings if built else ():
            self.add_finding(finding)
        for line in self.pending:
            self.spool.append(line)
        self.pending.clear()

    def _measured_spec(self, built: Built | None) -> Spec:
        """Give what was asked for, with the batch that the inputs really have."""
        if built is None or built.batch_size is None:
            return self.spec
        return self.spec.model_copy(update={"batch_size": built.batch_size})

    def take_device(self, hello: Hello) -> None:
        """Take over what a worker has found.

        Raises:
            RequestError: the device that was asked for is not there.
        """
        facts = self.environment["tensorflow"] = hello.tensorflow
        device = facts.get("device")
        if device is None:
            raise RequestError(f"No device {self.spec.device!r}. {self._device_advice()}")
        if device == "CPU" and self.spec.device == "auto":
            self.add_finding(findings.cpu_only(gpu_missing_reason(self.environment)))
        if device != "CPU":
            self._take_gpu(int(device.partition(":")[2]), facts.get("device_details", {}).get("device_name"))

    def _take_gpu(self, number: int, name: str | None) -> None:
        """Note which of the driver's GPUs is TensorFlow's GPU *number*, if TensorFlow's name for it agrees."""
        gpus = self.environment.get("gpus", [])
        gpu = gpus[number] if number < len(gpus) else None
        if gpu is not None and name in {None, gpu.get("name")} and self.environment.get("gpu_order_certain", True):
            self.environment["gpu"] = gpu
            return
        named = [one for one in gpus if one.get("name") == name]
        if len(named) == 1:
            self.environment["gpu"] = named[0]
        else:
            self.add_finding(findings.gpu_order_uncertain(name))

    @property
    def gpu_uuid(self) -> str | None:
        """The GPU that is measured. None: the CPU is, or NVML does not know the GPU."""
        uuid: str | None = self.environment.get("gpu", {}).get("uuid")
        return uuid

    def _device_advice(self) -> str:
        seen = int(self.environment["tensorflow"].get("gpus_seen", 0))
        if seen == 0:
            return gpu_missing_reason(self.environment)
        return f"TensorFlow sees {seen} GPU(s), numbered from 0: give a smaller N in --device gpu:N."
