"""Recordings of every format version, kept for good: later versions read them, lose nothing, and claim the same."""

import json
from pathlib import Path

import pytest
from recordings import to_text

import mlflow_tfexec

VERSIONS = sorted((Path(__file__).parents[2] / "golden" / "recordings").iterdir())


@pytest.fixture(params=VERSIONS, ids=lambda path: path.name)
def golden(request):
    return request.param


def test_an_old_recording_is_read_whole(golden):
    recording = mlflow_tfexec.load_recording(golden)

    rows = (golden / "recording.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(recording.lines) == len(rows) - 1
    assert recording.reading_findings == ()
    assert recording.end.status == "complete"


def test_an_old_recording_loses_nothing_when_it_is_copied(golden):
    recording = mlflow_tfexec.load_recording(golden)

    before = (golden / "recording.jsonl").read_text(encoding="utf-8").splitlines()
    after = to_text(recording).splitlines()
    for old, new in zip(before, after, strict=True):
        assert holds(json.loads(new), json.loads(old))


def holds(new, old):
    """Say whether *new* has all that *old* has, keys of later versions aside."""
    if isinstance(old, dict):
        return all(key in new and holds(new[key], value) for key, value in old.items())
    return new == old


def test_an_old_recording_is_judged_as_it_always_was(golden):
    judgement = mlflow_tfexec.judge(mlflow_tfexec.load_recording(golden))

    expected = json.loads((golden / "judgement.json").read_text(encoding="utf-8"))
    # Findings may be added, and their words improved.
    kept = {(finding["code"], finding["mode"]) for finding in expected.pop("findings")}
    assert kept <= {(finding.code, finding.mode) for finding in judgement.findings}
    assert agrees(json.loads(json.dumps(judgement.to_dict())), expected)


# Interval ends follow the method, which may become better; estimates and verdicts stay.
OF_THE_METHOD = {"ci95", "ci95_low", "ci95_high"}


def agrees(new, old):
    """Say whether *new* claims what *old* claims; more may be said, and last digits differ between math libraries."""
    if isinstance(old, dict):
        return all(key in new and (key in OF_THE_METHOD or agrees(new[key], value)) for key, value in old.items())
    if isinstance(old, list):
        return len(new) == len(old) and all(map(agrees, new, old))
    return new == pytest.approx(old, rel=1e-9) if isinstance(old, float) else new == old


def test_a_recording_from_before_there_were_looks_has_none_and_no_budget():
    recording = mlflow_tfexec.load_recording(VERSIONS[0])

    assert (recording.looks, recording.spec.looks, recording.spec.time_budget_s) == ((), (), None)


def test_the_golden_recording_of_version_1_holds_every_kind_of_line_of_its_time_and_of_end():
    recording = mlflow_tfexec.load_recording(VERSIONS[0])

    assert {line.kind for line in recording.lines} == {"mode", "block", "health", "phase", "finding", "end"}
    assert {mode: recording.final_line(mode).status for mode in recording.spec.modes} == {
        "eager": "ok",
        "graph": "ok",
        "graph_nojit": "outputs_differ",
        "xla": "compile_failed",
        "graph_control": "ok",
    }
    assert any(not block.valid for block in recording.blocks)
