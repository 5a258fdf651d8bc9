"""One mode in one process, step by step."""

import contextlib
import dataclasses
import os
from pathlib import Path
from time import perf_counter_ns
from typing import Any

from mlflow_tfexec.measurement.blocks import fence_cost_ns, pilot, settle_garbage, time_block
from mlflow_tfexec.measurement.call import PreparedCall, no_fence
from mlflow_tfexec.models import load_model
from mlflow_tfexec.models._inputs import to_device
from mlflow_tfexec.models._reference import LoadedModel
from mlflow_tfexec.modes import all_modes
from mlflow_tfexec.protocol import BlockTimes, Built, Failure, Finished, FirstCall, Hello, Pilot, Start
from mlflow_tfexec.records.recording import Again
from mlflow_tfexec.records.spec import BASELINE
from mlflow_tfexec.worker.agreement import allow_for_rounding, compare_answers
from mlflow_tfexec.worker.causes import TEXT_IN_XLA
from mlflow_tfexec.worker.compiles import CompileLog, Compiles, tell_of_compiles
from mlflow_tfexec.worker.device import choose_device, fence_for, numeric_facts, peak_memory_bytes
from mlflow_tfexec.worker.failures import Stage


class ModeWorker:
    """Holds the model and the mode between requests, which come in the order of the methods below."""

    stage: Stage
    """What is being done, for the classification of a failure."""

    def __init__(self, start: Start) -> None:
        self.stage = "start"
        self._spec = start.spec
        self._mode = start.mode
        self._source = start.source
        self._reference = Path(start.scratch) / "baseline-outputs"
        self._device = "CPU"
        self._compile_log = CompileLog(start.log)
        self._model: LoadedModel | None = None
        self._call: PreparedCall | None = None
        self._peak_memory_bytes: int | None = None

    def start(self) -> Hello:
        """Import TensorFlow and choose the device."""
        tell_of_compiles(os.environ)
        facts = choose_device(self._spec.device)
        self._device = facts.get("device", "CPU")
        return Hello(tensorflow=facts)

    def build(self) -> Built:
        """Load the model, make its inputs, call it once."""
        self.stage = "build"
        self._model = load_model(self._spec, self._source)
        return Built(
            inputs=self._model.input_facts,
            batch_size=self._model.batch_size,
            inputs_sha256=self._model.inputs_sha256,
            input_sets=self._model.input_sets,
            weights_sha256=self._model.weights_sha256,
            training=self._model.training,
            numerics=numeric_facts(),
            findings=self._model.findings,
        )

    def first_call(self) -> FirstCall:
        """Trace, compile, call twice, and hold the outputs against the baseline's."""
        model = self._loaded()
        self.stage = "trace"
        fence = fence_for(self._device)
        prepared = all_modes()[self._mode].prepare(model.step)
        if self._spec.include_transfer:
            prepared = prepared.behind_transfer(to_device)
        self._call = call = dataclasses.replace(prepared, fence=fence, inputs=model.inputs(0))
        start_ns = perf_counter_ns()
        trace_ns = None
        if call.trace is not None:
            call.trace(*call.inputs)
            trace_ns = perf_counter_ns() - start_ns
        self.stage = "first_call"
        outputs = call.run()
        fence()
        first_call_ns = perf_counter_ns() - start_ns
        start_ns = perf_counter_ns()
        outputs = call.run()
        fence()
        second_call_ns = perf_counter_ns() - start_ns
        del outputs
        traces, compile_facts, details = call.traces(), self._compile_facts(), call.details() or None
        if model.float64 and self._mode == BASELINE:
            # The model in float64 is not this mode's.
            self._peak_memory_bytes = peak_memory_bytes(self._device)
        output, output_spread = compare_answers(model, call, self._spec, mode=self._mode, directory=self._reference)
        if output.within_tolerance is False and self._mode != BASELINE and self._spec.task == "inference":
            # The baseline's calls are not this mode's.
            self._peak_memory_bytes = peak_memory_bytes(self._device)
            output = allow_for_rounding(model, call, output, self._spec, directory=self._reference)
        settle_garbage()
        return FirstCall(
            trace_ns=trace_ns,
            first_call_ns=first_call_ns,
            second_call_ns=second_call_ns,
            traces=traces,
            **compile_facts,
            fence_ns=None if fence is no_fence else fence_cost_ns(fence),
            details=details,
            output=output,
            output_spread=output_spread,
        )

    def pilot(self) -> Pilot:
        """Find out about how long a call takes."""
        self.stage = "measure"
        return Pilot(call_ns=pilot(self._prepared()))

    def block(self, calls: int, input_set: int) -> BlockTimes:
        """Time one block on inputs of its own. It is valid only if nothing was traced or compiled inside it."""
        self.stage = "measure"
        call = self._prepared().on(self._loaded().inputs(input_set))
        self._loaded().reset()
        traces_before, compiles_before = call.traces(), self._compile_log.compiles()
        result = time_block(call, calls)
        return BlockTimes(
            latency_ns=result.latency_ns,
            dispatch_ns=result.dispatch_ns,
            throughput_calls=result.throughput_calls,
            throughput_total_ns=result.throughput_total_ns,
            again=self._again(call.traces() != traces_before, compiles_before),
        )

    def finish(self) -> Finished:
        """Say what can only be known at the end."""
        return Finished(
            traces=self._prepared().traces(),
            **self._compile_facts(),
            peak_memory_bytes=self._peak_memory_bytes or peak_memory_bytes(self._device),
        )

    def last_facts(self, failure: Failure) -> dict[str, Any]:
        """Say what can be known after *failure*, as far as the device still answers."""
        facts: dict[str, Any] = {}
        # What has failed may have taken the device with it.
        with contextlib.suppress(Exception):
            facts["peak_memory_bytes"] = peak_memory_bytes(self._device)
        # Of text that comes from outside, the message names neither operation nor layer.
        if failure.cause == TEXT_IN_XLA and not (failure.op or failure.layer or self._model is None):
            facts["layer"] = ", ".join(self._model.text_layers) or None
        return facts

    def _compile_facts(self) -> dict[str, int]:
        compiles = self._compile_log.compiles()
        return {} if compiles is None else {"xla_compiles": compiles.count, "xla_compile_ns": compiles.duration_ns}

    def _again(self, traced: bool, compiles_before: Compiles | None) -> Again | None:
        """Say what happened inside a block that should not; a new trace brings a compilation with it."""
        if traced:
            return "trace"
        return "compile" if self._compile_log.compiles() != compiles_before else None

    def _loaded(self) -> LoadedModel:
        if self._model is None:
            raise RuntimeError("`first_call` was asked for before `build`")
        return self._model

    def _prepared(self) -> PreparedCall:
        if self._call is None:
            raise RuntimeError("a block was asked for before `first_call`")
        return self._call
