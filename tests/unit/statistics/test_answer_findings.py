"""Findings on answers: which output differs most, whom float64 sides with, what training leaves open."""

import dataclasses

import pytest
from recordings import make_recording

from mlflow_tfexec.records.answers import OutputDifference, OutputFigures
from mlflow_tfexec.records.recording import ModeLine
from mlflow_tfexec.statistics.judge import judge


def judged(output, *, mode="xla", status="outputs_differ", details=None, **spec):
    """Judge a recording in which *mode* has this *output*."""
    recording = make_recording(statuses={mode: status}, **spec)
    lines = tuple(
        line.model_copy(update={"output": output, "details": details})
        if isinstance(line, ModeLine) and line.mode == mode
        else line
        for line in recording.lines
    )
    return judge(dataclasses.replace(recording, lines=lines))


def finding(judgement, code):
    (found,) = [one for one in judgement.findings if one.code == code]
    return found


def differing(*outputs, **facts):
    return OutputDifference(
        max_abs_error=0.01, max_rel_error=0.02, within_tolerance=False, rtol=1e-3, atol=1e-4, outputs=outputs, **facts
    )


SIZE = OutputFigures(place=1, name="size", within_tolerance=False, max_abs_error=0.01, max_rel_error=0.02)
SCORES = OutputFigures(place=0, name="scores", within_tolerance=True, max_abs_error=0.0, max_rel_error=0.0)


def test_the_output_that_differs_most_is_named():
    what = finding(judged(differing(SIZE, SCORES)), "outputs_differ").what

    assert what == (
        "Its outputs differ from eager's by up to 0.01 absolute, 0.02 of the largest value, most in 'size' "
        "(1 of 2 differ). Allowed: 0.001 of a value plus 0.0001 of the largest."
    )


def test_a_single_output_needs_no_name():
    alone = SIZE.model_copy(update={"name": None, "place": 0})
    assert "most in" not in finding(judged(differing(alone)), "outputs_differ").what


@pytest.mark.parametrize(
    ("own", "baseline", "said"),
    [
        (
            0.02,
            1e-6,
            "The model in float64 sides with eager: xla is farther from it (0.02 of the largest value, against",
        ),
        (
            1e-6,
            0.02,
            "The model in float64 sides with xla: eager is farther from it (1e-06 of the largest value, against",
        ),
        (0.02, 0.015, "Both are about as far from the model in float64 (0.02 of the largest value, against 0.015)"),
    ],
)
def test_a_difference_is_blamed_on_the_one_that_is_farther_from_float64(own, baseline, said):
    judgement = judged(differing(SIZE, SCORES, float64_error=own, baseline_float64_error=baseline))

    assert said in finding(judgement, "outputs_differ").why
    assert f"xla {own:.2g}" in finding(judgement, "float64_reference").what


def test_without_a_reference_nobody_is_blamed():
    judgement = judged(differing(SIZE, SCORES))

    assert "float64" not in finding(judgement, "outputs_differ").why
    assert [one for one in judgement.findings if one.code == "float64_reference"] == []


def test_answers_that_differ_as_by_another_seed_are_ranked_and_told():
    output = OutputDifference(max_abs_error=0.5, max_rel_error=0.7, by_seed=True, outputs=(SIZE, SCORES))
    judgement = judged(output, status="ok", task="train")

    assert finding(judgement, "random_training").mode == "xla"
    assert "xla" in judgement.ordering


@pytest.mark.parametrize(("rounding", "told"), [(0.2, True), (0.001, False)])
def test_training_that_roundings_decide_is_told(rounding, told):
    loss = OutputFigures(place=1, name="loss", within_tolerance=True, rounding=rounding)
    judgement = judged(OutputDifference(outputs=(loss,)), mode="eager", status="ok", task="train")

    assert ("sensitive_training" in {one.code for one in judgement.findings}) is told


@pytest.mark.parametrize(("resolved", "said"), [(True, "predict ran through XLA"), (False, "predict ran without XLA")])
def test_what_auto_became_is_told(resolved, said):
    judgement = judged(OutputDifference(), mode="xla", status="ok", details={"jit_compile": resolved})

    assert said in finding(judgement, "predict_jit").what


def test_outputs_are_in_the_summary_of_a_mode_and_in_its_json():
    judgement = judged(differing(SIZE, SCORES))

    assert judgement.mode("xla").outputs == (SIZE, SCORES)
    (mode,) = [mode for mode in judgement.to_dict()["modes"] if mode["mode"] == "xla"]
    assert mode["outputs"][0]["name"] == "size"
    (eager,) = [mode for mode in judgement.to_dict()["modes"] if mode["mode"] == "eager"]
    assert "outputs" not in eager


def test_answers_that_are_no_numbers_are_said_of_the_baseline():
    figures = SCORES.model_copy(update={"baseline_nan_count": 3, "baseline_inf_count": 1})
    output = OutputDifference(within_tolerance=True, outputs=(figures,))
    what = finding(judged(output, mode="eager", status="ok"), "outputs_not_finite").what
    assert what == "eager's answers hold 3 NaN and 1 infinite numbers."
    finite = OutputDifference(within_tolerance=True, outputs=(SCORES,))
    codes = {one.code for one in judged(finite, mode="eager", status="ok").findings}
    assert "outputs_not_finite" not in codes


UNDETERMINED = OutputFigures(place=1, name="size", within_tolerance=True, max_rel_error=1.0, rounding=0.7)


def test_outputs_that_roundings_decide_are_not_compared_and_a_finding_says_so():
    told = finding(judged(OutputDifference(outputs=(UNDETERMINED, SCORES)), status="ok"), "outputs_undetermined")

    assert "by 70.0% of the largest value (in 'size')" in told.what
    assert "--weights imagenet" in told.what_to_try
    assert told.mode is None


def test_the_only_output_needs_no_name():
    only = OutputDifference(outputs=(UNDETERMINED.model_copy(update={"place": 0, "name": None}),))

    assert "largest value." in finding(judged(only, status="ok"), "outputs_undetermined").what


def test_of_training_the_same_figure_says_nothing_of_outputs():
    seen = judged(OutputDifference(outputs=(UNDETERMINED,)), status="ok", task="train")

    assert "outputs_undetermined" not in {one.code for one in seen.findings}
