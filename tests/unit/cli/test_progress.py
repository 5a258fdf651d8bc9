"""What is shown while a benchmark runs."""

import io
import threading

import pytest

from mlflow_tfexec.benchmarking import progress as progress_module
from mlflow_tfexec.benchmarking.progress import (
    PlainProgress,
    TerminalProgress,
    fraction,
    look_sentence,
    make_progress,
    sentence,
    time_left,
)
from mlflow_tfexec.records.recording import Look
from mlflow_tfexec.session.observer import Progress


def at(stage, mode=None, launch=0, **fields):
    return Progress(**{"launch": launch, "launches": 3, "most_launches": 3, "stage": stage, "mode": mode, **fields})


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        (at("start"), "launch 1/3, importing TensorFlow"),
        (at("build"), "launch 1/3, building the model"),
        (at("first_call", "xla"), "launch 1/3, first call: xla"),
        (at("pilot", "xla", launch=2), "launch 3/3, pilot: xla"),
        (at("warmup", "eager"), "launch 1/3, warm-up: eager"),
        (at("rounds", "eager", round=0, rounds=10), "launch 1/3, round 1/10, measuring: eager"),
        (at("finish"), "launch 1/3, finishing"),
        # It may end after three launches, and has five if it must.
        (at("start", most_launches=5), "launch 1/3 (at most 5), importing TensorFlow"),
        (at("build", launch=3, launches=5, most_launches=5), "launch 4/5, building the model"),
        (at("build", launch=5, launches=10, most_launches=20), "launch 6/10 (at most 20), building the model"),
    ],
)
def test_a_step_is_one_line(progress, text):
    assert sentence(progress) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, ""),
        (0.0, "about 5 s left"),
        (8.2, "about 10 s left"),
        (44.0, "about 45 s left"),
        (61.0, "about 1 min left"),
        (95.0, "about 2 min left"),
        (7200.0, "about 120 min left"),
    ],
)
def test_time_left_is_as_exact_as_it_is_known(seconds, text):
    assert time_left(seconds) == text


def shares(ends):
    """Return the shares shown in all launches of a benchmark; launch → after how many it may then end."""
    steps = [
        at(
            stage,
            launch=launch,
            launches=launches,
            most_launches=len(ends),
            **({"round": round_, "rounds": 4} if stage == "rounds" else {}),
        )
        for launch, launches in enumerate(ends)
        for stage in ("start", "build", "first_call", "pilot", "warmup", "rounds", "finish")
        for round_ in range(4)
    ]
    return [fraction(step) for step in steps]


@pytest.mark.parametrize("ends", [(3, 3, 3), (3, 3, 3, 5, 5)], ids=["as planned", "prolonged at a look"])
def test_the_share_that_is_done_never_falls_and_ends_at_1(ends):
    shown = shares(ends)

    assert shown == sorted(shown)
    assert (shown[0], shown[-1]) == (0.0, 1.0)


OPEN = (("graph", "graph_nojit"), ("graph", "xla"))


@pytest.mark.parametrize(
    ("look", "text"),
    [
        (Look(launches=3, stop="decided"), "after 3 launches: all decided"),
        (
            Look(launches=3, undecided=OPEN),
            "after 3 launches: undecided: graph ? graph_nojit, graph ? xla; measuring on",
        ),
        (
            Look(launches=3, undecided=OPEN[:1], stop="narrow"),
            "after 3 launches: undecided: graph ? graph_nojit; further launches would not decide it",
        ),
        (
            Look(launches=5, undecided=OPEN[:1], stop="last"),
            "after 5 launches: undecided: graph ? graph_nojit; this was the last launch asked for",
        ),
        (
            Look(launches=1, undecided=OPEN[:1], stop="budget"),
            "after 1 launch: undecided: graph ? graph_nojit; the next launch would outlast --time-budget",
        ),
        (Look(launches=5, stop="last"), "after 5 launches: all decided; this was the last launch asked for"),
    ],
    ids=lambda value: value.stop or "goes on" if isinstance(value, Look) else "",
)
def test_a_look_is_one_line_that_says_what_is_known_and_what_follows(look, text):
    assert look_sentence(look) == text


@pytest.fixture
def clock(monkeypatch):
    """A clock that moves when it is told to."""

    class Clock:
        now_s = 100.0

        def monotonic(self):
            return self.now_s

    clock = Clock()
    monkeypatch.setattr(progress_module, "time", clock)
    return clock


def told(capsys):
    return capsys.readouterr().err.splitlines()


def test_plain_progress_says_each_stage_once(capsys, clock):
    plain = PlainProgress()
    for step in (at("start"), at("build"), at("first_call", "eager"), at("first_call", "xla"), at("first_call", "xla")):
        plain.progressed(step)

    assert told(capsys) == [
        "mlflow-tfexec: launch 1/3, importing TensorFlow",
        "mlflow-tfexec: launch 1/3, building the model",
        "mlflow-tfexec: launch 1/3, first call: eager",
        "mlflow-tfexec: launch 1/3, first call: xla",
    ]


def test_plain_progress_does_not_flood(capsys, clock):
    plain = PlainProgress()
    for round_ in range(1000):
        for mode in ("eager", "xla"):
            plain.progressed(at("rounds", mode, round=round_, rounds=1000, left_s=600.0))
            clock.now_s += 0.01

    lines = told(capsys)
    # 20 s of rounds: one line at once, and one every ten seconds.
    assert len(lines) == 2
    assert lines[0] == "mlflow-tfexec: launch 1/3, round 1/1000, measuring: eager (about 10 min left)"


def test_plain_progress_speaks_again_in_the_next_launch(capsys, clock):
    plain = PlainProgress()
    plain.progressed(at("warmup", "eager"))
    plain.progressed(at("warmup", "eager", launch=1))

    assert len(told(capsys)) == 2


def test_plain_progress_says_that_a_mode_is_lost(capsys):
    plain = PlainProgress()
    plain.failed("xla", "oom", "too large")
    plain.close()

    assert told(capsys) == ["mlflow-tfexec: xla: oom: too large"]


def test_plain_progress_says_what_a_look_saw(capsys):
    plain = PlainProgress()
    plain.looked(Look(launches=3, undecided=(("graph", "xla"),)))
    plain.looked(Look(launches=5, stop="decided"))

    assert told(capsys) == [
        "mlflow-tfexec: after 3 launches: undecided: graph ? xla; measuring on",
        "mlflow-tfexec: after 5 launches: all decided",
    ]


def test_plain_progress_says_now_and_then_that_a_long_step_goes_on(capsys, clock):
    plain = PlainProgress()
    plain.progressed(at("first_call", "xla"))
    for second in range(1, 81):
        clock.now_s += 1.0
        plain.waited(float(second), 1800.0)

    assert told(capsys)[1:] == [
        "mlflow-tfexec: still at it after 30 s; given up after 1800 s (--timeout)",
        "mlflow-tfexec: still at it after 60 s; given up after 1800 s (--timeout)",
    ]


class Terminal(io.StringIO):
    """A terminal that keeps what is written to it."""

    def isatty(self):
        return True

    @property
    def size(self):
        return len(self.getvalue())


@pytest.fixture
def terminal(monkeypatch):
    # Some environments say that a terminal can do less than this one, or that there is one where there is none.
    for variable in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    return Terminal()


@pytest.fixture
def live(terminal, monkeypatch):
    """Make a live display; inside the test, since pytest has its own standard error between phases."""
    displays = []

    def make():
        monkeypatch.setattr("sys.stderr", terminal)
        displays.append(make_progress())
        return displays[-1]

    yield make
    for display in displays:
        display.close()


def test_a_terminal_gets_a_live_line_and_anything_else_plain_lines(live, monkeypatch):
    assert isinstance(live(), TerminalProgress)

    monkeypatch.setattr("sys.stderr", io.StringIO())
    assert isinstance(make_progress(), PlainProgress)


def test_the_live_line_is_drawn_by_events_alone_and_by_no_thread_of_its_own(terminal, live, monkeypatch):
    started = []
    monkeypatch.setattr(threading.Thread, "start", started.append)

    display = live()
    sizes = [terminal.size]
    for step in (at("start"), at("rounds", "eager", round=3, rounds=10, left_s=30.0)):
        display.progressed(step)
        sizes.append(terminal.size)

    assert started == []
    assert sizes[0] < sizes[1] < sizes[2]


def test_the_live_line_says_where_the_benchmark_stands(terminal, live):
    live().progressed(at("rounds", "eager", round=3, rounds=10, left_s=30.0))

    assert "launch 1/3, round 4/10, measuring: eager" in terminal.getvalue()
    assert "about 30 s left" in terminal.getvalue()


def test_a_look_stays_above_the_live_line(terminal, live):
    display = live()
    display.progressed(at("finish", launch=2, most_launches=5))
    display.looked(Look(launches=3, stop="decided"))
    display.close()

    assert "after 3 launches: all decided" in terminal.getvalue()


def test_the_live_line_says_how_long_a_step_has_taken_and_when_it_is_given_up(terminal, live):
    display = live()
    display.progressed(at("first_call", "xla"))
    display.waited(3.0, 1800.0)
    assert "still at it" not in terminal.getvalue()

    display.waited(40.0, 1800.0)
    assert "still at it after 40 s; given up after 1800 s" in terminal.getvalue()


def test_names_are_not_read_as_markup(terminal, live):
    display = live()
    display.progressed(at("first_call", "[red]xla[/red]"))
    display.failed("[b]xla[/b]", "oom", "[/] closes nothing")
    display.looked(Look(launches=3, undecided=(("[i]a[/i]", "b"),)))

    assert "first call: [red]xla[/red]" in terminal.getvalue()
    assert "[b]xla[/b]: oom: [/] closes nothing" in terminal.getvalue()
    assert "[i]a[/i] ? b" in terminal.getvalue()


def test_a_try_of_a_smaller_batch_is_a_line_of_its_own(capsys):
    PlainProgress().trying("xla", 16)

    assert told(capsys) == ["mlflow-tfexec: xla ran out of memory: trying batch 16"]


def test_a_try_of_a_smaller_batch_is_shown_on_a_terminal(terminal, live):
    live().trying("[b]xla[/b]", 16)

    assert "[b]xla[/b] ran out of memory: trying batch 16" in terminal.getvalue()
