"""Looking at what was measured so far, to see whether it is enough."""

import time

from mlflow_tfexec.records.recording import Look
from mlflow_tfexec.records.spec import Spec
from mlflow_tfexec.session.state import BenchmarkState
from mlflow_tfexec.statistics.judge import judge
from mlflow_tfexec.statistics.stopping import reason_to_stop, undecided_pairs


def look(state: BenchmarkState, launches: int) -> bool:
    """Look at the data, if now is the time for it, and note what was seen. True: no further launch follows.

    The data may end a benchmark only after the numbers of launches that were fixed in advance, since every look costs
    a share of the error (`statistics.looks`). The time budget may end it at any time: it knows nothing of the data.
    """
    last = launches >= state.spec.launches
    out_of_time = not last and _outlasts_budget(state, launches)
    if not (last or out_of_time or launches in state.spec.looks):
        return False
    comparisons = judge(state.spool.load()).comparisons
    stop = None
    if launches in state.spec.looks:
        stop = reason_to_stop(comparisons, margin=state.spec.margin)
    if stop is None and (last or out_of_time):
        stop = "last" if last else "budget"
    seen = Look(launches=launches, undecided=undecided_pairs(comparisons), stop=stop)
    state.append(seen)
    state.observer.looked(seen)
    return stop is not None


def next_look(spec: Spec, launches: int) -> int:
    """Say after how many launches the benchmark may end at the earliest, while launch number *launches* runs."""
    return min((number for number in spec.looks if number >= launches), default=spec.launches)


def _outlasts_budget(state: BenchmarkState, launches: int) -> bool:
    """Say whether another launch like those before would end later than it may."""
    if state.spec.time_budget_s is None:
        return False
    elapsed_s = (time.perf_counter_ns() - state.start_ns) / 1e9
    return elapsed_s * (launches + 1) / launches > state.spec.time_budget_s
