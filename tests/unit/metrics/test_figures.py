"""Each metric against numbers small enough to check by hand."""

import dataclasses

import pytest
from recordings import make_recording

from mlflow_tfexec.metrics import measure
from mlflow_tfexec.records.answers import OutputDifference
from mlflow_tfexec.records.recording import Block, Header, Health, ModeLine, Recording
from mlflow_tfexec.records.spec import Spec
from mlflow_tfexec.statistics.judge import judge


def recording_of(*lines, batch_size=1):
    spec = Spec(model="M", modes=("eager", "xla"), batch_size=batch_size)
    header = Header(format="tfexec-recording", version=1, benchmark_id="b", created="2026-01-31T12:00:00Z", spec=spec)
    return Recording(header=header, lines=lines)


def mode_line(launch=0, mode="xla", **facts):
    return ModeLine(launch=launch, mode=mode, status="ok", **facts)


def latency(mode, ms, launch=0, round_=0):
    calls_ns = (int(ms * 1_000_000),)
    return Block(launch=launch, round=round_, position=0, mode=mode, metric="latency", calls_ns=calls_ns)


def throughput(calls, total_ms, launch=0, round_=0, **more):
    total_ns = total_ms * 1_000_000
    place = {"launch": launch, "round": round_, "position": 0, "mode": "xla"}
    return Block(metric="throughput", calls=calls, total_ns=total_ns, **place, **more)


def dispatch(*calls_ns, round_=0, **more):
    return Block(launch=0, round=round_, position=0, mode="xla", metric="dispatch", calls_ns=calls_ns, **more)


def figures(recording, mode="xla"):
    return measure(recording, judge(recording), mode)


def test_throughput_is_items_over_time():
    """Two blocks of 10 calls of 4 items: 80 items in 0.4 s."""
    recording = recording_of(throughput(10, 100), throughput(10, 300, round_=1), batch_size=4)

    assert figures(recording)["throughput/items_per_s"] == pytest.approx(200)


def test_throughput_is_the_median_over_launches():
    blocks = [throughput(10, total_ms, launch=launch) for launch, total_ms in enumerate((100, 10, 50))]

    assert figures(recording_of(*blocks))["throughput/items_per_s"] == pytest.approx(200)


def test_throughput_leaves_out_warm_up_and_invalid_blocks():
    recording = recording_of(
        throughput(10, 100), throughput(10, 9000, warmup=True), throughput(10, 9000, round_=1, valid=False)
    )

    assert figures(recording)["throughput/items_per_s"] == pytest.approx(100)


def test_a_round_dropped_for_latency_is_dropped_for_throughput_and_dispatch():
    blocks = [line for round_ in range(5) for line in (throughput(10, 100, round_=round_), dispatch(5, round_=round_))]
    odd = [throughput(10, 90_000, round_=5), dispatch(5_000_000, 5_000_000, round_=5)]

    known = figures(recording_of(*blocks, *odd, Health(launch=0, round=5, bad="clock fell")))

    assert known["throughput/items_per_s"] == pytest.approx(100)
    assert known["dispatch_ms/median"] == 5e-6


def test_dispatch_is_the_median_of_all_calls():
    recording = recording_of(
        dispatch(1_000_000, 2_000_000), dispatch(9_000_000, round_=1), dispatch(1, 1, 1, 1, round_=2, warmup=True)
    )

    assert figures(recording)["dispatch_ms/median"] == 2


def test_first_call_is_the_median_over_launches():
    facts = [(100, 900), (300, 700), (200, 100)]
    lines = [
        mode_line(launch, trace_ns=trace * 1_000_000, first_call_ns=total * 1_000_000)
        for launch, (trace, total) in enumerate(facts)
    ]

    known = figures(recording_of(*lines))

    assert (known["first_call_ms/trace"], known["first_call_ms/total"]) == (200, 700)


def test_a_trace_that_took_no_time_is_not_a_missing_trace():
    assert figures(recording_of(mode_line(trace_ns=0)))["first_call_ms/trace"] == 0


def test_memory_is_the_highest_peak_of_all_launches_in_mib():
    lines = [mode_line(launch, peak_memory_bytes=mib * 1024 * 1024) for launch, mib in enumerate((100, 300, 200))]

    assert figures(recording_of(*lines))["memory/peak_mb"] == 300


def test_numerics_is_the_worst_of_all_launches():
    lines = [
        mode_line(launch, output=OutputDifference(max_abs_error=error)) for launch, error in enumerate((0.1, 0.3, 0.2))
    ]

    assert figures(recording_of(*lines, mode_line(3)))["numerics/max_abs_error"] == 0.3


def test_outputs_that_agree_to_the_last_bit_are_a_zero_not_an_absence():
    recording = recording_of(mode_line(output=OutputDifference(max_abs_error=0.0)))

    assert figures(recording)["numerics/max_abs_error"] == 0


def two_launches(eager_ms, xla_ms, eager_first_ms, xla_first_ms):
    lines = []
    for launch in range(2):
        lines += [latency("eager", eager_ms, launch), latency("xla", xla_ms, launch)]
        lines += [
            mode_line(launch, "eager", first_call_ns=eager_first_ms * 1_000_000),
            mode_line(launch, "xla", first_call_ns=xla_first_ms * 1_000_000),
        ]
    return recording_of(*lines)


def test_break_even_is_the_dearer_first_call_over_the_gain_per_call():
    """950 ms more to start, 8 ms less a call: 118.75 calls, so the 119th pays."""
    assert figures(two_launches(10, 2, 50, 1000))["break_even/calls"] == 119


def test_break_even_is_zero_for_a_mode_that_also_starts_sooner():
    assert figures(two_launches(10, 2, 1000, 50))["break_even/calls"] == 0


def test_a_slower_mode_never_breaks_even():
    assert "break_even/calls" not in figures(two_launches(2, 10, 50, 1000))


def test_an_equally_fast_mode_never_breaks_even():
    assert "break_even/calls" not in figures(two_launches(10, 10, 50, 1000))


def test_a_mode_not_shown_to_be_faster_has_no_break_even():
    """Quicker by 1 %, give or take far more: a count of calls would be an accident."""
    recording = make_recording({"eager": 10.1, "xla": 10.0}, launch_noise=0.1)

    assert "break_even/calls" not in figures(recording)


def test_without_a_first_call_there_is_no_break_even():
    recording = two_launches(10, 2, 50, 1000)
    blocks_only = dataclasses.replace(
        recording,
        lines=tuple(
            line.model_copy(update={"first_call_ns": None}) if isinstance(line, ModeLine) else line
            for line in recording.lines
        ),
    )

    assert "break_even/calls" not in figures(blocks_only)
    assert "speedup/vs_eager" in figures(blocks_only)
