"""Numbers to text for people: the only place where a display unit is chosen."""

import math

NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000
BYTES_PER_MB = 1024 * 1024

# (upper bound in ms, factor from ms, unit): the unit is chosen so that the number keeps 1 to 4 digits before the point.
_DURATIONS = ((1e-3, 1e6, "ns"), (1.0, 1e3, "µs"), (1e4, 1.0, "ms"))


def duration(value_ms: float, *, digits: int = 3) -> str:
    """Write a duration given in milliseconds with *digits* significant digits.

    >>> duration(0.0213), duration(368.912), duration(12_345.0)
    ('21.3 µs', '369 ms', '12.3 s')
    """
    for bound, factor, unit in _DURATIONS:
        if abs(value_ms) < bound:
            return f"{significant(value_ms * factor, digits=digits)} {unit}"
    return f"{significant(value_ms / 1e3, digits=digits)} s"


def significant(value: float, *, digits: int = 3) -> str:
    """Write *value* with *digits* significant digits and no exponent.

    >>> significant(0.8821), significant(15.96), significant(1234.5), significant(9.996)
    ('0.882', '16.0', '1234', '10.0')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    # Rounded first: 9.996 has one digit before the point, and 10.0 two.
    value = float(f"{value:.{max(digits, len(str(int(abs(value))))) - 1}e}")
    magnitude = len(str(int(abs(value)))) if abs(value) >= 1 else -_leading_zeros(abs(value))
    return f"{value:.{max(0, digits - magnitude)}f}"


def _leading_zeros(value: float) -> int:
    """Count the zeros between the point and the first digit of a value below one."""
    zeros = 0
    while value < 0.1 and zeros < 30:  # noqa: PLR2004 - one decimal place a turn
        value *= 10
        zeros += 1
    return zeros


def count(number: int, one: str, many: str) -> str:
    """Write a number of things.

    >>> count(1, "launch", "launches"), count(5, "launch", "launches")
    ('1 launch', '5 launches')
    """
    return f"{number} {one if number == 1 else many}"


def span(seconds: float) -> str:
    """Write a time that people wait, as exactly as they care.

    >>> span(8.4), span(95), span(1500), span(9000)
    ('8 s', '95 s', '25 min', '2.5 h')
    """
    if seconds < 120:  # noqa: PLR2004 - two minutes are said in seconds
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"  # noqa: PLR2004 - and two hours in minutes


def ratio(value: float) -> str:
    """Write a ratio of two times.

    >>> ratio(8.0912), ratio(0.3517), ratio(123.4)
    ('8.09×', '0.352×', '123×')
    """
    return f"{significant(value)}×"


def memory(value_mb: float) -> str:
    """Write an amount of memory given in MiB.

    >>> memory(512.3), memory(4096)
    ('512 MiB', '4.00 GiB')
    """
    return f"{value_mb:.0f} MiB" if value_mb < 1024 else f"{value_mb / 1024:.2f} GiB"  # noqa: PLR2004 - MiB in a GiB
