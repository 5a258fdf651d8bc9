"""What a recording answers about itself."""

import pytest
from pydantic import ValidationError
from recordings import make_recording

from mlflow_tfexec.records.answers import OutputDifference
from mlflow_tfexec.records.findings import Finding
from mlflow_tfexec.records.recording import End, FindingLine, Health, Look, ModeLine, Recording
from mlflow_tfexec.records.spec import PRESETS, Spec, controlled_mode, is_control

HEADER = make_recording(launches=1, rounds=1).header


def recording(*lines, reading_findings=()):
    return Recording(header=HEADER, lines=lines, reading_findings=reading_findings)


def mode(launch=0, status="ok", **facts):
    return ModeLine(launch=launch, mode="xla", status=status, **facts)


def test_a_later_line_is_laid_over_the_earlier_one_of_its_mode_and_launch():
    first = mode(trace_ns=5, first_call_ns=9, output=OutputDifference(max_abs_error=0.5))
    last = mode(peak_memory_bytes=7, trace_ns=6)

    line = recording(first, mode(launch=1, trace_ns=1), last).mode_lines["xla"][0]

    assert (line.trace_ns, line.first_call_ns, line.peak_memory_bytes) == (6, 9, 7)
    assert line.output == OutputDifference(max_abs_error=0.5)


def test_unknown_keys_are_laid_over_too():
    line = recording(mode(joules=1, watts=3), mode(joules=2)).mode_lines["xla"][0]

    assert line.model_extra == {"joules": 2, "watts": 3}


@pytest.mark.parametrize(
    ("statuses", "final"),
    [
        (["ok", "ok"], (0, "ok")),
        (["ok", "outputs_differ"], (1, "outputs_differ")),
        (["ok", "outputs_differ", "crashed"], (2, "crashed")),
        (["ok", "timeout", "oom"], (1, "timeout")),
        (["skipped"], (0, "skipped")),
    ],
)
def test_a_mode_ended_as_its_first_failure_or_its_first_difference(statuses, final):
    lines = [mode(launch=launch, status=status) for launch, status in enumerate(statuses)]

    # Read in any order of the lines.
    line = recording(*reversed(lines)).final_line("xla")

    assert (line.launch, line.status) == final


def test_a_mode_of_which_nothing_is_known_has_no_end():
    assert recording().final_line("xla") is None


def test_findings_are_those_of_measuring_and_then_those_of_reading():
    made, read = Finding(code="a", what="A."), Finding(code="b", what="B.")

    assert recording(FindingLine(finding=made), reading_findings=(read,)).findings == (made, read)


def test_a_recording_without_an_end_was_cut_short():
    assert recording(mode()).end is None
    assert recording(mode(), End(status="interrupted")).end.status == "interrupted"


def test_health_and_blocks_are_in_measured_order():
    full = make_recording(launches=1, rounds=2)
    health = (Health(launch=0, round=0), Health(launch=0, round=1, bad="throttled"))

    both = Recording(header=HEADER, lines=(*full.lines, *health))

    assert both.health == health
    assert both.blocks == full.blocks
    assert [block.warmup for block in both.blocks] == sorted([block.warmup for block in both.blocks], reverse=True)


def test_looks_are_in_the_order_in_which_they_were_taken():
    first, last = Look(launches=3, undecided=(("graph", "xla"),)), Look(launches=5, stop="decided")

    assert recording().looks == ()
    assert recording(first, mode(launch=3), last, End(status="complete")).looks == (first, last)


def test_lines_cannot_be_edited():
    with pytest.raises(ValidationError, match="frozen"):
        mode().status = "crashed"


@pytest.mark.parametrize(
    ("finding", "sentence"),
    [
        (Finding(code="x", what="It rains."), "It rains."),
        (Finding(code="x", what="It rains.", mode="xla"), "xla: It rains."),
        (
            Finding(code="x", what="It rains.", why="Clouds came.", what_to_try="Wait."),
            "It rains. Clouds came. Wait.",
        ),
    ],
)
def test_a_finding_is_one_line_of_text(finding, sentence):
    assert finding.sentence() == sentence


@pytest.mark.parametrize(
    ("name", "control", "controlled"),
    [("graph_control", True, "graph"), ("graph", False, "graph"), ("control", False, "control")],
)
def test_a_control_is_known_by_its_name(name, control, controlled):
    assert is_control(name) is control
    assert controlled_mode(name) == controlled


def test_presets_differ_in_launches_and_rounds():
    assert {name: tuple(preset) for name, preset in PRESETS.items()} == {
        "quick": ((1,), 10),
        "standard": ((3, 5), 10),
        "rigorous": ((5, 10, 15, 20), 20),
    }


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_the_looks_of_a_preset_rise_to_its_most_launches(preset):
    assert list(preset.looks) == sorted(set(preset.looks))
    assert preset.looks[0] >= 1


def test_a_spec_without_looks_and_budget_has_neither():
    spec = Spec.model_validate_json('{"model":"m","modes":["eager"],"launches":3}')

    assert (spec.launches, spec.looks, spec.time_budget_s) == (3, (), None)


def test_a_spec_keeps_what_it_does_not_know():
    spec = Spec(model="m", modes=("eager",), sparsity=0.5)

    assert Spec.model_validate_json(spec.model_dump_json()) == spec
    assert spec.model_extra == {"sparsity": 0.5}
