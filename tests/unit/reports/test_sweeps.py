"""A sweep over sizes in every format, and the input of a benchmark wherever one is told."""

import json
import re

import pytest
from recordings import make_recording

from mlflow_tfexec.records.recording import InputFacts
from mlflow_tfexec.reports import formats, table
from mlflow_tfexec.reports._sizes import size_tables
from mlflow_tfexec.statistics.judge import judge


def recording(batch=1, times_ms=None, *, inputs=None, header=None, **fields):
    """Make a benchmark of one batch size; *header* says more of its inputs."""
    made = make_recording(
        times_ms or {"eager": 20.0 * batch, "xla": 4.0 * batch},
        benchmark_id=f"{batch:032x}",
        batch_size=batch,
        **{"launches": 1, "rounds": 5, **fields},
    )
    facts = {"inputs": inputs or (InputFacts(shape=(batch, 8), dtype="float32"),), **(header or {})}
    object.__setattr__(made, "header", made.header.model_copy(update=facts))
    return made


def rendered(name, *recordings):
    return formats()[name].render(table([(one, judge(one)) for one in recordings]))


@pytest.fixture(scope="module")
def sweep():
    return [recording(batch, family="f" * 32) for batch in (1, 8)]


def test_the_console_ends_with_a_row_per_size(sweep):
    lines = rendered("console", *sweep).splitlines()

    place = lines.index("EfficientNetV2S: median by size")
    head, one, eight = (line.split() for line in lines[place + 1 : place + 4])
    assert head == ["input", "eager", "xla"]
    assert one[:3] == ["(1,", "8)", "float32"]
    assert eight[:3] == ["(8,", "8)", "float32"]
    assert [float(cell) for cell in eight[3::2]] == pytest.approx([160, 32], rel=0.05)
    assert eight[4::2] == ["ms", "ms"]


def test_a_median_has_its_unit_whether_it_has_an_interval_or_not():
    recordings = [recording(batch, family="f" * 32, launches=3, rounds=8) for batch in (1, 8)]
    (sizes,) = size_tables(table([(one, judge(one)) for one in recordings]).benchmarks)

    assert "[" in table([(recordings[0], judge(recordings[0]))]).benchmarks[0].rows[0].cells["median"]
    assert all(re.fullmatch(r"[0-9.]+ ms", cell) for row in sizes.rows for cell in row[1:-1])


def test_a_narrow_console_puts_the_modes_under_each_size(sweep):
    from mlflow_tfexec.reports.console import render

    text = render(table([(one, judge(one)) for one in sweep]), width=24)

    words = " ".join(text.split())
    assert re.search(r"median by size \(1, 8\) float32 eager:? .* xla:? .* \(8, 8\) float32 eager", words), words[-200:]


def test_markdown_and_html_have_the_sweep_as_a_table(sweep):
    markdown, html = rendered("markdown", *sweep), rendered("html", *sweep)

    assert "| input | eager | xla | ordering |" in markdown
    assert "| (8, 8) float32 |" in markdown
    assert '<th scope="row" class="text">(8, 8) float32</th>' in html


def test_a_mode_that_failed_at_one_size_shows_its_status_there(sweep):
    failed = recording(32, {"eager": 9.0, "xla": 1.0}, family="f" * 32, statuses={"xla": "oom"})

    (row,) = [line for line in rendered("markdown", *sweep, failed).splitlines() if line.startswith("| (32, 8)")]

    assert "| oom |" in row


def test_benchmarks_of_no_family_or_of_two_make_no_sweep():
    text = rendered("console", recording(1), recording(8), recording(2, family="a"), recording(3, family="b"))

    assert "median by size" not in text


def test_a_sweep_tells_its_benchmarks_apart_by_their_inputs(sweep):
    assert "EfficientNetV2S · (8, 8) float32" in rendered("console", *sweep)
    assert "EfficientNetV2S · (8, 8)" not in rendered("console", recording(1), recording(8))


@pytest.mark.parametrize("name", ["console", "markdown", "html", "csv"])
def test_a_timed_transfer_stands_beside_the_input(name):
    text = " ".join(rendered(name, recording(4, include_transfer=True)).split())

    assert "(4, 8) float32, including transfer" in text
    assert "including transfer" not in rendered(name, recording(4))


def test_a_timed_transfer_is_in_json():
    (with_it,) = json.loads(rendered("json", recording(4, include_transfer=True)))["benchmarks"]
    (without,) = json.loads(rendered("json", recording(4)))["benchmarks"]

    assert (with_it["input"]["include_transfer"], without["input"]["include_transfer"]) == (True, False)


def test_what_the_inputs_held_is_told():
    tokens = InputFacts(name="ids", shape=(4, 8), dtype="int32", values="token ids below 50")
    scale = InputFacts(name="scale", shape=(4, 1), dtype="float32", values="uniform in [0, 1)")

    assert "values token ids below 50 ·" in rendered("console", recording(4, inputs=(tokens,)))
    both = " ".join(rendered("console", recording(4, inputs=(tokens, scale))).split())
    assert "values ids token ids below 50, scale uniform in [0, 1)" in both


def test_given_inputs_are_named_with_their_sets_and_in_json_with_their_hash():
    given = recording(4, header={"inputs_sha256": "ab", "input_sets": 2}, inputs=None)
    spec = given.header.spec.model_copy(update={"inputs": "a.npz,b.npz"})
    object.__setattr__(given, "header", given.header.model_copy(update={"spec": spec}))

    assert "values given by a.npz,b.npz, 2 sets in turn" in " ".join(rendered("console", given).split())
    (benchmark,) = json.loads(rendered("json", given))["benchmarks"]
    assert (benchmark["input"]["given"], benchmark["input"]["sha256"]) == ("a.npz,b.npz", "ab")
