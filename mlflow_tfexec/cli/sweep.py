"""The benchmarks of one `run`, one after another: a failure of one costs the others nothing."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mlflow_tfexec.benchmarking.interrupts import interruptible
from mlflow_tfexec.benchmarking.measuring import Measured, log, measure, open_spool
from mlflow_tfexec.benchmarking.notices import say
from mlflow_tfexec.benchmarking.request import unless_auto
from mlflow_tfexec.cli.delivery import Delivery, exit_code, show
from mlflow_tfexec.errors import (
    EXIT_BAD_REQUEST,
    EXIT_DONE,
    EXIT_INCOMPLETE,
    EXIT_INTERRUPTED,
    Interrupted,
    TfexecError,
)

if TYPE_CHECKING:
    from mlflow_tfexec.protocol import ModelSource
    from mlflow_tfexec.records.spec import Spec
    from mlflow_tfexec.spool import SpooledBenchmark
    from mlflow_tfexec.tracking.destination import Destination


@dataclass
class _Sweep:
    """What has become of the benchmarks so far."""

    delivery: Delivery
    spool_dir: str
    measured: list[Measured] = field(default_factory=list)
    codes: list[int] = field(default_factory=list)
    opened: "list[SpooledBenchmark]" = field(default_factory=list)

    @property
    def destination(self) -> "Destination":
        """Where the next benchmark goes: the run that is to be resumed takes the first, and no other."""
        return sibling(self.delivery.destination) if self.measured else self.delivery.destination


def run_all(specs: "Sequence[Spec]", delivery: Delivery, spool_dir: str) -> int:
    """Measure every spec, log each as soon as it is measured, and print one report on all.

    A single benchmark that cannot be had as asked, or that MLflow does not take, is an error; of several it is told,
    and the others go on.

    Returns:
        0 if all are complete; 2 if all were refused; 130 if interrupted; otherwise 1.

    Raises:
        TfexecError: there is one benchmark, and it was refused or not taken; or no place to keep it in, or no model.
    """
    from mlflow_tfexec.benchmarking.fetching import fetched
    from mlflow_tfexec.spool import spool_root

    sweep = _Sweep(delivery, spool_dir)
    root = spool_root(unless_auto(spool_dir))
    try:
        with interruptible(), fetched(specs[0], root, lambda: delivery.destination) as source:
            for number, spec in enumerate(specs):
                if len(specs) > 1:
                    say(f"benchmark {number + 1}/{len(specs)}: {size_text(spec)}")
                if _one(spec, sweep, source, is_alone=len(specs) == 1):
                    break
            if sweep.measured:
                show(sweep.measured, delivery.report_format)
                if specs[0].family is not None and not delivery.offline:
                    say(f"Again: mlflow-tfexec report --family {specs[0].family}")
    except Interrupted as interruption:
        kept = " ".join(str(one.directory) for one in sweep.opened if one.recording_path.exists() and not one.is_logged)
        say(
            f"{interruption} What was measured is kept; log it with: mlflow-tfexec sync {kept}"
            if kept
            else str(interruption)
        )
        return EXIT_INTERRUPTED
    finally:
        for spooled in sweep.opened:
            spooled.release()
    return _ended(sweep, is_alone=len(specs) == 1)


def size_text(spec: "Spec") -> str:
    """Say by what one benchmark of a sweep differs from the others."""
    shapes = {"": spec.input_shape} if spec.input_shape is not None else dict(spec.input_shapes)
    texts = [f"{name and f'{name} '}{'x'.join(map(str, shape))}" for name, shape in shapes.items()]
    return ", ".join((f"batch {spec.batch_size}", *texts))


def sibling(destination: "Destination") -> "Destination":
    """Give the destination of a benchmark beside the one that resumes a run: a run of its own in that experiment."""
    from mlflow_tfexec.tracking.destination import unreached

    if destination.run_id is None:
        return destination
    if destination.experiment_id is not None:
        return destination.model_copy(update={"run_id": None})
    # Nobody was asked where the run is; `mlflow run` says it beside the run's id.
    elsewhere = {name: value for name, value in os.environ.items() if name != "MLFLOW_RUN_ID"}
    return unreached(tracking_uri=destination.reachable_uri(os.environ), experiment=None, environ=elsewhere)


def _one(spec: "Spec", sweep: _Sweep, source: "ModelSource | None", *, is_alone: bool) -> bool:
    """Measure and log one benchmark. True: the user wants an end."""
    from mlflow_tfexec.benchmarking import progress

    destination = sweep.destination
    spooled = open_spool(unless_auto(sweep.spool_dir), destination)
    sweep.opened.append(spooled)
    try:
        interruption = measure(spec, spooled, source, progress=progress.make_progress())
    except TfexecError as error:
        if is_alone:
            raise
        say(str(error))
        sweep.codes.append(error.exit_code)
        return False
    if interruption is not None:
        sweep.codes.append(EXIT_INTERRUPTED)
        if not spooled.recording_path.exists():
            say(f"{interruption} Nothing was measured yet.")
            return True
        say(f"{interruption} What was measured is being logged.")
    if not sweep.delivery.offline:
        say("logging to MLflow")
    one = log(spooled, destination, offline=sweep.delivery.offline)
    sweep.measured.append(one)
    sweep.codes.append(exit_code(one, strict=sweep.delivery.strict))
    return interruption is not None


def _ended(sweep: _Sweep, *, is_alone: bool) -> int:
    """Say what MLflow did not take, and choose the exit code."""
    for failure in (one.failure for one in sweep.measured):
        if failure is None:
            continue
        if is_alone and EXIT_INTERRUPTED not in sweep.codes:
            raise failure
        say(str(failure))
    codes = set(sweep.codes)
    if EXIT_INTERRUPTED in codes:
        return EXIT_INTERRUPTED
    if codes == {EXIT_BAD_REQUEST}:
        return EXIT_BAD_REQUEST
    return EXIT_DONE if codes <= {EXIT_DONE} else EXIT_INCOMPLETE
