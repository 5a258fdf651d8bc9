"""`mlflow_tfexec.benchmark`: measure a live object, or whatever the command `run` measures, from Python."""

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlflow_tfexec.api.given import Given, brought, find_caller_findings, take
from mlflow_tfexec.api.result import Benchmark
from mlflow_tfexec.api.words import in_python_words, text_of
from mlflow_tfexec.benchmarking.measuring import Measured, log, measure, open_spool
from mlflow_tfexec.benchmarking.request import RunOptions
from mlflow_tfexec.errors import Interrupted

if TYPE_CHECKING:
    from mlflow_tfexec.spool import SpooledBenchmark
    from mlflow_tfexec.tracking.destination import Destination


def benchmark(
    model: Any,
    inputs: Any = None,
    *,
    name: str | None = None,
    modes: str | Sequence[str] | None = None,
    task: str = "inference",
    preset: str = "standard",
    batch_size: int | None = None,
    input_shape: Sequence[int] | Mapping[str, Sequence[int]] | None = None,
    include_transfer: bool = False,
    dtype: str = "float32",
    weights: str | None = None,
    custom_objects: str | Sequence[str] = (),
    endpoint: str | None = None,
    safe_mode: bool = True,
    device: str | None = None,
    seed: int = 0,
    launches: int | None = None,
    rounds: int | None = None,
    block_ms: float = 100.0,
    warmup_s: float = 10.0,
    timeout_s: float = 1800.0,
    margin: float = 0.05,
    time_budget_s: float | None = None,
    loss: str | None = None,
    optimizer: str | None = None,
    float64_reference: bool = False,
    experiment: str | None = None,
    tracking_uri: str | None = None,
    offline: bool = False,
    spool_dir: str | Path | None = None,
    progress: bool | None = None,
) -> Benchmark:
    """Measure a model's ways of executing side by side, judge them, and keep the result in MLflow.

    A *live* model is written to the benchmark's directory in the spool, in files that only their owner can read, and
    every mode makes it again in a process of its own; the files are removed when measuring ends. The object itself
    stays as it is. A Keras model goes as `model.save` writes it, with its weights, which each process proves by their
    hash; anything else by cloudpickle, its variables with their values. Code of `__main__` and of notebooks goes along.

    The processes that measure need memory of the GPU beside this one. TensorFlow takes nearly all of it at its first
    use, and nothing gives it back: call `tf.config.experimental.set_memory_growth(gpu, True)` before that, for each
    GPU. Where that was not done, a finding of the benchmark says so. This process waits meanwhile and computes nothing.

    Args:
        model: a Keras model, a `tf.Module` with `__call__`, a `tf.function`, a callable on tensors, or a reference as
            the command `run` takes it, such as "MobileNetV2", "model.keras" or "file.py:function".
        inputs: arrays or tensors in the structure of the model's inputs, batch first: one, a list, a tuple (several
            arguments of a callable) or a dictionary; or a reference as `--inputs` takes it. None: made up from the
            model's signature; a model that has none needs *input_shape*.
        name: of a live model in the recording, where it stands behind `live:/`. None: a Keras model's own name, the
            qualified name of a function or class. Benchmarks of one name are taken for benchmarks of one model.
        modes: names, `eager` among them. None: the default set.
        task: "inference" or "train". A compiled Keras model is trained with its own loss and optimizer.
        preset: "quick", "standard" or "rigorous".
        batch_size: items per call. None: the inputs' own, or 1.
        input_shape: of one item, without the batch, or shapes by name of the input.
        include_transfer: True times the inputs' way from the host to the device as well.
        dtype: Keras dtype policy, of what is made anew. A live Keras model keeps its own.
        weights: "imagenet" or a file, for a name of `keras.applications`.
        custom_objects: "module:Class" or "file.py:Class", for a reference to a file.
        endpoint: signature of a SavedModel.
        safe_mode: False lets a model's file run code that it holds.
        device: "cpu", "gpu" or "gpu:N". None: a GPU if TensorFlow can use one.
        seed: of made-up weights and inputs, and of the order of rounds.
        launches: sets of fresh processes, without an early end. None: by preset.
        rounds: per launch. None: by preset.
        block_ms: timed work per mode and round, in ms.
        warmup_s: longest warm-up per mode and launch, in s.
        timeout_s: longest wait for one step of one mode, in s.
        margin: of practical equivalence, as a fraction.
        time_budget_s: no launch begins that would end later than this, in s. None: no limit.
        loss: Keras name, for "train". None: the model's own, or a default.
        optimizer: Keras name, for "train". None: the model's own, or "adam".
        float64_reference: True compares outputs with those of the model in float64 as well.
        experiment: MLflow experiment by name. None: as MLflow is set.
        tracking_uri: MLflow store. None: as MLflow is set. Where this thread has an active run, and neither of the
            two is given, the benchmark's run becomes a child of it; the active run stays active and is not changed.
        offline: True contacts no MLflow store; `log_to_mlflow` or the command `sync` log it later.
        spool_dir: where results are kept. None: $MLFLOW_TFEXEC_SPOOL, else `~/.mlflow-tfexec/spool`.
        progress: True shows on standard error what is being done. None: in a terminal or notebook.

    Returns:
        What was measured, also where a mode failed, or MLflow did not take it (`logging_error` then says why).

    Raises:
        RequestError: something asked for cannot be right, the model cannot be brought to another process, or cannot be
            called as asked; nothing is left behind. TrackingError: the MLflow store cannot be used as asked.
        SpoolError: the result could not be written to disk.
        Interrupted: Ctrl-C, a KeyboardInterrupt. What was measured until then is kept in the spool, not logged, and the
            text says where and how to log it.
    """
    options = RunOptions(
        model="",
        modes=text_of(modes),
        task=task,
        preset=preset,
        batch_size=text_of(batch_size),
        input_shape=text_of(input_shape),
        include_transfer=include_transfer,
        dtype=dtype,
        weights=weights or "none",
        custom_objects=text_of(custom_objects or "none"),
        endpoint=text_of(endpoint),
        safe_mode=safe_mode,
        device=text_of(device),
        seed=text_of(seed),
        launches=text_of(launches),
        rounds=text_of(rounds),
        block_ms=text_of(block_ms),
        warmup=text_of(warmup_s),
        timeout=text_of(timeout_s),
        margin=text_of(margin),
        time_budget=text_of(time_budget_s),
        loss=text_of(loss),
        optimizer=text_of(optimizer),
        float64_reference=float64_reference,
    )
    from mlflow_tfexec.spool import spool_root
    from mlflow_tfexec.tracking.destination import settle

    with in_python_words(benchmark):
        given = take(options, model, inputs, name=name)
        destination = settle(
            tracking_uri=tracking_uri, experiment=experiment, environ=os.environ, is_reached=not offline
        )
        root = spool_root(None if spool_dir is None else str(spool_dir))
        return _measured(given, root, destination, offline=offline, is_shown=progress)


def _measured(
    given: Given, root: Path, destination: "Destination", *, offline: bool, is_shown: bool | None
) -> Benchmark:
    from mlflow_tfexec.benchmarking.progress import choose_display

    with ExitStack() as stack:
        with brought(given, root, destination) as source:
            spooled = open_spool(str(root), destination)
            stack.callback(spooled.release)
            findings = find_caller_findings(given.spec)
            display = choose_display(is_shown=is_shown)
            interruption = measure(given.spec, spooled, source, progress=display, findings=findings)
        if interruption is not None:
            raise Interrupted(_kept(spooled))
        try:
            return _result(log(spooled, destination, offline=offline), spooled)
        except KeyboardInterrupt:
            raise Interrupted(_kept(spooled)) from None


def _kept(spooled: "SpooledBenchmark") -> str:
    if not spooled.recording_path.exists():
        return "Interrupted. Nothing was measured yet."
    return (
        f"Interrupted. What was measured is kept in {spooled.recording_path}; "
        f"log it with: mlflow-tfexec sync {spooled.directory}"
    )


def _result(measured: Measured, spooled: "SpooledBenchmark") -> Benchmark:
    logged = measured.logged
    return Benchmark(
        recording=measured.recording,
        judgement=measured.judgement,
        recording_path=spooled.recording_path,
        run_id=None if logged is None else logged.run_id,
        url=None if logged is None else logged.url,
        logging_error=None if measured.failure is None else str(measured.failure),
        where=tuple(measured.where),
    )
