"""Comparisons relative to reference loads: what the machine's own change may explain is not claimed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import make_recording

from mlflow_tfexec.records.judgement import Comparison
from mlflow_tfexec.statistics.across import compare_across
from mlflow_tfexec.statistics.gate import check_against
from mlflow_tfexec.statistics.reference_loads import closest, withhold_drift

TIMES_MS = {"eager": 9.0, "graph": 4.0, "xla": 3.0}
LOADS_MS = {"compute": 2.0, "memory": 3.0, "dispatch": 0.2}
TENSORFLOW = {"version": "2.20.0", "device": "CPU"}


def recording(name, *, model=1.0, machine=1.0, loads=LOADS_MS, **more):
    """Make a benchmark in which the model is *model* times as slow, and all on the machine *machine* times."""
    return make_recording(
        {mode: time_ms * model * machine for mode, time_ms in TIMES_MS.items()},
        loads_ms={load: time_ms * machine for load, time_ms in loads.items()},
        **{"benchmark_id": name * 32, "seed": ord(name), "environment": {"tensorflow": TENSORFLOW}, **more},
    )


def verdicts(compared):
    return {mode.mode: mode.comparisons[0].verdict for mode in compared.modes}


def comparison(verdict, ratio, low, high):
    return Comparison("B", "A", ratio, low, high, verdict)


def test_a_machine_that_became_slower_makes_no_regression():
    base, new = recording("a"), recording("b", machine=1.12)

    assert check_against(
        *(recording(name, machine=by, loads={}) for name, by in (("b", 1.12), ("a", 1.0)))
    ).outcome == ("regression")
    gate = check_against(new, base)
    assert gate.outcome == "undecided"
    assert {mode.reason.partition(",")[0] for mode in gate.modes} == {"undecided"}
    assert all("as the machine may have changed" in mode.reason for mode in gate.modes)


def test_a_model_that_became_slower_is_a_regression_on_a_machine_that_stayed():
    gate = check_against(recording("b", model=1.12), recording("a"))

    assert {mode.outcome for mode in gate.modes} == {"regression"}
    assert all("relative to the" in mode.reason for mode in gate.modes)


def test_a_machine_that_became_faster_hides_no_slower_model():
    """As they are, the times say that nothing has become slower."""
    base, new = recording("a"), recording("b", model=1.12, machine=1 / 1.12)

    assert check_against(new, base).outcome == "undecided"
    without = [recording(name, model=m, machine=1 / m, loads={}) for name, m in (("b", 1.12), ("a", 1.0))]
    assert check_against(*without).outcome == "passed"


def test_nothing_but_the_noise_of_both_passes():
    gate = check_against(recording("b", launches=5), recording("a", launches=5))

    assert gate.outcome == "passed"


def test_a_change_that_one_load_alone_shows_is_enough_to_doubt():
    """The model may hang on just that part of the machine."""
    base = recording("a")
    new = recording("b", model=1.12, loads=LOADS_MS | {"memory": 1.12 * LOADS_MS["memory"]})

    assert check_against(new, base).outcome == "undecided"


def test_verdicts_of_a_comparison_are_held_against_the_loads_as_well():
    slower, same = recording("b", model=1.12), recording("c", machine=1.12)

    assert set(verdicts(compare_across([recording("a"), slower])).values()) == {"slower"}
    compared = compare_across([recording("a"), same])
    assert set(verdicts(compared).values()) == {"undecided"}
    assert {load: round(of_load[0].ratio, 1) for load, of_load in compared.reference_loads.items()} == dict.fromkeys(
        LOADS_MS, 1.1
    )


def test_the_finding_tells_how_the_loads_moved():
    compared = compare_across([recording("a"), recording("b", machine=2.0)])

    [told] = [finding for finding in compared.findings if finding.code == "reference_loads"]
    for words in ("2.0", "(compute)", "(memory)", "(dispatch)", "as long in B as in A"):
        assert words in told.what
    assert "unpaired" not in {finding.code for finding in compared.findings}


@pytest.mark.parametrize(
    "environment",
    [
        {"tensorflow": TENSORFLOW | {"version": "2.21.0"}},
        {"tensorflow": TENSORFLOW | {"device": "GPU:0"}},
        {"tensorflow": TENSORFLOW, "cpu": {"name": "Example CPU 9000"}},
        {"tensorflow": TENSORFLOW, "variables": {"OMP_NUM_THREADS": "1"}},
        {"tensorflow": TENSORFLOW | {"onednn": True}},
    ],
)
def test_loads_do_not_count_where_they_are_not_the_same_work_on_the_same_machine(environment):
    other = recording("b", machine=1.12, environment=environment)

    compared = compare_across([recording("a"), other], allow_mixed=True)

    assert compared.reference_loads == {}
    assert set(verdicts(compared).values()) == {"slower"}


@pytest.mark.parametrize(
    "environment",
    [{"tensorflow": TENSORFLOW, "variables": {"XLA_FLAGS": "--xla_dump_to=x"}}, {"tensorflow": TENSORFLOW}],
)
def test_another_model_or_flag_of_xla_leaves_them_what_they_are(environment):
    other = recording("b", environment=environment, model=1.0)

    assert set(compare_across([recording("a"), other], allow_mixed=True).reference_loads) == set(LOADS_MS)


def test_a_load_that_is_missing_in_one_launch_does_not_count():
    base, new = recording("a"), recording("b", machine=1.12)
    kept = tuple(line for line in new.lines if getattr(line, "load", None) != "memory" or line.launch != 1)

    compared = compare_across([base, type(new)(header=new.header, lines=kept)])

    assert set(compared.reference_loads) == {"compute", "dispatch"}


def test_relative_to_a_mode_no_load_is_asked():
    compared = compare_across([recording("a"), recording("b", machine=1.12)], relative_to="eager")

    assert compared.reference_loads == {}
    assert "relative" in {finding.code for finding in compared.findings}


def test_the_load_that_follows_a_mode_best_is_the_one_with_the_narrowest_interval():
    wide, narrow = comparison("slower", 1.5, 1.2, 1.9), comparison("undecided", 1.0, 0.95, 1.05)

    assert closest({"compute": wide, "memory": narrow}) == "memory"
    assert closest({"compute": comparison("undecided", 1.5, None, None)}) is None
    assert closest({}) is None


ratios = st.floats(0.3, 3.0)
compared = st.builds(
    lambda verdict, ratio, width: comparison(verdict, ratio, ratio / width, ratio * width),
    st.sampled_from(["slower", "faster", "equivalent", "undecided"]),
    ratios,
    st.floats(1.001, 3.0),
)


@given(compared, st.dictionaries(st.sampled_from(sorted(LOADS_MS)), compared))
def test_loads_never_add_a_claim(seen, relative):
    held = withhold_drift(seen, relative, margin=0.05, launches=3)

    assert held.verdict in {seen.verdict, "undecided"}
    assert (held.ratio, held.ci95_low, held.ci95_high) == (seen.ratio, seen.ci95_low, seen.ci95_high)
    assert held == seen or relative


@pytest.mark.parametrize("seed", range(20))
def test_the_same_build_is_never_a_regression_however_the_machine_drifts(seed):
    """Each launch finds the machine anew; between the benchmarks it changes by up to a fifth."""
    drift = 1.2 ** ((seed - 10) / 10)
    noises = {"launch_noise": 0.02, "round_noise": 0.03, "load_noise": 0.02}
    base, new = recording("a", seed=2 * seed, **noises), recording("b", seed=2 * seed + 1, machine=drift, **noises)

    assert check_against(new, base).outcome in {"passed", "undecided"}


@pytest.mark.parametrize("seed", range(20))
def test_a_tenth_is_found_every_time_where_machine_and_launches_are_quiet(seed):
    base, new = recording("a", seed=2 * seed), recording("b", seed=2 * seed + 1, model=1.10)

    assert check_against(new, base).outcome == "regression"
