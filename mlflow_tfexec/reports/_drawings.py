"""Every picture of a benchmark."""

from mlflow_tfexec.records.judgement import Judgement
from mlflow_tfexec.records.recording import Recording
from mlflow_tfexec.reports._cost_picture import cost_drawing
from mlflow_tfexec.reports._drawing import Drawing
from mlflow_tfexec.reports._latency_picture import latency_drawing
from mlflow_tfexec.reports._order_picture import order_drawing
from mlflow_tfexec.reports._speedup_picture import speedup_drawing


def drawings(recording: Recording, judgement: Judgement) -> tuple[Drawing, ...]:
    """Give the pictures of a benchmark, as far as there is something to show, in the order of a page."""
    all_ = (
        latency_drawing(recording, judgement),
        speedup_drawing(judgement),
        order_drawing(recording, judgement),
        cost_drawing(recording, judgement),
    )
    return tuple(drawing for drawing in all_ if drawing is not None)
