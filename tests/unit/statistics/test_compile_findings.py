"""Traces and compilations too many, and those that are missing."""

import dataclasses

import pytest
from recordings import make_recording

from mlflow_tfexec.records.recording import Block
from mlflow_tfexec.statistics.compile_findings import compile_findings
from mlflow_tfexec.statistics.judge import judge

TIMES_MS = {"eager": 9.0, "graph": 3.0, "xla": 2.0}


def recording_with(*, again=(), compiles=None):
    """Make a recording; *again* marks blocks of XLA by (mode, what, warm-up), *compiles* gives counts by mode."""
    recording = make_recording(TIMES_MS, launches=3, rounds=4)
    lines = []
    for line in recording.lines:
        changed = line
        if line.kind == "mode" and compiles and line.mode in compiles:
            changed = line.model_copy(update={"xla_compiles": compiles[line.mode]})
        for mode, what in again:
            if isinstance(line, Block) and line.mode == mode and not line.warmup:
                changed = line.model_copy(update={"valid": False, "again": what})
        lines.append(changed)
    return dataclasses.replace(recording, lines=tuple(lines))


def found(recording):
    return {(finding.mode, finding.code): finding for finding in compile_findings(recording)}


def test_compiling_for_a_value_is_told_apart_from_tracing_again():
    assert set(found(recording_with(again=[("xla", "compile")]))) == {("xla", "recompiled")}
    assert set(found(recording_with(again=[("xla", "trace")]))) == {("xla", "retraced")}
    assert set(found(recording_with(again=[("xla", None)]))) == {("xla", "retraced")}


def test_a_mode_that_compiles_for_every_value_has_no_time_and_is_never_the_fastest():
    judgement = judge(recording_with(again=[("xla", "compile")]))
    assert judgement.mode("xla").latency_ms is None
    assert judgement.ordering == "eager > graph"
    assert judgement.fastest == "graph"
    (finding,) = [finding for finding in judgement.findings if finding.code == "recompiled"]
    assert finding.what == (
        "XLA compiled again in 12 blocks, without a new trace; 12 of 12 timed blocks were left out for it."
    )


def test_compiling_for_values_in_warm_up_alone_is_told_as_well():
    recording = recording_with()
    block = next(line for line in recording.lines if isinstance(line, Block) and line.mode == "xla")
    warming = block.model_copy(update={"warmup": True, "valid": False, "again": "compile"})
    told = found(dataclasses.replace(recording, lines=(*recording.lines, warming)))[("xla", "recompiled")].what
    assert told == "XLA compiled again in 1 block, without a new trace, all while warming up."


@pytest.mark.parametrize(
    ("compiles", "codes"),
    [
        ({"xla": 1, "graph": 0, "eager": 0}, set()),
        ({}, set()),
        ({"xla": 0}, {("xla", "xla_not_used")}),
        ({"xla": 1, "graph": 2}, {("graph", "xla_inside")}),
        ({"eager": 1}, {("eager", "xla_inside")}),
    ],
)
def test_xla_is_told_where_it_is_missing_and_where_nobody_asked_for_it(compiles, codes):
    assert set(found(recording_with(compiles=compiles))) == codes
