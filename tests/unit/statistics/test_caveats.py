import dataclasses

import pytest
from recordings import make_recording

from mlflow_tfexec.records.findings import Finding
from mlflow_tfexec.records.recording import MEASURED_STATUSES, MODE_STATUSES, Block, FindingLine, Health
from mlflow_tfexec.statistics.failure_advice import SMALLER_BATCH
from mlflow_tfexec.statistics.judge import judge


def finding(judgement, code, mode=None):
    (found,) = (f for f in judgement.findings if f.code == code and f.mode == mode)
    return found


def with_lines(recording, *more):
    return dataclasses.replace(recording, lines=(*more, *recording.lines))


def test_findings_made_while_measuring_come_first():
    seen = FindingLine(finding=Finding(code="cpu_only", what="No GPU."))

    judgement = judge(with_lines(make_recording(launches=1), seen))

    assert [f.code for f in judgement.findings] == ["cpu_only", "one_launch"]


def test_a_calm_complete_benchmark_has_no_findings():
    assert judge(make_recording(launches=5, launch_noise=0, round_noise=0)).findings == ()


def test_differing_outputs_are_given_with_their_figures():
    """The worst of all launches, and what would have been allowed."""
    what = finding(judge(make_recording(statuses={"xla": "outputs_differ"})), "outputs_differ", "xla").what

    assert what == (
        "Its outputs differ from eager's by up to 0.01 absolute, 0.02 of the largest value."
        " Allowed: 0.001 of a value plus 0.0001 of the largest."
    )


def test_differing_outputs_without_figures_are_still_told():
    recording = make_recording(statuses={"xla": "outputs_differ"})
    lines = tuple(line.model_copy(update={"output": None}) if line.kind == "mode" else line for line in recording.lines)

    what = finding(judge(dataclasses.replace(recording, lines=lines)), "outputs_differ", "xla").what

    assert what == "Its outputs differ from eager's."


@pytest.mark.parametrize("status", sorted(set(MODE_STATUSES) - MEASURED_STATUSES - {"skipped"}))
def test_every_failure_is_told_with_its_reason_and_a_way_on(status):
    found = finding(judge(make_recording(statuses={"xla": status})), "mode_failed", "xla")

    assert found.what == f"Ended as {status} in launch 1: xla ended as {status}."
    assert found.why
    assert found.what_to_try.endswith("Or leave the mode out.")


def test_a_lack_of_memory_says_how_much_was_held_and_which_batch_to_try():
    recording = make_recording(statuses={"xla": "oom"}, batch_size=12)
    lines = tuple(
        line.model_copy(update={"peak_memory_bytes": 3 * 2**30}) if line.kind == "mode" and line.mode == "xla" else line
        for line in recording.lines
    )

    found = finding(judge(dataclasses.replace(recording, lines=lines)), "mode_failed", "xla")

    assert found.what.endswith("xla ended as oom. Its process had held 3.00 GiB at most.")
    assert "Try --batch-size 6, which was not tried here." in found.what_to_try


def test_nothing_is_proposed_where_smaller_batches_were_tried():
    recording = make_recording(statuses={"xla": "oom", "graph": "oom"}, batch_size=12)
    tried = FindingLine(finding=Finding(code=SMALLER_BATCH, what="Batch 6 fits, tried.", mode="xla"))

    judgement = judge(dataclasses.replace(recording, lines=(*recording.lines, tried)))

    assert "--batch-size" not in finding(judgement, "mode_failed", "xla").what_to_try
    assert "--batch-size 6" in finding(judgement, "mode_failed", "graph").what_to_try


def test_a_status_of_a_later_version_is_told_like_any_failure():
    found = finding(judge(make_recording(statuses={"xla": "melted"})), "mode_failed", "xla")

    assert found.what.startswith("Ended as melted")


def test_a_failed_mode_with_times_says_that_they_are_not_ranked():
    recording = make_recording()
    crash = recording.mode_lines["xla"][2].model_copy(update={"status": "crashed", "reason": "Signal 9."})

    found = finding(judge(dataclasses.replace(recording, lines=(*recording.lines, crash))), "mode_failed", "xla")

    assert found.what == "Ended as crashed in launch 3: Signal 9. Times from before are shown, not ranked."


def test_a_mode_never_reached_is_told():
    judgement = judge(make_recording({"eager": 20.0, "graph": 10.0}, modes=("eager", "graph", "xla")))

    assert finding(judgement, "mode_skipped", "xla").what == "Was not measured: not reached."


def test_a_mode_without_a_block_that_counts_is_told():
    recording = make_recording({"eager": 20.0, "graph": 10.0, "xla": 1.0})
    lines = tuple(
        line.model_copy(update={"valid": False}) if isinstance(line, Block) and line.mode == "xla" else line
        for line in recording.lines
    )

    judgement = judge(dataclasses.replace(recording, lines=lines))

    assert finding(judgement, "nothing_timed", "xla").what
    assert finding(judgement, "retraced", "xla").what.startswith("Traced or compiled again inside 30 of 30 blocks")
    assert "xla" not in judgement.ordering


def test_retraced_blocks_are_counted():
    retraced = Block(
        launch=0, round=0, position=0, mode="xla", metric="latency", calls_ns=(9**9,), valid=False, warmup=False
    )
    recording = make_recording()

    found = finding(judge(dataclasses.replace(recording, lines=(*recording.lines, retraced))), "retraced", "xla")

    assert found.what == "Traced or compiled again inside 1 of 30 blocks; these were left out."


def test_dropped_rounds_are_counted_with_their_reasons():
    flags = [
        Health(launch=0, round=1, bad="clock fell"),
        Health(launch=0, round=2, bad="clock fell"),
        Health(launch=2, round=9, bad="another program used the GPU"),
    ]

    found = finding(judge(with_lines(make_recording(), *flags)), "rounds_dropped")

    assert found.what == "Rounds left out, for all modes together: 2 of 10 in launch 1, 1 of 10 in launch 3."
    assert found.why == "The machine was disturbed in them: another program used the GPU; clock fell."


def test_an_unstable_launch_is_told_apart_from_one_with_a_few_bad_rounds():
    flags = [Health(launch=0, round=round_, bad="hot") for round_ in range(5)]

    judgement = judge(with_lines(make_recording(), *flags, Health(launch=1, round=0, bad="clock fell")))

    assert "5 of 10 in launch 1" in finding(judgement, "unstable_machine").what
    assert finding(judgement, "rounds_dropped").what.endswith(": 1 of 10 in launch 2.")
