"""The same mode in several benchmarks, against second sources and by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import SEED_TABLE_MS, make_recording
from scipy import stats

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.records.judgement import INVERSE
from mlflow_tfexec.records.recording import End
from mlflow_tfexec.statistics import across
from mlflow_tfexec.statistics.across import compare_across, side_labels
from mlflow_tfexec.statistics.comparison import launches_needed
from mlflow_tfexec.statistics.estimates import launch_log_times
from mlflow_tfexec.statistics.intervals import round_spread
from mlflow_tfexec.statistics.moderation import Variance
from mlflow_tfexec.statistics.pairing import launch_log_ratios
from mlflow_tfexec.statistics.rounds import Rounds, read_rounds
from mlflow_tfexec.statistics.unpaired import estimates, unpaired_spread

TWO_MODES = {"eager": 9.0, "xla": 3.0}
QUIET_ROUNDS = {"launch_noise": 0.02, "round_noise": 0.001}
"""So that launches differ by more than their rounds leave open, and their own variance is the one that counts."""
SCATTERED = np.array([-0.4, -0.3, -0.2, -0.1, 0.0, 0.15, 0.2, 0.35, 0.45])
LEVELS = {"eager": 16.0, "xla": 15.0}
GPU = {"tensorflow": {"device": "GPU:0", "version": "2.19.0"}, "gpu": {"name": "Example GPU"}}


def recording(name, factor=1.0, *, times_ms=TWO_MODES, **more):
    """Make a benchmark named by one letter, *factor* times as slow in every mode."""
    times = {mode: time_ms * factor for mode, time_ms in times_ms.items()}
    return make_recording(times, **{"benchmark_id": name * 32, "seed": ord(name), **more})


def only(compared, mode):
    """Return the one comparison of *mode*."""
    [found] = [one for one in compared.modes if one.mode == mode]
    [comparison] = found.comparisons
    return comparison


def codes(compared):
    return [finding.code for finding in compared.findings]


def logs(one, mode):
    return launch_log_times(read_rounds(one), mode)


def test_the_ratio_is_that_of_the_geometric_means_over_launches():
    a, b = recording("a", launches=3), recording("b", 1.2, launches=5)

    found = only(compare_across([a, b]), "xla")

    expected = math.exp(np.mean(logs(b, "xla")) - np.mean(logs(a, "xla")))
    assert (found.a, found.b) == ("B", "A")
    assert found.ratio == pytest.approx(expected, rel=1e-12)


def test_the_interval_is_welch_s_with_the_fewer_degrees_of_freedom():
    """Two modes have nobody to borrow noise from, so SciPy's standard error is ours."""
    a, b = recording("a", launches=3, **QUIET_ROUNDS), recording("b", launches=5, **QUIET_ROUNDS)

    found = only(compare_across([a, b], modes=["xla"]), "xla")

    scipy = stats.ttest_ind(logs(b, "xla"), logs(a, "xla"), equal_var=False)
    center = np.mean(logs(b, "xla")) - np.mean(logs(a, "xla"))
    half = center / scipy.statistic * stats.t.ppf(0.975, 2)
    assert found.ci95_low == pytest.approx(math.exp(center - half), rel=1e-9)
    assert found.ci95_high == pytest.approx(math.exp(center + half), rel=1e-9)


@pytest.mark.parametrize("relative_to", [None, "eager"])
def test_launches_that_agree_by_luck_are_believed_no_further_than_their_rounds_allow(relative_to):
    """Rounds that scatter by 30 % leave a launch's median open by about 10 %, however alike three launches are."""
    alike = {mode: {launch: np.exp(SCATTERED + level) for launch in range(3)} for mode, level in LEVELS.items()}
    rounds = Rounds(medians_ns=alike, calls_ns={})

    found = estimates(rounds, ["xla"], relative_to=relative_to)["xla"]

    # Of nine values, half the distance between those that are 1.5 places to either side of the middle one.
    expected = 0.0 if relative_to else ((SCATTERED[5:7].mean() - SCATTERED[2:4].mean()) / 2) ** 2
    assert found.variance.value == pytest.approx(expected)


def test_the_interval_is_wider_than_welch_s_own():
    a, b = recording("a", launches=3), recording("b", launches=5, launch_noise=0.02)

    found = only(compare_across([a, b], modes=["xla"]), "xla")

    welch = stats.ttest_ind(logs(b, "xla"), logs(a, "xla"), equal_var=False).confidence_interval(0.95)
    assert found.ci95_low < math.exp(welch.low)
    assert found.ci95_high > math.exp(welch.high)


def test_each_further_mode_widens_every_interval():
    a, b = recording("a"), recording("b")

    alone = only(compare_across([a, b], modes=["xla"]), "xla")
    together = only(compare_across([a, b], modes=["xla", "eager"]), "xla")

    log_ends = [math.log(one.ci95_high) - math.log(one.ratio) for one in (alone, together)]
    assert log_ends[1] / log_ends[0] == pytest.approx(stats.t.ppf(0.9875, 2) / stats.t.ppf(0.975, 2), rel=1e-9)


def test_a_tenth_is_found_and_a_hundredth_is_not():
    base = recording("a", launches=5)

    assert only(compare_across([base, recording("b", 1.10, launches=5)]), "xla").verdict == "slower"
    assert only(compare_across([base, recording("b", 0.90, launches=5)]), "xla").verdict == "faster"
    assert only(compare_across([base, recording("b", 1.01, launches=5)]), "xla").verdict == "equivalent"


def test_a_wide_interval_is_undecided_and_tells_how_many_launches_of_each():
    found = only(compare_across([recording("a", launch_noise=0.05), recording("b", launch_noise=0.05)]), "xla")

    assert found.verdict == "undecided"
    assert found.launches_needed > 3


def test_three_benchmarks_give_three_pairs_of_each_mode_later_over_earlier():
    compared = compare_across([recording("a"), recording("b", 1.5), recording("c", 3.0)])

    pairs = {(c.a, c.b): c.ratio for c in compared.modes[0].comparisons}
    assert {pair: round(ratio, 1) for pair, ratio in pairs.items()} == {
        ("B", "A"): 1.5,
        ("C", "A"): 3.0,
        ("C", "B"): 2.0,
    }


@given(st.integers(2, 5), st.integers(2, 5), st.floats(0.5, 2.0), st.integers(0, 99))
def test_exchanging_the_benchmarks_inverts_everything(one, other, factor, seed):
    a = recording("a", launches=one, rounds=2, calls=1)
    b = recording("b", factor, launches=other, rounds=2, calls=1, seed=seed)

    forward, backward = (only(compare_across(order), "eager") for order in ([a, b], [b, a]))

    assert backward.ratio == pytest.approx(1 / forward.ratio)
    assert backward.ci95_low == pytest.approx(1 / forward.ci95_high)
    assert backward.ci95_high == pytest.approx(1 / forward.ci95_low)
    assert backward.verdict == INVERSE[forward.verdict]
    assert backward.launches_needed == forward.launches_needed


def test_the_same_recordings_give_the_same_claims():
    pair = [recording("a"), recording("b")]

    assert compare_across(pair) == compare_across(pair)


def test_a_larger_margin_lets_more_be_equivalent():
    pair = [recording("a", launches=5), recording("b", 1.08, launches=5)]

    assert only(compare_across(pair), "xla").verdict == "slower"
    assert only(compare_across(pair, margin=0.2), "xla").verdict == "equivalent"


def test_without_a_margin_the_smallest_of_the_benchmarks_counts():
    pair = [recording("a", margin=0.1), recording("b", margin=0.02)]

    assert compare_across(pair).margin == 0.02


def test_single_launches_are_compared_by_their_rounds_and_the_scope_says_so():
    pair = [recording("a", launches=1, rounds=20), recording("b", 1.1, launches=1, rounds=20)]

    compared = compare_across(pair)

    found = only(compared, "xla")
    assert compared.scope == "this launch only"
    assert found.ci95_low < found.ratio < found.ci95_high
    assert found.launches_needed is None
    assert "one_launch" in codes(compared)


def test_the_interval_of_single_launches_is_student_s_with_both_standard_errors_and_the_fewer_degrees_of_freedom():
    a, b = recording("a", launches=1, rounds=30), recording("b", launches=1, rounds=12, round_noise=0.03)

    found = only(compare_across([a, b], modes=["xla"]), "xla")

    of_a, of_b = (round_spread(np.log(read_rounds(one).series_ns("xla")[0])) for one in (a, b))
    assert of_a.degrees_of_freedom > of_b.degrees_of_freedom
    error = math.hypot(of_a.standard_error, of_b.standard_error)
    half = stats.t.ppf(0.975, of_b.degrees_of_freedom) * error
    assert math.log(found.ci95_high / found.ratio) == pytest.approx(half, rel=1e-9)


def test_launches_are_foreseen_with_the_error_shared_among_the_modes():
    noisy = {"launch_noise": 0.05, "round_noise": 0.0}
    pair = [recording("a", **noisy), recording("b", **noisy)]

    found = only(compare_across(pair), "xla")

    variance = sum(np.var(logs(one, "xla"), ddof=1) for one in pair)
    expected = launches_needed(math.log(found.ratio), Variance(variance, 2), 3, confidence=1 - 0.05 / 2, margin=0.05)
    assert found.launches_needed == expected
    assert only(compare_across(pair, modes=["xla"]), "xla").launches_needed < expected


def test_a_single_launch_has_no_interval_against_several():
    compared = compare_across([recording("a", launches=1), recording("b", 2.0, launches=5)])

    found = only(compared, "xla")
    assert (found.ci95_low, found.ci95_high, found.verdict) == (None, None, "undecided")
    assert compared.scope == "this launch only"
    [told] = [finding for finding in compared.findings if finding.code == "one_launch"]
    assert told.what == "A single launch: A."


def test_launches_without_any_noise_have_an_interval_without_width():
    quiet = {"launch_noise": 0.0, "round_noise": 0.0, "calls": 1, "rounds": 1}
    pair = [recording(name, launches=3, **quiet) for name in "ab"]
    for one in pair:
        object.__setattr__(one, "lines", tuple(_flat(line) for line in one.lines))

    found = only(compare_across(pair), "xla")

    assert (found.ratio, found.ci95_low, found.ci95_high, found.verdict) == (1.0, 1.0, 1.0, "equivalent")


def _flat(line):
    calls = getattr(line, "calls_ns", None)
    return line.model_copy(update={"calls_ns": (1_000_000,)}) if calls else line


def test_controls_are_not_compared_and_are_refused_by_name():
    times = {"eager": 9.0, "graph": 4.0, "graph_control": 4.0}
    pair = [recording("a", times_ms=times), recording("b", times_ms=times)]

    assert [mode.mode for mode in compare_across(pair).modes] == ["eager", "graph"]
    with pytest.raises(RequestError, match="'graph_control' is an A/A control"):
        compare_across(pair, modes=["graph_control"])


def test_a_mode_that_failed_on_one_side_is_left_out_and_told():
    a = recording("a", times_ms=SEED_TABLE_MS)
    b = recording("b", times_ms=SEED_TABLE_MS, statuses={"xla": "oom"})

    compared = compare_across([a, b])

    assert [mode.mode for mode in compared.modes] == ["eager", "graph", "graph_nojit"]
    [told] = [finding for finding in compared.findings if finding.code == "mode_left_out"]
    assert (told.mode, told.what) == ("xla", "Is not compared everywhere: B oom.")


def test_a_mode_whose_outputs_differ_is_not_compared():
    pair = [recording("a"), recording("b", statuses={"xla": "outputs_differ"})]

    assert [mode.mode for mode in compare_across(pair).modes] == ["eager"]


def test_a_mode_that_two_of_three_have_is_compared_between_them():
    third = recording("c", times_ms={"eager": 9.0, "graph": 4.0})

    compared = compare_across([recording("a"), third, recording("b")])

    assert [(c.a, c.b) for c in compared.modes[1].comparisons] == [("C", "A")]
    assert set(compared.modes[1].latencies) == {"A", "C"}
    assert "graph" not in [mode.mode for mode in compared.modes]


@pytest.mark.parametrize(
    ("recordings", "asked", "refused"),
    [
        ("a", {}, "A comparison takes two benchmarks or more, not 1."),
        ("aa", {}, f"Benchmark {'a' * 32!r} is named twice."),
        ("aba", {}, f"Benchmark {'a' * 32!r} is named twice."),
        ("ab", {"modes": ["xlla"]}, r"Mode 'xlla' was not measured in two of the benchmarks \(A not asked for, B not"),
        ("ab", {"margin": -0.1}, "The margin -0.1 is not a fraction."),
        ("ab", {"margin": math.nan}, "The margin nan is not a fraction."),
    ],
)
def test_what_cannot_be_compared_is_refused(recordings, asked, refused):
    with pytest.raises(RequestError, match=refused):
        compare_across([recording(name) for name in recordings], **asked)


def test_benchmarks_without_a_mode_in_common_are_refused():
    with pytest.raises(RequestError, match="no mode in common"):
        compare_across([recording("a", times_ms={"eager": 1.0}), recording("b", times_ms={"xla": 1.0})])


def test_two_machines_are_compared_and_two_machines_with_two_versions_only_when_asked():
    cpu = {"tensorflow": {"device": "CPU", "version": "2.19.0"}}
    newer_cpu = {"tensorflow": {"device": "CPU", "version": "2.20.0"}}
    gpu, base, newer = (
        recording(name, environment=env) for name, env in zip("abc", (GPU, cpu, newer_cpu), strict=True)
    )

    assert {d.label for d in compare_across([gpu, base]).differences} == {"device", "GPU"}
    assert {d.label for d in compare_across([base, newer]).differences} == {"TensorFlow"}
    with pytest.raises(
        RequestError, match=r"more than one thing: machine \(device, GPU\), versions \(TensorFlow\).*--allow-mixed"
    ):
        compare_across([gpu, newer])
    assert len(compare_across([gpu, newer], allow_mixed=True).differences) == 3


def test_an_unstable_session_withholds_what_its_noise_may_have_made():
    times = {"eager": 9.0, "graph": 4.0, "graph_control": 4.8}
    noisy = recording("b", 1.15, times_ms=times)
    steady = recording("a", times_ms=times | {"graph_control": 4.0})

    compared = compare_across([steady, noisy])

    assert [side.unstable for side in compared.sides] == [False, True]
    assert only(compared, "eager").verdict == "undecided"
    assert only(compared, "eager").ci95_low > 1
    assert "control_differs" in codes(compared)
    assert only(compare_across([steady, recording("b", 3.0, times_ms=times)]), "eager").verdict == "slower"


def test_modes_that_all_moved_alike_are_told():
    times = {"eager": 9.0, "graph": 4.0, "xla": 3.0}
    base = recording("a", times_ms=times)

    alike = compare_across([base, recording("b", 1.2, times_ms=times)])
    unlike = compare_across([base, recording("b", 1.2, times_ms=times | {"xla": 3.6})])
    unmoved = compare_across([base, recording("b", times_ms=times)])

    assert "all_moved_alike" in codes(alike)
    assert "all_moved_alike" not in codes(unlike)
    assert "all_moved_alike" not in codes(unmoved)


def test_what_lies_between_two_measurements_is_told():
    early, late = recording("a"), recording("b")
    header = late.header.model_copy(update={"created": "2026-01-31T17:30:00Z"})
    object.__setattr__(late, "header", header)

    [told] = [finding for finding in compare_across([early, late]).findings if finding.code == "unpaired"]

    assert told.what == "The benchmarks were measured one after another, 5.5 h apart."


def test_a_time_that_cannot_be_read_is_not_told():
    early, late = recording("a"), recording("b")
    object.__setattr__(late, "header", late.header.model_copy(update={"created": "yesterday"}))

    [told] = [finding for finding in compare_across([early, late]).findings if finding.code == "unpaired"]

    assert told.what == "The benchmarks were measured one after another."


def test_a_benchmark_cut_short_is_told():
    interrupted = recording("b", end=End(status="interrupted"))

    [told] = [f for f in compare_across([recording("a"), interrupted]).findings if f.code == "partial"]

    assert told.what == "Cut short: B."


def test_labels_go_on_after_the_alphabet():
    labels = side_labels(54)

    assert labels[:2] + labels[25:28] + labels[52:] == ("A", "B", "Z", "A2", "B2", "A3", "B3")


def test_the_json_form_holds_no_number_that_is_not_known():
    compared = compare_across([recording("a", launches=1), recording("b", launches=3)])

    [first, *_] = compared.to_dict()["modes"]
    assert first["comparisons"][0]["ci95"] is None
    assert set(first["comparisons"][0]) == {"a", "b", "ratio", "ci95", "verdict", "launches_needed"}
    assert list(compared.to_dict()) == [
        "benchmarks",
        "differences",
        "margin",
        "relative_to",
        "scope",
        "modes",
        "reference_loads",
        "findings",
    ]


def test_relative_to_a_mode_the_ratio_is_that_of_the_paired_ratios():
    a, b = recording("a", **QUIET_ROUNDS), recording("b", times_ms={"eager": 9.0, "xla": 4.5}, **QUIET_ROUNDS)

    found = only(compare_across([a, b], relative_to="eager"), "xla")

    paired = [launch_log_ratios(read_rounds(one), [("xla", "eager")])["xla", "eager"].medians for one in (b, a)]
    center = np.mean(paired[0]) - np.mean(paired[1])
    scipy = stats.ttest_ind(*paired, equal_var=False)
    half = center / scipy.statistic * stats.t.ppf(0.975, 2)
    assert found.ratio == pytest.approx(math.exp(center), rel=1e-12)
    assert found.ci95_low == pytest.approx(math.exp(center - half), rel=1e-9)
    assert found.verdict == "slower"


def test_relative_to_a_mode_a_machine_that_is_half_as_quick_makes_nothing_slower():
    """Drift within the launches is in both modes of a round alike, and cancels as well."""
    times = {"eager": 9.0, "graph": 4.0, "xla": 3.0}
    pair = [recording("a", times_ms=times, launches=5), recording("b", 2.0, times_ms=times, launches=5)]

    absolute, relative = compare_across(pair), compare_across(pair, relative_to="eager")

    assert {only(absolute, mode).verdict for mode in times} == {"slower"}
    assert [mode.mode for mode in relative.modes] == ["graph", "xla"]
    assert {only(relative, mode).verdict for mode in ("graph", "xla")} == {"equivalent"}
    assert "all_moved_alike" in codes(absolute)
    assert codes(relative) == ["relative"]


def test_relative_to_a_mode_single_launches_are_compared_by_their_rounds():
    pair = [recording("a", launches=1, rounds=20), recording("b", launches=1, rounds=20)]

    found = only(compare_across(pair, relative_to="eager"), "xla")

    assert found.ci95_low < found.ratio < found.ci95_high


def test_relative_to_a_mode_only_benchmarks_that_have_it_are_compared():
    times = {"eager": 9.0, "graph": 4.0, "xla": 3.0}
    lost = recording("b", times_ms=times, statuses={"graph": "oom"})
    three = [recording("a", times_ms=times), lost, recording("c", times_ms=times)]

    compared = compare_across(three, relative_to="graph")

    assert {(c.a, c.b) for mode in compared.modes for c in mode.comparisons} == {("C", "A")}
    with pytest.raises(RequestError, match=r"'graph' was not measured in two of the benchmarks \(A ok, B oom\)"):
        compare_across(three[:2], relative_to="graph")


def test_a_mode_is_not_compared_relative_to_itself():
    with pytest.raises(RequestError, match="'xla' cannot be compared relative to itself"):
        compare_across([recording("a"), recording("b")], modes=["eager", "xla"], relative_to="xla")


def test_modes_that_never_shared_a_round_have_a_ratio_and_no_interval(rounds_of):
    apart = rounds_of({"eager": [[9.0, math.nan]], "xla": [[math.nan, 3.0]]})

    found = estimates(apart, ["xla"], relative_to="eager")["xla"]

    assert math.exp(found.center) == pytest.approx(1 / 3)
    assert unpaired_spread(found, found) is None


PAIRS = 1200
MODES = ("eager", "graph", "graph_nojit", "xla")


def compared_as(sides, modes, *, margin):
    places = dict.fromkeys(modes, (0, 1))
    return across._compare(sides, places, labels=("A", "B"), relative_to=None, error=0.05, margin=margin)


def wrong_verdicts(rounds_of, launches, noises, modes=MODES):
    """Share of pairs of identical benchmarks in which some mode is called different; nothing hides as equivalent."""
    generator = np.random.default_rng(7)
    wrong = 0
    for _ in range(PAIRS):
        sides = [
            rounds_of({mode: 1e6 * np.exp(generator.normal(0, noise, (count, 1))) for mode in modes})
            for count, noise in zip(launches, noises, strict=True)
        ]
        found = across._compare(
            sides, dict.fromkeys(modes, (0, 1)), labels=("A", "B"), relative_to=None, error=0.05, margin=0.05
        )
        wrong += any(comparison.verdict in {"slower", "faster"} for comparison in found.values())
    return wrong / PAIRS


@pytest.mark.parametrize(
    ("launches", "noises"),
    [((3, 3), (0.02, 0.02)), ((3, 3), (0.01, 0.1)), ((5, 3), (0.01, 0.04)), ((5, 5), (0.02, 0.02))],
    ids=str,
)
def test_identical_benchmarks_are_called_different_in_at_most_5_of_100(rounds_of, launches, noises):
    assert wrong_verdicts(rounds_of, launches, noises) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / PAIRS)


def test_a_tenth_is_found_in_nine_of_ten_pairs_of_three_quiet_launches(rounds_of):
    generator = np.random.default_rng(7)
    found = 0
    for _ in range(300):
        sides = [
            rounds_of({mode: time * np.exp(generator.normal(0, 0.01, (3, 1))) for mode in MODES})
            for time in (1e6, 1.1e6)
        ]
        compared = across._compare(
            sides, dict.fromkeys(MODES, (0, 1)), labels=("A", "B"), relative_to=None, error=0.05, margin=0.05
        )
        found += compared["xla", 1, 0].verdict == "slower"
    assert found / 300 >= 0.90
