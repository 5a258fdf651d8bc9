"""One launch: a fresh process per mode, all alive together, measured in rounds of random order."""

import random
from time import perf_counter_ns

from mlflow_tfexec.measurement.health import HealthProbe
from mlflow_tfexec.protocol import Built, Finished, FirstCall, Hello, Pilot
from mlflow_tfexec.records.answers import OutputDifference
from mlflow_tfexec.records.recording import Health
from mlflow_tfexec.records.spec import BASELINE
from mlflow_tfexec.session import findings
from mlflow_tfexec.session.crew import Crew
from mlflow_tfexec.session.look import next_look
from mlflow_tfexec.session.observer import Progress, Stage
from mlflow_tfexec.session.plan import plan_calls, round_ns, time_left_s
from mlflow_tfexec.session.process import ModeFailed
from mlflow_tfexec.session.reference_loads import ReferenceLoads, loads_ns, place_in_round
from mlflow_tfexec.session.state import BenchmarkState
from mlflow_tfexec.session.warmup import Warmup

_FIRST_CALL_FACTS = {
    "trace_ns", "first_call_ns", "second_call_ns", "traces", "xla_compiles", "xla_compile_ns", "fence_ns", "details",
}  # fmt: skip

_MOST_SETS_PER_LAUNCH = 1_000


class Launch:
    """Takes one crew through its stages."""

    def __init__(self, state: BenchmarkState, number: int) -> None:
        self._state = state
        self._spec = state.spec
        self._number = number
        self._deterministic = True

    def run(self) -> None:
        """Start, build, first calls, pilot, warm-up, rounds, finish. Ends every worker, whatever happens."""
        start_ns = perf_counter_ns()
        crew = Crew(self._state, self._number)
        loads = ReferenceLoads(self._state, self._number)
        try:
            self._start(crew, loads)
            self._build(crew)
            self._first_calls(crew)
            self._pilot(crew)
            self._warm_up(crew)
            if self._state.overhead_ns is None:
                self._state.overhead_ns = perf_counter_ns() - start_ns
            self._rounds(crew, loads)
            loads.end()
            self._finish(crew)
        finally:
            crew.kill_all()
            loads.end()
            self._state.spool.remove_scratch()

    def _start(self, crew: Crew, loads: ReferenceLoads) -> None:
        """Start every worker at once: importing TensorFlow and building are all they may do side by side."""
        self._tell("start")
        with self._state.clock.phase("start", self._number):
            for mode in self._state.modes():
                crew.start(mode)
            loads.start()
            hellos = crew.receive(Hello, crew.modes)
            loads.wait_started()
        if self._number == 0 and hellos:
            self._state.take_device(next(iter(hellos.values())))

    def _build(self, crew: Crew) -> None:
        """Build the model in every worker, and prove that all hold the same weights."""
        self._tell("build")
        with self._state.clock.phase("build", self._number):
            builts = self._build_first(crew) if self._spec.weights else {}
            rest = [mode for mode in crew.modes if mode not in builts]
            crew.request("build", rest)
            builts |= crew.receive(Built, rest)
        if self._state.header is None:
            self._state.write_header(next(iter(builts.values()), None))
        header = self._state.header
        for mode, built in builts.items():
            if header is not None and built.weights_sha256 != header.weights_sha256:
                crew.lose(mode, ModeFailed("run_failed", "its weights are not those of the other modes"))
            elif header is not None and built.inputs_sha256 != header.inputs_sha256:
                crew.lose(mode, ModeFailed("run_failed", "its inputs are not those of the other modes"))

    def _build_first(self, crew: Crew) -> dict[str, Built]:
        """Let one worker load the weights before the others: Keras would download them into one file five times."""
        first = crew.modes[:1]
        crew.request("build", first)
        return crew.receive(Built, first)

    def _first_calls(self, crew: Crew) -> None:
        """Trace and compile one mode after another, the baseline first: the others are held to its outputs."""
        for mode in sorted(crew.modes, key=lambda mode: mode != BASELINE):
            self._tell("first_call", mode)
            with self._state.clock.phase("first_call", self._number):
                reply = crew.ask(mode, "first_call", FirstCall)
            if reply is not None:
                facts = reply.model_dump(include=_FIRST_CALL_FACTS, exclude_none=True)
                crew.write_mode(mode, *self._judge_output(mode, reply.output), output=reply.output, **facts)
                if self._number == 0 and findings.is_uninformative(reply.output_spread):
                    self._state.add_finding(findings.outputs_uninformative())

    def _judge_output(self, mode: str, output: OutputDifference) -> tuple[str, str | None]:
        """Say whether the outputs are the baseline's, and why not."""
        if output.within_tolerance is not False:
            return "ok", None
        if mode == BASELINE:
            self._deterministic = False
            if self._number == 0:
                self._state.add_finding(findings.not_deterministic(output, self._spec.task))
        if not self._deterministic:
            return "ok", None
        return "outputs_differ", findings.difference_text(output, self._spec.task)

    def _pilot(self, crew: Crew) -> None:
        """Find the block length of each mode, once for the whole benchmark."""
        for mode in crew.modes:
            if mode in self._state.calls:
                continue
            self._tell("pilot", mode)
            with self._state.clock.phase("pilot", self._number):
                reply = crew.ask(mode, "pilot", Pilot)
            if reply is not None:
                self._state.call_ns[mode] = reply.call_ns
                self._state.calls[mode] = plan_calls(reply.call_ns, self._spec)

    def _warm_up(self, crew: Crew) -> None:
        """Run blocks that do not count, interleaved, until every mode is steady or has used up its time."""
        warmup = Warmup(self._spec)
        round_ = 0
        while pending := [mode for mode in crew.modes if not warmup.is_done(mode)]:
            for position, mode in enumerate(self._shuffled(pending, f"warmup-{round_}")):
                self._tell("warmup", mode)
                with self._state.clock.phase("warmup", self._number):
                    times = crew.ask_block(mode, input_set=_input_set(self._number, round_, warmup=True))
                if times is not None:
                    warmup.take(mode, times)
                    crew.write_block(mode, times, round_=round_, position=position, warmup=True)
            round_ += 1
        unsettled = {mode: warmup.busy_s(mode) for mode in crew.modes if not warmup.is_steady(mode)}
        if unsettled:
            self._state.add_finding(findings.no_steady_state(self._number, unsettled))

    def _rounds(self, crew: Crew, loads: ReferenceLoads) -> None:
        """Measure every mode once per round, in random order, and look at the machine between rounds."""
        with HealthProbe(self._state.gpu_uuid) as probe:
            for round_ in range(self._spec.rounds):
                order = self._shuffled(crew.modes, str(round_))
                place = place_in_round(self._spec, self._number, round_, len(order))
                for position, mode in enumerate(order):
                    if position == place:
                        self._loads(loads, round_, place)
                    self._tell("rounds", mode, round_=round_)
                    with self._state.clock.phase("blocks", self._number):
                        times = crew.ask_block(mode, input_set=_input_set(self._number, round_, warmup=False))
                    if times is not None:
                        crew.write_block(mode, times, round_=round_, position=position, warmup=False)
                if order and place == len(order):
                    self._loads(loads, round_, place)
                own_pids = [*crew.pids, *loads.pids]
                self._state.append(Health(launch=self._number, round=round_, **probe.sample(own_pids)))

    def _loads(self, loads: ReferenceLoads, round_: int, place: int) -> None:
        with self._state.clock.phase("reference_loads", self._number):
            loads.time(round_=round_, position=place)

    def _finish(self, crew: Crew) -> None:
        """Take the last figures and let the workers end."""
        self._tell("finish")
        with self._state.clock.phase("finish", self._number):
            crew.request("finish", crew.modes)
            for mode, reply in crew.receive(Finished, crew.modes).items():
                crew.write_end(mode, **reply.model_dump())
            crew.end_all()

    def _shuffled(self, modes: list[str], label: str) -> list[str]:
        """Put *modes* in random order; the same seed gives the same order."""
        order = sorted(modes)
        random.Random(f"{self._spec.seed}/{self._number}/{label}").shuffle(order)  # noqa: S311 - an order is no secret
        return order

    def _tell(self, stage: Stage, mode: str | None = None, *, round_: int | None = None) -> None:
        """Say what begins now, and how long all of it still takes."""
        launches = next_look(self._spec, self._number + 1)
        left_s = time_left_s(
            launches,
            rounds=self._spec.rounds,
            launch=self._number,
            round_=self._spec.rounds if stage == "finish" else round_,
            round_ns=round_ns(self._state.call_ns, self._state.calls, loads_ns(self._spec)),
            overhead_ns=self._state.overhead_ns,
        )
        rounds = None if round_ is None else self._spec.rounds
        self._state.observer.progressed(
            Progress(
                launch=self._number,
                launches=launches,
                most_launches=self._spec.launches,
                stage=stage,
                mode=mode,
                round=round_,
                rounds=rounds,
                left_s=left_s,
            )
        )


def _input_set(launch: int, round_: int, *, warmup: bool) -> int:
    """Number the inputs of a round: other values in each, the same for all modes in it; 0 is for the first calls.

    What was seen in warm-up does not come again: XLA may have compiled for its very values.
    """
    return 2 * (launch * _MOST_SETS_PER_LAUNCH + round_ % _MOST_SETS_PER_LAUNCH) + (1 if warmup else 2)
