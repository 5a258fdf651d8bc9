"""Each border of the rule that decides whether a benchmark is slower than another one."""

import pytest
from recordings import SEED_TABLE_MS, make_recording

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.records.judgement import Comparison
from mlflow_tfexec.records.recording import End
from mlflow_tfexec.statistics.gate import check_against, rule

TIMES = {"eager": 9.0, "graph": 4.0, "xla": 3.0}


def recording(name, times_ms=TIMES, **more):
    return make_recording(times_ms, **{"benchmark_id": name * 32, "seed": ord(name), **more})


def slowed(factor, *, modes=("xla",)):
    return {mode: time_ms * (factor if mode in modes else 1) for mode, time_ms in TIMES.items()}


def outcomes(gate):
    return {mode.mode: mode.outcome for mode in gate.modes}


def comparison(verdict, ratio, low, high):
    return Comparison("B", "A", ratio, low, high, verdict)


@pytest.mark.parametrize(
    ("seen", "outcome", "word"),
    [
        (comparison("slower", 1.10, 1.08, 1.12), "regression", "slower"),
        (comparison("slower", 1.051, 1.001, 1.10), "regression", "slower"),
        # Exactly the margin is not beyond it.
        (comparison("slower", 1.05, 1.001, 1.10), "undecided", "slower, perhaps within the margin"),
        (comparison("slower", 1.04, 1.02, 1.06), "undecided", "slower, perhaps within the margin"),
        (comparison("slower", 1.03, 1.02, 1.05), "passed", "not slower beyond 5 %"),
        (comparison("equivalent", 1.01, 0.97, 1.05), "passed", "equivalent"),
        (comparison("faster", 0.8, 0.7, 0.9), "passed", "faster"),
        (comparison("undecided", 0.97, 0.90, 1.05), "passed", "not slower beyond 5 %"),
        (comparison("undecided", 0.97, 0.90, 1.0501), "undecided", "undecided"),
        # A point far beyond the margin decides nothing alone.
        (comparison("undecided", 1.50, 0.99, 2.20), "undecided", "undecided"),
        (comparison("undecided", 1.50, None, None), "undecided", "undecided"),
    ],
)
def test_the_rule_at_each_border(seen, outcome, word):
    assert rule(seen, {}, margin=0.05, withholding=False, launches=5) == (outcome, word)


def test_in_an_unstable_session_only_what_was_granted_counts():
    within = comparison("undecided", 0.97, 0.90, 1.05)

    assert rule(within, {}, margin=0.05, withholding=True, launches=5)[0] == "undecided"
    assert rule(comparison("slower", 1.5, 1.4, 1.6), {}, margin=0.05, withholding=True, launches=5)[0] == "regression"
    assert rule(comparison("equivalent", 1.0, 0.99, 1.01), {}, margin=0.05, withholding=True, launches=5)[0] == "passed"


def judged_by(as_it_is, **relative):
    return rule(as_it_is, relative, margin=0.05, withholding=False, launches=5)


NARROW = comparison("slower", 1.10, 1.06, 1.14)
WIDE = comparison("undecided", 1.10, 0.80, 1.50)


@pytest.mark.parametrize(
    ("as_it_is", "relative", "outcome"),
    [
        (NARROW, {"compute": NARROW, "memory": WIDE}, "regression"),
        # The load that follows best does not show it.
        (NARROW, {"compute": comparison("undecided", 1.01, 0.97, 1.05), "memory": WIDE}, "undecided"),
        # Another load says that nothing beyond the margin is left.
        (NARROW, {"compute": NARROW, "memory": comparison("undecided", 1.00, 0.95, 1.049)}, "undecided"),
        # One that says nothing takes nothing back.
        (NARROW, {"compute": NARROW, "memory": comparison("undecided", 0.90, 0.70, 1.20)}, "regression"),
        # The machine moved more than the mode did: relative to the load it is plain.
        (WIDE, {"compute": NARROW}, "regression"),
        (comparison("undecided", 0.85, 0.60, 1.30), {"compute": NARROW}, "regression"),
        (comparison("faster", 0.85, 0.75, 0.95), {"compute": NARROW}, "undecided"),
        # As it is the interval is the narrower one, and does not show it.
        (comparison("undecided", 1.06, 0.98, 1.08), {"compute": comparison("slower", 1.10, 1.02, 1.20)}, "undecided"),
        (comparison("undecided", 1.02, 0.80, 1.50), {"compute": comparison("equivalent", 1.0, 0.97, 1.03)}, "passed"),
        (WIDE, {"compute": comparison("equivalent", 1.0, 0.97, 1.03)}, "passed"),
        (WIDE, {"compute": WIDE}, "undecided"),
        (comparison("equivalent", 1.0, 0.97, 1.03), {"compute": NARROW}, "undecided"),
    ],
)
def test_the_rule_beside_reference_loads(as_it_is, relative, outcome):
    assert judged_by(as_it_is, **relative)[0] == outcome


def test_an_unstable_session_is_not_saved_by_a_load():
    assert rule(WIDE, {"compute": NARROW}, margin=0.05, withholding=True, launches=5)[0] == "undecided"


def test_a_tenth_in_one_mode_is_a_regression_of_that_mode_alone():
    gate = check_against(recording("b", slowed(1.10)), recording("a"))

    assert outcomes(gate) == {"eager": "passed", "graph": "passed", "xla": "regression"}
    assert gate.outcome == "regression"
    assert [mode.mode for mode in gate.of("regression")] == ["xla"]
    [found] = gate.of("regression")
    assert found.reason.startswith("slower, 1.")
    assert found.comparison.ratio == pytest.approx(1.1, rel=0.02)


def test_a_tenth_quicker_is_no_regression():
    assert check_against(recording("b", slowed(0.9)), recording("a")).outcome == "passed"


def test_the_ratio_is_new_over_base():
    gate = check_against(recording("b", slowed(3.0)), recording("a"))

    assert gate.of("regression")[0].comparison.ratio == pytest.approx(3.0, rel=0.02)
    assert (gate.new_id, gate.base_id) == ("b" * 32, "a" * 32)


def test_without_a_margin_the_smaller_of_the_two_counts():
    new, base = recording("b", slowed(1.10), launches=5, margin=0.2), recording("a", launches=5)

    gate = check_against(new, base)

    assert (gate.margin, gate.outcome) == (0.05, "regression")


def test_a_slow_down_within_the_margin_is_let_through():
    new, base = recording("b", slowed(1.10), launches=5), recording("a", launches=5)

    assert check_against(new, base).outcome == "regression"
    assert check_against(new, base, margin=0.2).outcome == "passed"


@pytest.mark.parametrize("seed", range(20))
def test_the_same_build_is_never_a_regression(seed):
    noisy = {"launch_noise": 0.02, "round_noise": 0.03}

    gate = check_against(recording("b", seed=2 * seed, **noisy), recording("a", seed=2 * seed + 1, **noisy))

    assert gate.outcome in {"passed", "undecided"}


@pytest.mark.parametrize("seed", range(20))
def test_a_tenth_is_found_every_time_where_launches_are_quiet(seed):
    new, base = recording("b", slowed(1.10), seed=2 * seed), recording("a", seed=2 * seed + 1)

    assert outcomes(check_against(new, base))["xla"] == "regression"


def test_noise_is_undecided_and_says_what_would_decide():
    noisy = {"launch_noise": 0.06}

    gate = check_against(recording("b", **noisy), recording("a", **noisy))

    assert gate.outcome == "undecided"
    assert all("launches of each would decide it" in mode.reason for mode in gate.of("undecided"))


@pytest.mark.parametrize("status", ["crashed", "oom", "compile_failed", "timeout", "outputs_differ"])
def test_a_mode_that_has_failed_since_is_a_regression(status):
    gate = check_against(recording("b", statuses={"xla": status}), recording("a"))

    assert outcomes(gate) == {"eager": "passed", "graph": "passed", "xla": "regression"}
    assert gate.of("regression")[0].reason == f"was ok before and is {status} now (xla ended as {status})"
    assert gate.of("regression")[0].comparison is None


def test_a_mode_that_was_skipped_now_is_undecided():
    gate = check_against(recording("b", statuses={"xla": "skipped"}, end=End(status="interrupted")), recording("a"))

    assert outcomes(gate)["xla"] == "undecided"
    assert "partial" in [finding.code for finding in gate.findings]


def test_all_modes_may_have_failed():
    gate = check_against(recording("b", statuses=dict.fromkeys(TIMES, "oom")), recording("a"))

    assert set(outcomes(gate).values()) == {"regression"}
    assert gate.findings == ()


def test_modes_that_failed_before_or_are_not_asked_for_now_are_not_checked():
    base = recording("a", statuses={"graph": "oom"})
    fewer = recording("b", {"eager": 9.0, "graph": 4.0})

    assert list(outcomes(check_against(fewer, base))) == ["eager"]


def test_controls_are_not_checked():
    gate = check_against(recording("b", SEED_TABLE_MS), recording("a", SEED_TABLE_MS))

    assert list(outcomes(gate)) == ["eager", "graph", "graph_nojit", "xla"]


def test_the_modes_named_are_checked_and_share_the_error_among_themselves():
    pair = recording("b"), recording("a")

    alone = check_against(*pair, modes=["xla"])

    assert list(outcomes(alone)) == ["xla"]
    assert alone.modes[0].comparison.ci95_high < check_against(*pair).modes[2].comparison.ci95_high


@pytest.mark.parametrize(
    ("mode", "told"),
    [
        ("xlla", r"'xlla' cannot be checked \(before: not asked for, now: not asked for\). Can be: eager, graph, xla."),
        ("graph_control", r"'graph_control' cannot be checked \(before: an A/A control"),
    ],
)
def test_a_mode_that_cannot_be_checked_is_refused(mode, told):
    with pytest.raises(RequestError, match=told):
        check_against(recording("b"), recording("a"), modes=[mode])


def test_a_mode_that_failed_before_is_refused_by_name():
    with pytest.raises(RequestError, match=r"before: oom, now: ok"):
        check_against(recording("b"), recording("a", statuses={"xla": "oom"}), modes=["xla"])


def test_no_mode_in_common_is_refused():
    with pytest.raises(RequestError, match="no mode in common"):
        check_against(recording("b", {"xla": 3.0}), recording("a", {"eager": 9.0}))


def test_relative_to_a_mode_a_slower_machine_is_let_through_and_a_slower_mode_is_not():
    slow_machine = slowed(1.3, modes=TIMES)
    new, base = recording("b", slow_machine, launches=5), recording("a", launches=5)
    worse = recording("c", slow_machine | {"xla": 3.0 * 1.3 * 1.2}, launches=5)

    assert set(outcomes(check_against(new, base)).values()) == {"regression"}
    assert outcomes(check_against(new, base, relative_to="eager")) == {"graph": "passed", "xla": "passed"}
    assert outcomes(check_against(worse, base, relative_to="eager")) == {"graph": "passed", "xla": "regression"}


def test_what_is_relative_to_itself_or_to_nothing_is_refused():
    pair = recording("b"), recording("a")

    with pytest.raises(RequestError, match="'eager' cannot be checked"):
        check_against(*pair, modes=["eager"], relative_to="eager")
    with pytest.raises(RequestError, match=r"'egaer' was not measured in two of the benchmarks"):
        check_against(*pair, relative_to="egaer")
    with pytest.raises(RequestError, match="no mode in common"):
        check_against(recording("b", {"eager": 9.0}), recording("a", {"eager": 9.0}), relative_to="eager")


def test_a_benchmark_is_not_held_against_itself():
    with pytest.raises(RequestError, match="named twice"):
        check_against(recording("a"), recording("a"))


def test_another_machine_or_model_is_refused_unless_asked_for_and_another_version_is_not():
    base = recording("a", environment={"cpu": {"name": "One"}, "tensorflow": {"version": "2.19.0"}})
    newer = recording("b", environment={"cpu": {"name": "One"}, "tensorflow": {"version": "2.20.0"}})
    elsewhere = recording("c", environment={"cpu": {"name": "Other"}, "tensorflow": {"version": "2.19.0"}})

    assert check_against(newer, base).outcome == "passed"
    with pytest.raises(RequestError, match=r"they differ in machine \(CPU\)\. .*--allow-mixed"):
        check_against(elsewhere, base)
    with pytest.raises(RequestError, match=r"they differ in subject \(batch size\), machine \(CPU\)"):
        check_against(recording("d", batch_size=8), base)
    assert check_against(elsewhere, base, allow_mixed=True).outcome == "passed"


def test_what_counted_is_told_first():
    loads = {"compute": 2.0, "memory": 3.0, "dispatch": 0.2}
    tensorflow = {"tensorflow": {"version": "2.20.0", "device": "CPU"}}
    base, new = (
        recording(name, slowed(factor, modes=TIMES), loads_ms=loads, environment=tensorflow)
        for name, factor in (("a", 1.0), ("b", 1.12))
    )

    for mode in check_against(new, base).modes:
        assert " relative to the " in mode.reason
        assert mode.reason.startswith("slower, 1.1")
        assert (" as it is)" in mode.reason) == ("load (" in mode.reason)
