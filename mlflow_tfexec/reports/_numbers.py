"""Numbers with their uncertainty, written with as many digits as tell the two apart."""

from mlflow_tfexec import units

_FACTOR_FROM_MS = {"ns": 1e6, "µs": 1e3, "ms": 1.0, "s": 1e-3}


def mean_with_std(mean_ms: float, std_ms: float | None, *, like_ms: float) -> str:
    """Write a mean and its standard deviation in the unit that fits *like_ms*, such as `369 ± 3.6 ms`."""
    factor, unit = unit_for(like_ms)
    mean = units.significant(mean_ms * factor)
    return f"{mean} {unit}" if std_ms is None else f"{mean} ± {units.significant(std_ms * factor, digits=2)} {unit}"


def duration_with_interval(value_ms: float, low_ms: float | None, high_ms: float | None) -> str:
    """Write a duration and its interval in one unit, such as `11.6 [11.5, 11.8] ms`."""
    factor, unit = unit_for(value_ms)
    value, interval = _alike(
        value_ms * factor,
        None if low_ms is None else low_ms * factor,
        None if high_ms is None else high_ms * factor,
    )
    return f"{value}{interval} {unit}"


def duration_like(value_ms: float, *, like_ms: float) -> str:
    """Write a duration in the unit that fits *like_ms*, or in its own where that would take too many digits."""
    factor, unit = unit_for(like_ms)
    too_long = 1e5
    too_short = 1e-2
    if too_short <= abs(value_ms * factor) < too_long:
        return f"{units.significant(value_ms * factor)} {unit}"
    return units.duration(value_ms)


def ratio_with_interval(value: float, low: float | None, high: float | None) -> str:
    """Write a ratio of two times and its interval, such as `1.01× [0.98, 1.03]`."""
    text, interval = _alike(value, low, high)
    return f"{text}×{interval}"


def percent(fraction: float) -> str:
    """Write a fraction as a percentage.

    >>> percent(0.05), percent(0.025)
    ('5 %', '2.5 %')
    """
    return f"{fraction * 100:.6g} %"


def shape(dimensions: tuple[int, ...]) -> str:
    """Write the shape of a tensor.

    >>> shape((1, 384, 384, 3)), shape((8,))
    ('(1, 384, 384, 3)', '(8,)')
    """
    return str(tuple(dimensions))


def unit_for(value_ms: float) -> tuple[float, str]:
    """Return (factor from ms, unit) in which *value_ms* reads well; the choice is that of `units.duration`."""
    unit = units.duration(value_ms).rsplit(" ", maxsplit=1)[1]
    return _FACTOR_FROM_MS[unit], unit


def _alike(value: float, low: float | None, high: float | None) -> tuple[str, str]:
    """Write a value and its interval with the same number of decimals.

    A narrow interval gets up to two digits more, so that it does not read `[1.00, 1.00]`.
    """
    if low is None or high is None:
        return units.significant(value), ""
    texts = [""] * 3
    for digits in (3, 4, 5):
        decimals = len(units.significant(value, digits=digits).partition(".")[2])
        texts = [f"{number:.{decimals}f}" for number in (value, low, high)]
        if texts[1] != texts[0] != texts[2]:
            break
    return texts[0], f" [{texts[1]}, {texts[2]}]"
