"""Ctrl-C and termination: once as a request to stop, after that as little as possible."""

import signal
import threading

import pytest

from mlflow_tfexec.benchmarking.interrupts import interruptible
from mlflow_tfexec.errors import Interrupted

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture(autouse=True)
def handlers():
    """Put every handler back, and prove that each test left it as it was."""
    found = {number: signal.getsignal(number) for number in SIGNALS}
    # Whoever runs the tests may ignore hangups, or Ctrl-C.
    before = {number: signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL for number in SIGNALS}
    for number, handler in before.items():
        signal.signal(number, handler)
    yield before
    after = {number: signal.getsignal(number) for number in SIGNALS}
    for number, handler in found.items():
        signal.signal(number, handler)
    assert after == before


@pytest.mark.parametrize(("number", "name"), [(2, "SIGINT"), (15, "SIGTERM"), (1, "SIGHUP")])
def test_the_first_signal_interrupts_and_the_text_names_it(number, name):
    with pytest.raises(Interrupted, match=rf"^Interrupted by {name}\.$"), interruptible():
        signal.raise_signal(number)


def test_termination_behind_ctrl_c_is_ignored():
    done = []

    with interruptible():
        with pytest.raises(Interrupted):
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGHUP)
        done.append("what was measured is logged")

    assert done == ["what was measured is logged"]


def test_a_second_ctrl_c_interrupts_again():
    with interruptible():
        for _ in range(3):
            with pytest.raises(Interrupted, match="SIGINT"):
                signal.raise_signal(signal.SIGINT)


def test_ctrl_c_behind_termination_interrupts_again():
    with interruptible():
        with pytest.raises(Interrupted, match="SIGTERM"):
            signal.raise_signal(signal.SIGTERM)
        with pytest.raises(Interrupted, match="SIGINT"):
            signal.raise_signal(signal.SIGINT)


def test_without_a_signal_nothing_happens():
    with interruptible():
        done = True

    assert done


def test_handlers_are_put_back_after_an_error_of_another_kind():
    with pytest.raises(ZeroDivisionError), interruptible():
        raise ZeroDivisionError


def test_a_hangup_that_is_ignored_stays_ignored(handlers):
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with interruptible():
        signal.raise_signal(signal.SIGHUP)
        inside = signal.getsignal(signal.SIGHUP)
    after = signal.getsignal(signal.SIGHUP)
    signal.signal(signal.SIGHUP, handlers[signal.SIGHUP])

    assert (inside, after) == (signal.SIG_IGN, signal.SIG_IGN)


def test_an_interruption_ends_a_wait():
    main = threading.main_thread().ident
    timer = threading.Timer(0.05, lambda: signal.pthread_kill(main, signal.SIGINT))
    timer.start()
    with pytest.raises(Interrupted), interruptible():
        threading.Event().wait(30)
    timer.join()
