"""Numbers to text, and errors to exit codes."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlflow_tfexec import errors, units


def test_the_examples_in_the_docstrings_hold():
    assert doctest.testmod(units) == (0, 6)


@pytest.mark.parametrize(
    ("value_ms", "text"),
    [
        (0.0, "0 ns"),
        (0.000_05, "50.0 ns"),
        (0.000_999, "999 ns"),
        (0.001, "1.00 µs"),
        (0.9994, "999 µs"),
        (1.0, "1.00 ms"),
        (15.96, "16.0 ms"),
        (9_999.0, "9999 ms"),
        (10_000.0, "10.0 s"),
        (3_600_000.0, "3600 s"),
        (-2.5, "-2.50 ms"),
    ],
)
def test_a_duration_has_the_unit_that_keeps_it_short(value_ms, text):
    assert units.duration(value_ms) == text


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(0.0, 3, "0"), (0.000_123_4, 3, "0.000123"), (123_456.0, 3, "123456"), (1.0, 1, "1"), (-0.5, 2, "-0.50")],
)
def test_digits_are_significant_and_there_is_no_exponent(value, digits, text):
    assert units.significant(value, digits=digits) == text


@given(value=st.floats(min_value=1e-12, max_value=1e15))
def test_a_written_number_is_within_half_a_last_digit(value):
    text = units.significant(value)

    assert "e" not in text
    assert float(text) == pytest.approx(value, rel=5.01e-3)


@pytest.mark.parametrize(
    ("value_mb", "text"), [(0.4, "0 MiB"), (1023.4, "1023 MiB"), (1024, "1.00 GiB"), (144_384, "141.00 GiB")]
)
def test_memory_is_in_mib_until_there_is_a_gib(value_mb, text):
    assert units.memory(value_mb) == text


@pytest.mark.parametrize(
    ("error", "exit_code"),
    [
        (errors.TfexecError, 1),
        (errors.RequestError, 2),
        (errors.RecordingError, 2),
        (errors.TrackingError, 2),
        (errors.SpoolError, 1),
        (errors.LoggingFailed, 1),
    ],
)
def test_every_error_has_its_exit_code(error, exit_code):
    assert error("text").exit_code == exit_code
    assert issubclass(error, errors.TfexecError)


def test_an_interruption_is_not_caught_with_all_exceptions():
    assert not issubclass(errors.Interrupted, Exception)
