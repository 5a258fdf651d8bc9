import math

import numpy as np

from mlflow_tfexec.records.recording import Block, Health
from mlflow_tfexec.statistics.rounds import counted_blocks, invalid_blocks, launch_rounds, read_rounds


def block(mode, round_, *calls_ns, launch=0, **more):
    return Block(launch=launch, round=round_, position=0, mode=mode, metric="latency", calls_ns=calls_ns, **more)


def ten_rounds():
    return [block(mode, round_, 100 + round_) for round_ in range(10) for mode in ("eager", "xla")]


def bad(*rounds, launch=0):
    return [Health(launch=launch, round=round_, bad="clock fell") for round_ in rounds]


def test_each_block_gives_the_median_of_its_calls(recording_of):
    rounds = read_rounds(recording_of(block("eager", 0, 5, 1, 900), block("eager", 1, 4, 8)))

    assert rounds.medians_ns["eager"][0].tolist() == [5, 6]


def test_every_call_of_a_valid_block_is_kept(recording_of):
    rounds = read_rounds(recording_of(block("eager", 0, 5, 1, 900), block("eager", 0, 7, launch=1)))

    assert rounds.all_calls_ns("eager").tolist() == [5, 1, 900, 7]


def test_warm_up_never_counts(recording_of):
    rounds = read_rounds(recording_of(block("eager", 0, 900, warmup=True), block("eager", 0, 5)))

    assert rounds.all_calls_ns("eager").tolist() == [5]
    assert rounds.medians_ns["eager"][0].tolist() == [5]


def test_a_mode_with_warm_up_alone_is_absent(recording_of):
    rounds = read_rounds(recording_of(block("eager", 0, 900, warmup=True), block("xla", 0, 5)))

    assert set(rounds.medians_ns) == {"xla"}


def test_a_bad_round_is_dropped_for_all_modes_together(recording_of):
    rounds = read_rounds(recording_of(*ten_rounds(), *bad(3)))

    expected = [100, 101, 102, 104, 105, 106, 107, 108, 109]
    assert rounds.medians_ns["eager"][0].tolist() == expected
    assert rounds.medians_ns["xla"][0].tolist() == expected
    assert rounds.all_calls_ns("xla").tolist() == expected


def test_a_fifth_of_the_rounds_may_be_dropped(recording_of):
    (launch,) = launch_rounds(recording_of(*ten_rounds(), *bad(0, 9)))

    assert not launch.unstable
    assert launch.kept == (1, 2, 3, 4, 5, 6, 7, 8)


def test_above_a_fifth_no_round_is_dropped(recording_of):
    (launch,) = launch_rounds(recording_of(*ten_rounds(), *bad(0, 5, 9)))

    assert launch.unstable
    assert launch.kept == tuple(range(10))


def test_a_bad_launch_leaves_the_others_alone(recording_of):
    second = [block("eager", round_, 7, launch=1) for round_ in range(5)]
    launches = launch_rounds(recording_of(*ten_rounds(), *second, *bad(0, 1, 2), *bad(4, launch=1)))

    assert [launch.unstable for launch in launches] == [True, False]
    assert launches[1].kept == (0, 1, 2, 3)


def test_a_bad_round_that_was_never_measured_counts_for_nothing(recording_of):
    (launch,) = launch_rounds(recording_of(*ten_rounds(), *bad(10, 11, 12)))

    assert launch.bad == {}


def test_an_invalid_block_drops_that_mode_in_that_round_only(recording_of):
    rounds = read_rounds(
        recording_of(
            block("eager", 0, 10), block("xla", 0, 1), block("eager", 1, 20), block("xla", 1, 999, valid=False)
        )
    )

    assert rounds.medians_ns["eager"][0].tolist() == [10, 20]
    assert rounds.medians_ns["xla"][0][0] == 1
    assert math.isnan(rounds.medians_ns["xla"][0][1])
    assert [series.tolist() for series in rounds.series_ns("xla")] == [[1]]


def test_a_block_without_calls_is_missing(recording_of):
    rounds = read_rounds(recording_of(block("eager", 0), block("xla", 0, 1)))

    assert set(rounds.medians_ns) == {"xla"}


def test_a_block_with_a_call_of_no_time_is_missing(recording_of):
    """A clock that stood still says nothing, and has no logarithm."""
    rounds = read_rounds(recording_of(block("eager", 0, 0, 5), block("eager", 1, 6)))

    assert [series.tolist() for series in rounds.series_ns("eager")] == [[6]]


def test_the_later_of_two_blocks_in_one_round_stands(recording_of):
    rounds = read_rounds(recording_of(block("eager", 0, 5), block("eager", 0, 6)))

    assert rounds.medians_ns["eager"][0].tolist() == [6]
    assert rounds.all_calls_ns("eager").tolist() == [6]


def test_rounds_are_put_in_measured_order(recording_of):
    rounds = read_rounds(recording_of(block("eager", 2, 30), block("eager", 0, 10), block("eager", 1, 20)))

    assert rounds.medians_ns["eager"][0].tolist() == [10, 20, 30]


def test_a_mode_never_measured_has_no_series(recording_of):
    assert read_rounds(recording_of()).series_ns("xla") == []


def test_launches_without_a_counted_latency_are_not_counted(recording_of):
    rounds = read_rounds(
        recording_of(block("eager", 0, 5), block("eager", 0, 5, launch=1, warmup=True), block("xla", 0, 5, launch=4))
    )

    assert rounds.launches == 2


def test_counted_blocks_are_those_of_the_metric_asked_for(recording_of):
    throughput = Block(launch=0, round=0, position=0, mode="xla", metric="throughput", calls=20, total_ns=7)

    assert list(counted_blocks(recording_of(block("xla", 0, 1), throughput), "throughput")) == [throughput]


def test_invalid_blocks_are_counted_after_warm_up(recording_of):
    recording = recording_of(
        block("xla", 0, 1, valid=False, warmup=True),
        block("xla", 0, 1, valid=False),
        block("xla", 1, 1),
        block("eager", 1, 1),
    )

    assert invalid_blocks(recording) == {"xla": (1, 2)}


def test_medians_agree_with_numpy(recording_of):
    generator = np.random.default_rng(0)
    calls = [tuple(int(ns) for ns in generator.integers(1, 10**9, size=size)) for size in (1, 2, 7, 100)]
    rounds = read_rounds(recording_of(*(block("eager", round_, *of_block) for round_, of_block in enumerate(calls))))

    assert rounds.medians_ns["eager"][0].tolist() == [float(np.median(of_block)) for of_block in calls]
