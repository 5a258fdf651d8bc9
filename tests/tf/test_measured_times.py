"""The figures of a model whose call takes a known time at least."""

import math

import pytest
from real_command import QUICK, model

pytestmark = pytest.mark.tf

LEAST_NS = 20_000_000


@pytest.fixture(scope="module")
def recording(make_lab):
    place = make_lab()
    options = (*QUICK, "--modes", "eager,graph", "--input-shape", "4", "--block-ms", "100", "--offline")
    outcome = place.run("run", model("sleeps_20_ms"), *options)
    assert outcome.exit_code == 0, outcome.stderr
    return place.recording()


@pytest.mark.parametrize("metric", ["latency", "dispatch"])
def test_no_call_is_measured_shorter_than_it_is(recording, metric):
    calls = [ns for block in recording.blocks if block.metric == metric for ns in block.calls_ns]
    assert calls
    assert min(calls) >= LEAST_NS


def test_calls_behind_one_another_take_their_sum_at_least(recording):
    blocks = [block for block in recording.blocks if block.metric == "throughput"]
    assert blocks
    assert all(block.total_ns >= block.calls * LEAST_NS for block in blocks)


def test_a_block_holds_the_calls_that_fit_into_its_time(recording):
    for mode in ("eager", "graph"):
        latency = [b for b in recording.blocks if b.mode == mode and b.metric == "latency"]
        (calls,) = {len(block.calls_ns) for block in latency}
        assert 1 <= calls <= math.ceil(100e6 / LEAST_NS)
        assert {b.calls for b in recording.blocks if b.mode == mode and b.metric == "throughput"} == {calls}


def test_the_first_call_and_the_second_are_kept_apart(recording):
    for mode in ("eager", "graph"):
        line = recording.final_line(mode)
        assert line.first_call_ns >= LEAST_NS
        assert line.second_call_ns >= LEAST_NS
    assert recording.final_line("eager").trace_ns is None
    assert 0 < recording.final_line("graph").trace_ns < recording.final_line("graph").first_call_ns


def test_tracing_happens_once_and_no_block_is_spoilt_by_it(recording):
    assert recording.final_line("eager").traces == 0
    assert recording.final_line("graph").traces == 1
    assert all(block.valid for block in recording.blocks)
