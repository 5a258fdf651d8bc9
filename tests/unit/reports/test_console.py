import pytest
from rich.cells import cell_len

from mlflow_tfexec.reports import console


@pytest.mark.parametrize("width", [30, 40, 60, 80, 100, 120, 200])
def test_no_line_is_wider_than_the_terminal(width, report):
    lines = console.render(report, width=width).splitlines()

    assert [line for line in lines if cell_len(line) > width] == []


@pytest.mark.parametrize("width", [50, 60, 80, 100, 120, 200])
def test_no_median_is_ever_broken_or_left_out(width, report):
    text = console.render(report, width=width)
    medians = [
        row.cells["median"] for benchmark in report.benchmarks for row in benchmark.rows if "median" in row.cells
    ]

    assert [median for median in medians if median not in text] == []


def test_eighty_columns_hold_mean_median_and_speedup_side_by_side(make):
    text = console.render(make("normal"), width=80)

    [row] = [line for line in text.splitlines() if line.startswith("xla ")]
    assert row.split()[1:] == ["11.6", "±", "0.12", "ms", "11.6", "[11.5,", "11.7]", "ms", "31.8×", "[31.1,", "32.6]"]
    assert "Not shown at this width: group, throughput, first call, peak memory." in text


def test_wide_terminal_leaves_nothing_out(make):
    text = console.render(make("normal"), width=200)

    assert "Not shown" not in text
    assert "95.8 items/s" in text
    assert "1.12 GiB" in text


def test_narrow_terminal_stacks_the_figures_of_a_mode(make):
    lines = console.render(make("normal"), width=40).splitlines()

    start = lines.index("xla")
    assert lines[start + 1 : start + 4] == [
        "  mean ± std. dev.: 11.6 ± 0.12 ms",
        "  median: 11.6 [11.5, 11.7] ms",
        "  speed-up vs eager: 31.8× [31.1, 32.6]",
    ]
    assert "graph_control (A/A control, not ranked)" in lines


def test_ordering_stands_on_a_line_of_its_own(make):
    assert "eager > graph = graph_nojit > xla" in console.render(make("normal")).splitlines()


def test_control_is_marked_as_not_ranked_and_gives_the_noise_floor(make):
    lines = console.render(make("normal")).splitlines()

    assert [line.split()[:2] for line in lines if line.startswith("graph_control")] == [["graph_control", "*"]]
    assert "* A/A control, not ranked" in lines
    assert "noise floor: graph against graph_control 1.00× [0.99, 1.02], equivalent" in lines


def test_failed_mode_shows_its_status_and_reason_and_no_number(make):
    lines = console.render(make("troubled")).splitlines()

    assert [line for line in lines if line.startswith("xla ")] == ["xla              crashed: xla ended as crashed"]


def test_mode_with_other_outputs_is_marked_and_the_mark_explained(make):
    text = console.render(make("troubled"), width=80)

    assert "graph_nojit ≠" in text
    assert "≠ outputs differ from those of eager" in text


def test_one_launch_is_said_to_be_one_launch(make):
    assert "scope: this launch only" in console.render(make("one_launch"))


def test_undecided_pair_is_shown_with_its_interval(make):
    expected = "undecided: eager against graph 1.12× [0.80, 1.57]; about 8 launches would decide it"

    assert expected in console.render(make("undecided")).splitlines()


def test_text_from_outside_cannot_steer_the_terminal(make):
    assert "\x1b" not in console.render(make("hostile"))


def test_colour_changes_nothing_but_colour(make):
    from rich.text import Text

    report = make("troubled")
    colored = console.render(report, color=True)

    assert "\x1b[" in colored
    plain = "".join(f"{line.rstrip()}\n" for line in Text.from_ansi(colored).plain.splitlines())
    assert plain == console.render(report)


def test_environment_does_not_change_the_text(make, monkeypatch):
    report = make("normal")
    before = console.render(report)
    for name, value in {"COLUMNS": "33", "FORCE_COLOR": "1", "NO_COLOR": "", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)

    assert console.render(report) == before


def test_report_on_several_repeats_the_orderings_at_the_end(make):
    tail = console.render(make("several")).splitlines()[-5:]

    assert tail == [
        "2 benchmarks",
        "EfficientNetV2S · Example GPU 80GB · TensorFlow 2.19.0",
        "  eager > graph = graph_nojit > xla",
        "EfficientNetV2S · Example GPU 80GB · TensorFlow 2.19.0",
        "  eager > graph",
    ]
