import dataclasses
import math
import statistics

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from recordings import make_recording

from mlflow_tfexec.records.recording import Block, ModeLine, Phase
from mlflow_tfexec.records.spec import PRESETS
from mlflow_tfexec.statistics.components import Components
from mlflow_tfexec.statistics.planning import MOST_ROUNDS, _resolution, launch_seconds, plan

PARTS_S = {"start": 10.0, "build": 5.0, "first_call": 12.0, "warmup": 20.0, "blocks": 8.0, "finish": 1.0}
"""48 s beside the rounds, 8 s for all rounds."""

PILOT_S = 6.0


def phases(launches=2, *, parts_s=PARTS_S, pilot_s=PILOT_S):
    lines = [Phase(name="pilot", launch=0, duration_ns=int(pilot_s * 1e9)), Phase(name="other", duration_ns=10**9)]
    for launch in range(launches):
        lines += [Phase(name=name, launch=launch, duration_ns=int(s * 1e9)) for name, s in parts_s.items()]
    return lines


def timed(recording, lines):
    """Put *lines* in the place of the recording's own phases."""
    others = tuple(line for line in recording.lines if not isinstance(line, Phase))
    return dataclasses.replace(recording, lines=others + tuple(lines))


def measured(log_ratios, *, of="xla", status="ok"):
    """Blocks of one call each: the mode takes exp(log ratio) seconds in each round of each launch."""
    lines = [ModeLine(launch=launch, mode=of, status=status) for launch in range(len(log_ratios))]
    for launch, rounds in enumerate(log_ratios):
        for round_, log_ratio in enumerate(rounds):
            ns = round(1e9 * math.exp(log_ratio))
            block = Block(launch=launch, round=round_, position=0, mode=of, metric="latency", calls_ns=(ns,))
            lines.append(block)
    return lines


SERIES = [[0.0, 0.02, 0.0, 0.02], [0.10, 0.12, 0.10, 0.12]]
"""Variance within: 4 * 0.0001 / 3. Between: 0.005 less a quarter of it."""

STEADY = [[0.0] * 4, [0.0] * 4]


@pytest.fixture
def pilot(recording_of):
    return recording_of(*measured(STEADY, of="eager"), *measured(SERIES), *phases())


def test_costs_are_those_of_the_phases(pilot):
    planned = plan(pilot)

    assert planned.launch_cost_s == pytest.approx(48)
    assert planned.round_cost_s == pytest.approx(2)


def test_spreads_are_the_roots_of_the_variance_components(pilot):
    planned = plan(pilot)

    assert planned.within_launch == pytest.approx(math.sqrt(4e-4 / 3), rel=1e-6)
    assert planned.between_launches == pytest.approx(math.sqrt(0.005 - 1e-4 / 3), rel=1e-6)


def test_each_preset_takes_one_pilot_and_its_launches_with_their_rounds(pilot):
    assert [(preset.name, preset.launches, preset.rounds, preset.seconds) for preset in plan(pilot).presets] == [
        ("quick", (1, 1), 10, (6 + 68, 6 + 68)),
        ("standard", (3, 5), 10, (6 + 3 * 68, 6 + 5 * 68)),
        ("rigorous", (5, 20), 20, (6 + 5 * 88, 6 + 20 * 88)),
    ]


def test_resolution_is_students_interval_as_a_ratio(pilot):
    """One pair: 1 % at the first look and 4 % at the last; the table's t(0.995, 2) and scipy's t(0.98, 4)."""
    _, standard, _ = plan(pilot).presets
    variance = 0.005 - 1e-4 / 3 + 4e-4 / 3 / 10

    assert standard.resolution == pytest.approx(
        (math.exp(9.924843 * math.sqrt(variance / 3)) - 1, math.exp(2.998528 * math.sqrt(variance / 5)) - 1), rel=1e-5
    )


def test_three_modes_share_the_error_among_three_pairs_and_borrow_half_a_degree(recording_of):
    recording = recording_of(
        *measured(STEADY, of="eager"),
        *measured(SERIES),
        *measured(SERIES, of="graph"),
        *phases(),
        modes=("eager", "xla", "graph"),
    )

    planned = plan(recording)

    # Of the three pairs, xla and graph never differ: the average is two thirds of either's variance against eager.
    between, within = (0.005 - 1e-4 / 3) * 2 / 3, 4e-4 / 3 * 2 / 3
    assert planned.between_launches == pytest.approx(math.sqrt(between), rel=1e-6)
    quantile = scipy.stats.t.ppf(1 - 0.01 / 3 / 2, 2.5)
    assert planned.presets[1].resolution[0] == pytest.approx(
        math.exp(quantile * math.sqrt((between + within / 10) / 3)) - 1, rel=1e-6
    )


def test_a_single_launch_has_no_resolution(pilot):
    assert plan(pilot).presets[0].resolution is None


def test_recommended_rounds_by_hand(recording_of):
    """Within 0.0036 * 4/3, between 0.0014 less a quarter of it = 0.0002; a launch costs 24 rounds: sqrt(24 * 24)."""
    half_gap = math.sqrt((0.0002 + 0.0012) / 2)
    series = [[center + d for d in (-0.06, 0.06, -0.06, 0.06)] for center in (-half_gap, half_gap)]

    # A hair dearer, so that rounding to whole nanoseconds does not decide.
    lines = phases(parts_s=PARTS_S | {"start": 10.5})
    planned = plan(recording_of(*measured(STEADY, of="eager"), *measured(series), *lines))

    assert planned.rounds == 25


def test_few_rounds_are_recommended_where_launches_differ_most(pilot):
    assert plan(pilot).rounds == 5


def test_the_most_rounds_are_recommended_where_launches_do_not_differ(recording_of):
    recording = recording_of(*measured(STEADY, of="eager"), *measured([[0.0, 0.1], [0.1, 0.0]]), *phases())

    assert plan(recording).between_launches == 0
    assert plan(recording).rounds == MOST_ROUNDS == 50


@pytest.mark.parametrize("status", ["outputs_differ", "crashed"])
def test_a_mode_without_a_place_in_the_order_has_no_pairs(pilot, recording_of, status):
    other = measured([[0.0, 1.0], [2.0, 3.0]], of="graph", status=status)

    assert plan(recording_of(*pilot.lines, *other, modes=("eager", "xla", "graph"))) == plan(pilot)


def test_the_control_has_no_pairs(pilot, recording_of):
    control = measured([[0.0, 1.0], [2.0, 3.0]], of="xla_control")

    assert plan(recording_of(*pilot.lines, *control, modes=("eager", "xla", "xla_control"))) == plan(pilot)


def test_one_launch_tells_the_times_and_no_spread(recording_of):
    planned = plan(recording_of(*measured(STEADY[:1], of="eager"), *measured(SERIES[:1]), *phases(1)))

    assert planned.presets[1].seconds == (6 + 3 * 68, 6 + 5 * 68)
    assert planned.between_launches is planned.within_launch is planned.rounds is None
    assert [preset.resolution for preset in planned.presets] == [None, None, None]


def test_one_mode_alone_tells_the_times_and_no_spread(recording_of):
    planned = plan(recording_of(*measured(SERIES), *phases()))

    assert planned.launch_cost_s == pytest.approx(48)
    assert planned.between_launches is planned.within_launch is planned.rounds is None


def test_a_launch_that_was_cut_short_costs_nothing(pilot, recording_of):
    """Its one round and its half start would make launches look cheap."""
    cut = [
        *measured([[], [], [0.0]], of="eager"),
        Phase(name="start", launch=2, duration_ns=10**9),
        Phase(name="blocks", launch=2, duration_ns=10**8),
    ]
    planned = plan(recording_of(*pilot.lines, *cut))

    assert planned.launch_cost_s == pytest.approx(48)
    assert planned.round_cost_s == pytest.approx(2)
    assert launch_seconds(recording_of(*pilot.lines, *cut)) == pytest.approx(56)


def test_a_launch_takes_all_its_phases_but_the_pilot(pilot):
    assert launch_seconds(pilot) == pytest.approx(56)


def test_launch_seconds_are_the_mean_over_launches(recording_of):
    slower = [Phase(name="start", launch=1, duration_ns=4 * 10**9)]

    assert launch_seconds(recording_of(*phases(), *slower)) == pytest.approx(58)


@pytest.mark.parametrize("lines", [[], [Phase(name="blocks", duration_ns=60 * 10**9)], phases(0)])
def test_a_recording_that_does_not_time_its_launches_gives_no_plan(recording_of, lines):
    recording = recording_of(*measured(STEADY, of="eager"), *measured(SERIES), *lines)

    assert plan(recording) is None
    assert launch_seconds(recording) is None


def test_launches_without_a_round_give_no_plan(recording_of):
    assert plan(recording_of(*phases())) is None


def test_an_interval_too_wide_for_numbers_is_no_resolution():
    assert _resolution(Components(within=0.0, between=1e6), 3, PRESETS["standard"], 2) is None


def test_the_spread_foreseen_is_right_over_many_short_pilots():
    """Four modes whose launches differ by 1 %, so pairs by sqrt(2) %; the median pair would be a quarter short."""
    times_ms = {"eager": 40.0, "graph": 20.0, "graph_nojit": 20.0, "xla": 10.0}
    plans = [
        plan(timed(make_recording(times_ms, launches=2, rounds=5, launch_noise=0.01, seed=seed), phases()))
        for seed in range(120)
    ]

    between = statistics.fmean(planned.between_launches**2 for planned in plans)
    within = statistics.fmean(planned.within_launch**2 for planned in plans)

    assert between == pytest.approx(2 * 0.01**2, rel=0.15)
    assert within == pytest.approx(2 * 0.01**2, rel=0.1)


launches_of_logs = st.lists(
    st.lists(st.floats(-0.2, 0.2), min_size=2, max_size=5).filter(lambda logs: max(logs) - min(logs) > 1e-3),
    min_size=2,
    max_size=4,
)


@given(launches_of_logs, st.integers(1, 1000))
def test_a_slower_machine_takes_longer_and_tells_the_same(recording_of, series, factor):
    def planned(parts_factor):
        lines = phases(len(series), parts_s={name: s * parts_factor for name, s in PARTS_S.items()}, pilot_s=0)
        return plan(
            recording_of(*measured([[0.0] * len(logs) for logs in series], of="eager"), *measured(series), *lines)
        )

    quick, slow = planned(1), planned(factor)

    assert [preset.resolution for preset in slow.presets] == [preset.resolution for preset in quick.presets]
    for was, now in zip(quick.presets, slow.presets, strict=True):
        assert now.seconds == pytest.approx((was.seconds[0] * factor, was.seconds[1] * factor))


@given(launches_of_logs)
def test_a_preset_that_takes_longer_tells_more(recording_of, series):
    eager = measured([[0.0] * len(logs) for logs in series], of="eager")
    _, standard, rigorous = plan(recording_of(*eager, *measured(series), *phases(len(series)))).presets

    for preset in (standard, rigorous):
        assert preset.resolution[0] > preset.resolution[1] > 0
        assert preset.seconds[0] < preset.seconds[1]
    assert rigorous.resolution[1] < standard.resolution[1]


@given(launches_of_logs)
def test_recommended_rounds_stay_within_bounds(recording_of, series):
    eager = measured([[0.0] * len(logs) for logs in series], of="eager")

    assert 5 <= plan(recording_of(*eager, *measured(series), *phases(len(series)))).rounds <= 50
