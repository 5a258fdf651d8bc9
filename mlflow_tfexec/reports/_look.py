"""How modes look in every picture: told apart by shape as well as by colour, on a screen and in grey print."""

from mlflow_tfexec.records.judgement import ModeSummary
from mlflow_tfexec.records.spec import is_control
from mlflow_tfexec.reports._text import plain

LOG_AXIS_FROM = 5.0
"""Ratio of the largest to the smallest from which a linear axis would squeeze the small ones together."""

# Okabe and Ito's palette (https://jfly.uni-koeln.de/color/): told apart with any colour vision. The three also differ
# in lightness, and the marks in shape, so that a grey print keeps them apart.
RANKED = "#0072B2"
DIFFERS = "#E69F00"
CONTROL = "#8C8C8C"
INK = "#222222"

LINES = (
    ("#000000", "-"),
    ("#0072B2", "--"),
    ("#D55E00", "-."),
    ("#009E73", ":"),
    ("#CC79A7", (0, (6, 1, 1, 1, 1, 1))),
    ("#56B4E9", (0, (9, 2))),
    ("#E69F00", (0, (1, 1))),
)
"""(colour, dashes) of lines that cross, in turn; the same palette without its yellow, which paper swallows."""


def look(summary: ModeSummary) -> tuple[str, str, str]:
    """Choose (note under the name, colour, shape of the points) of a mode."""
    if summary.status != "ok":
        return plain(summary.status.replace("_", " ")), DIFFERS, "x"
    return ("A/A control", CONTROL, "D") if is_control(summary.mode) else ("", RANKED, "o")


def log_ticks(spread: float) -> tuple[float, ...]:
    """Choose the numbers within each decade that a log axis labels, for a largest of *spread* times the smallest."""
    return (1.0, 2.0, 5.0) if spread < 1000 else (1.0,)  # noqa: PLR2004 - beyond, the labels of a page would touch
