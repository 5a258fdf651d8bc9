"""Recordings to and from JSON lines: nothing is lost, and nothing that is wrong passes for a recording."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from recordings import make_recording, to_text, write_recording

from mlflow_tfexec.errors import RecordingError
from mlflow_tfexec.records.answers import OutputDifference
from mlflow_tfexec.records.codec import decode, encode, load_recording
from mlflow_tfexec.records.findings import Finding
from mlflow_tfexec.records.recording import Block, End, FindingLine, Header, Health, Look, ModeLine, Phase, Recording
from mlflow_tfexec.records.spec import Spec

SMALL = make_recording({"eager": 20.0, "graph": 5.0}, launches=1, rounds=2, calls=2)
ROWS = to_text(SMALL).splitlines()


def text_of(*rows):
    return "".join(f"{row}\n" for row in rows)


def test_a_recording_comes_back_as_it_was(tmp_path):
    recording = make_recording(statuses={"xla": "compile_failed", "graph": "outputs_differ"})

    assert load_recording(write_recording(recording, tmp_path)) == recording


def test_the_directory_of_a_recording_will_do(tmp_path):
    write_recording(SMALL, tmp_path)

    assert load_recording(str(tmp_path)) == SMALL


def test_a_line_is_one_line_of_json_without_what_is_not_known():
    line = ModeLine(launch=0, mode="eager", status="run_failed", reason="first\nsecond")

    assert encode(line) == '{"kind":"mode","launch":0,"mode":"eager","status":"run_failed","reason":"first\\nsecond"}'


@pytest.mark.parametrize(
    ("look", "line"),
    [
        (
            Look(launches=3, undecided=(("graph", "xla"), ("graph", "eager"))),
            '{"kind":"look","launches":3,"undecided":[["graph","xla"],["graph","eager"]]}',
        ),
        (Look(launches=5, stop="last"), '{"kind":"look","launches":5,"undecided":[],"stop":"last"}'),
    ],
)
def test_a_look_is_one_line_that_comes_back_as_it_was(look, line):
    assert encode(look) == line
    assert decode(text_of(ROWS[0], line)).lines == (look,)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_number_is_never_written(number):
    with pytest.raises(ValueError, match="JSON compliant"):
        encode(OutputDifference(max_abs_error=number))


names = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
counts = st.integers(min_value=0, max_value=2**63)
errors = st.none() | st.floats(allow_nan=False, allow_infinity=False)
lines = st.one_of(
    st.builds(
        ModeLine,
        launch=counts,
        mode=names,
        status=names,
        reason=st.none() | names,
        first_call_ns=st.none() | counts,
        output=st.none()
        | st.builds(OutputDifference, max_abs_error=errors, within_tolerance=st.none() | st.booleans()),
    ),
    st.builds(
        Block,
        launch=counts,
        round=counts,
        position=counts,
        mode=names,
        metric=st.sampled_from(["latency", "throughput", "dispatch"]),
        calls_ns=st.none() | st.lists(counts, max_size=3).map(tuple),
        valid=st.booleans(),
    ),
    st.builds(Health, launch=counts, round=counts, cpu_load=errors, bad=st.none() | names),
    st.builds(Phase, name=names, launch=st.none() | counts, duration_ns=counts),
    st.builds(
        Look,
        launches=counts,
        undecided=st.lists(st.tuples(names, names), max_size=3).map(tuple),
        stop=st.sampled_from([None, "decided", "narrow", "last", "budget"]),
    ),
    st.builds(FindingLine, finding=st.builds(Finding, code=names, what=names, why=st.none() | names)),
    st.builds(End, status=st.sampled_from(["complete", "interrupted", "failed"])),
)


@given(
    lines=st.lists(lines, max_size=5),
    asked=st.fixed_dictionaries(
        {"model": names},
        optional={
            "input_shape": st.none() | st.lists(counts, max_size=3).map(tuple),
            "looks": st.lists(counts, max_size=3).map(tuple),
            "time_budget_s": errors,
        },
    ),
)
def test_every_recording_comes_back_as_it_was(lines, asked):
    header = SMALL.header.model_copy(update={"spec": Spec(modes=("eager",), **asked)})
    recording = Recording(header=header, lines=tuple(lines))

    assert decode(to_text(recording)) == recording


def test_unknown_keys_of_a_later_version_are_kept():
    later = json.loads(ROWS[0]) | {"site": {"rack": 7}}
    later["spec"]["sparsity"] = 0.5
    block = json.loads(next(row for row in ROWS if '"latency"' in row)) | {"energy_mj": [1, 2]}
    finding = {"kind": "finding", "finding": {"code": "x", "what": "y", "severity": 3}}

    recording = decode(text_of(json.dumps(later), json.dumps(block), json.dumps(finding)))
    again = [json.loads(row) for row in to_text(recording).splitlines()]

    assert again[0]["site"] == {"rack": 7}
    assert again[0]["spec"]["sparsity"] == 0.5
    assert again[1]["energy_mj"] == [1, 2]
    assert again[2] == finding


def test_lines_of_an_unknown_kind_are_skipped_with_a_finding():
    hum, odor = '{"kind":"hum","db":40}', '{"kind":"odor"}'

    recording = decode(text_of(ROWS[0], hum, odor, hum, *ROWS[1:]))

    assert recording.lines == SMALL.lines
    assert [(finding.code, finding.what) for finding in recording.findings] == [
        ("unknown_kind", "2 line(s) of kind 'hum' were skipped."),
        ("unknown_kind", "1 line(s) of kind 'odor' were skipped."),
    ]


@pytest.mark.parametrize("kept", [1, 20, len(ROWS[-1]) - 1, len(ROWS[-1])])
def test_a_last_line_that_was_cut_is_left_out_with_a_finding(kept):
    recording = decode(text_of(*ROWS[:-1]) + ROWS[-1][:kept])

    assert recording.lines == SMALL.lines[:-1]
    assert recording.end is None
    assert [finding.code for finding in recording.findings] == ["recording_cut"]


def test_empty_lines_are_no_lines():
    assert decode(text_of(ROWS[0], "", *ROWS[1:], " ")) == SMALL


def test_line_ends_of_windows_are_line_ends():
    assert decode(to_text(SMALL).replace("\n", "\r\n")) == SMALL


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (ROWS[3][:-5], "not JSON. The file is damaged."),
        ("\x00\x00\x00", "not JSON. The file is damaged."),
        ("[1, 2]", "not an object. The file is damaged."),
        ("[" * 100_000, "not JSON. The file is damaged."),
        ('{"n":' + "1" * 5000 + "}", "not JSON. The file is damaged."),
        ('{"kind":"phase","name":"build"}', "duration_ns: Field required."),
        (
            '{"kind":"phase","name":"build","duration_ns":"long"}',
            "duration_ns: Input should be a valid integer, unable to parse string as an integer.",
        ),
    ],
    ids=lambda text: text[:20],
)
def test_damage_in_the_middle_is_an_error_that_names_the_line(row, problem):
    with pytest.raises(RecordingError) as caught:
        decode(text_of(*ROWS[:3], row, *ROWS[4:]), name="a.jsonl")

    assert str(caught.value) == f"'a.jsonl', line 4: {problem}"


@pytest.mark.parametrize(("version", "shown"), [(2, "2"), (1.5, "1.5"), ("1", "'1'"), (None, "None")])
def test_a_later_or_unreadable_version_is_an_error_that_says_what_to_do(version, shown):
    header = json.loads(ROWS[0]) | {"version": version}

    with pytest.raises(RecordingError) as caught:
        decode(text_of(json.dumps(header), *ROWS[1:]), name="a.jsonl")

    assert str(caught.value) == (
        f"'a.jsonl' has recording format {shown}; this version reads up to 1. Upgrade mlflow-tfexec."
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "it holds no complete line."),
        (ROWS[0], "it holds no complete line."),
        (text_of('{"kind":"end","status":"complete"}'), "its first line is not a tfexec-recording header."),
        (text_of('{"kind":"header","format":"other","version":1}'), "its first line is not a tfexec-recording header."),
    ],
)
def test_another_file_is_not_a_recording(text, problem):
    with pytest.raises(RecordingError) as caught:
        decode(text, name="a.jsonl")

    assert str(caught.value) == f"'a.jsonl' is not a recording: {problem}"


def test_a_header_without_its_spec_is_an_error_that_names_it():
    header = json.loads(ROWS[0])
    del header["spec"]

    with pytest.raises(RecordingError, match=r"^'recording', line 1: spec: Field required\.$"):
        decode(text_of(json.dumps(header)))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
rows = st.one_of(
    st.text(),
    json_values.map(json.dumps),
    st.dictionaries(
        st.sampled_from(
            [
                "kind",
                "launch",
                "mode",
                "status",
                "round",
                "metric",
                "calls_ns",
                "finding",
                "name",
                "launches",
                "undecided",
                "stop",
            ]
        ),
        st.sampled_from(["mode", "block", "health", "phase", "look", "finding", "end", "latency"]) | json_values,
    ).map(json.dumps),
)


@settings(max_examples=200)
@given(rows=st.lists(rows, max_size=4), has_header=st.booleans())
@example(rows=['{"kind":"mode","launch":0,"mode":"\\ud800","status":"ok"}'], has_header=True)
def test_no_text_whatever_raises_anything_but_a_recording_error(rows, has_header):
    try:
        recording = decode(text_of(*([ROWS[0]] if has_header else []), *rows))
    except RecordingError:
        return
    assert isinstance(recording.header, Header)


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("nowhere.jsonl", "No such file or directory"),
        ("x" * 300, "File name too long"),
    ],
)
def test_a_file_that_cannot_be_read_is_an_error_that_says_why(tmp_path, path, problem):
    with pytest.raises(RecordingError) as caught:
        load_recording(tmp_path / path)

    assert str(caught.value) == (
        f"Cannot read recording {str(tmp_path / path)!r}: {problem}. Give the path of a recording.jsonl."
    )


def test_a_directory_without_a_recording_is_an_error(tmp_path):
    with pytest.raises(RecordingError, match=r"recording\.jsonl': No such file or directory"):
        load_recording(tmp_path)


def test_a_file_that_is_not_text_is_not_a_recording(tmp_path):
    path = tmp_path / "model.keras"
    path.write_bytes(b"PK\x03\x04\xff\xfe")

    with pytest.raises(RecordingError, match="is not a recording: it is not text"):
        load_recording(path)
