"""What is shown while a benchmark runs: a live line on a terminal, plain lines elsewhere; always on standard error."""

import sys
import time
from collections.abc import Mapping
from typing import Protocol

from mlflow_tfexec.benchmarking.notices import say
from mlflow_tfexec.records.recording import Look
from mlflow_tfexec.session.observer import Observer, Progress, Silence, Stage
from mlflow_tfexec.units import count

_STAGES: dict[Stage, str] = {
    "start": "importing TensorFlow",
    "build": "building the model",
    "first_call": "first call",
    "pilot": "pilot",
    "warmup": "warm-up",
    "rounds": "measuring",
    "finish": "finishing",
}

_FOLLOWS: Mapping[str, str] = {
    "narrow": "; further launches would not decide it",
    "last": "; this was the last launch asked for",
    "budget": "; the next launch would outlast --time-budget",
}

# Without a terminal, rounds follow one another quickly and a line for each would fill the log.
_PLAIN_INTERVAL_S = 10.0

# A step that takes longer than most: a compilation by XLA may take minutes.
_WAIT_TOLD_AFTER_S = 15.0
_WAIT_INTERVAL_S = 30.0

_LAUNCH_SHARE = {
    "start": 0.0,
    "build": 0.1,
    "first_call": 0.2,
    "pilot": 0.3,
    "warmup": 0.35,
    "rounds": 0.5,
    "finish": 1.0,
}


def sentence(progress: Progress) -> str:
    """Say in one line where the benchmark stands."""
    upto = "" if progress.most_launches == progress.launches else f" (at most {progress.most_launches})"
    parts = [f"launch {progress.launch + 1}/{progress.launches}{upto}"]
    if progress.round is not None:
        parts.append(f"round {progress.round + 1}/{progress.rounds}")
    parts.append(_STAGES[progress.stage] + (f": {progress.mode}" if progress.mode else ""))
    return ", ".join(parts)


def time_left(seconds: float | None) -> str:
    """Say how long it still takes, as exactly as it is known.

    >>> time_left(8.2), time_left(95.0), time_left(None)
    ('about 10 s left', 'about 2 min left', '')
    """
    if seconds is None:
        return ""
    if seconds < 60:  # noqa: PLR2004 - seconds in a minute
        return f"about {max(5, round(seconds / 5) * 5)} s left"
    return f"about {round(seconds / 60)} min left"


def fraction(progress: Progress) -> float:
    """Return the share of the work that is done, roughly."""
    share = _LAUNCH_SHARE[progress.stage]
    if progress.round is not None and progress.rounds:
        share += 0.5 * progress.round / progress.rounds
    # Of the most there may be, so that the bar never goes back; at an early end it jumps forward.
    return (progress.launch + share) / progress.most_launches


def look_sentence(look: Look) -> str:
    """Say in one line what is known after some launches, and what follows from it."""
    known = f"after {count(look.launches, 'launch', 'launches')}: "
    if look.stop == "nothing_to_compare":
        return f"{known}fewer than two modes are left to compare"
    known += f"undecided: {', '.join(f'{a} ? {b}' for a, b in look.undecided)}" if look.undecided else "all decided"
    return known + (_FOLLOWS.get(look.stop, "") if look.stop else "; measuring on")


def wait_sentence(seconds: float, limit_s: float) -> str:
    """Say how long a step has taken, and when it is given up.

    >>> wait_sentence(63.0, 1800.0)
    'still at it after 63 s; given up after 1800 s (--timeout)'
    """
    return f"still at it after {seconds:.0f} s; given up after {limit_s:.0f} s (--timeout)"


def trial_sentence(mode: str, batch_size: int) -> str:
    """Say what is tried for a mode that lacked memory.

    >>> trial_sentence("xla", 16)
    'xla ran out of memory: trying batch 16'
    """
    return f"{mode} ran out of memory: trying batch {batch_size}"


class Display(Observer, Protocol):
    """An observer that shows what it is told, and is closed at the end."""

    def close(self) -> None:
        """Take away what is not to stay."""


class NoProgress(Silence):
    """Shows nothing."""

    def close(self) -> None:
        """Nothing to take away."""


class PlainProgress:
    """A line per stage, and now and then one while measuring."""

    def __init__(self) -> None:
        self._last: tuple[int, Stage, str | None] | None = None
        self._said_s = 0.0

    def progressed(self, progress: Progress) -> None:
        """Write a line if there is something new to say."""
        repeated = progress.stage in {"warmup", "rounds"}
        step = (progress.launch, progress.stage, None if repeated else progress.mode)
        if step == self._last and time.monotonic() - self._said_s < _PLAIN_INTERVAL_S:
            return
        if step == self._last and not repeated:
            return
        self._last, self._said_s = step, time.monotonic()
        left = time_left(progress.left_s)
        say(f"{sentence(progress)}{f' ({left})' if left else ''}")

    def waited(self, seconds: float, limit_s: float) -> None:
        """Write a line now and then, so that a long compilation is not taken for a hang."""
        if seconds >= _WAIT_TOLD_AFTER_S and time.monotonic() - self._said_s >= _WAIT_INTERVAL_S:
            self._said_s = time.monotonic()
            say(wait_sentence(seconds, limit_s))

    def failed(self, mode: str, status: str, reason: str) -> None:
        """Write a line: a lost mode is news."""
        say(f"{mode}: {status}: {reason}")

    def looked(self, look: Look) -> None:
        """Write a line."""
        say(look_sentence(look))

    def trying(self, mode: str, batch_size: int) -> None:
        """Write a line: a try takes as long as a launch's first calls."""
        say(trial_sentence(mode, batch_size))

    def close(self) -> None:
        """Nothing to take away."""


class TerminalProgress:
    """One live line with a bar. It is redrawn only between blocks: nothing of ours runs while a block is timed."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self._console = Console(stderr=True, highlight=False)
        self._bar = Progress(
            BarColumn(bar_width=24),
            TextColumn("{task.description}", markup=False),
            TextColumn("{task.fields[left]}", style="dim", markup=False),
            console=self._console,
            auto_refresh=False,
            transient=True,
        )
        self._task = self._bar.add_task("starting", total=1.0, left="")
        self._bar.start()

    def progressed(self, progress: Progress) -> None:
        """Redraw the line."""
        self._bar.update(
            self._task,
            completed=fraction(progress),
            description=sentence(progress),
            left=time_left(progress.left_s),
            refresh=True,
        )

    def waited(self, seconds: float, limit_s: float) -> None:
        """Redraw the line, so that a long compilation is not taken for a hang."""
        if seconds >= _WAIT_TOLD_AFTER_S:
            self._bar.update(self._task, left=wait_sentence(seconds, limit_s), refresh=True)

    def failed(self, mode: str, status: str, reason: str) -> None:
        """Leave a line above the bar."""
        self._console.print(f"{mode}: {status}: {reason}", markup=False, style="yellow")

    def looked(self, look: Look) -> None:
        """Leave a line above the bar."""
        self._console.print(look_sentence(look), markup=False, style="dim")

    def trying(self, mode: str, batch_size: int) -> None:
        """Redraw the line, whose measuring is done."""
        self._bar.update(self._task, completed=1.0, description=trial_sentence(mode, batch_size), left="", refresh=True)

    def close(self) -> None:
        """Take the line away."""
        self._bar.stop()


def choose_display(*, is_shown: bool | None) -> Display:
    """Choose the display for a Python program. None shows it where somebody looks: in a terminal or a notebook."""
    is_watched = "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())
    return make_progress() if is_shown or (is_shown is None and is_watched) else NoProgress()


def make_progress() -> PlainProgress | TerminalProgress:
    """Choose the display: live if standard error is a terminal."""
    return TerminalProgress() if sys.stderr.isatty() else PlainProgress()
