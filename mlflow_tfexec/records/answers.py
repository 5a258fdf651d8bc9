"""How far the answers of a mode are from the baseline's, and what a step of `train` is."""

from mlflow_tfexec.records.line import Line

UNDETERMINED = 0.01
"""What a few roundings change by more than this, of the largest value, the model does not determine.

A deep network of random weights may answer anything. The gradient of a bias before a normalization is 0 but for
roundings, and Adam makes full steps of them. Such numbers are not judged.
"""


class OutputFigures(Line):
    """How far one output of a mode is from the baseline's. Errors come from finite numbers only."""

    place: int
    """From 0, in the order in which the model gives its outputs; of `train`: the losses, then every weight."""
    name: str | None = None
    """Where it stands in the structure of outputs, or which weight it is. None: it is the only output."""
    within_tolerance: bool
    max_abs_error: float | None = None
    max_rel_error: float | None = None
    """Of the largest value of this output. None: there is none, or it is 0."""
    cosine: float | None = None
    """Of the angle between the two as vectors. None: one of them is 0."""
    nan_count: int | None = None
    """None: not an output of floats."""
    inf_count: int | None = None
    baseline_nan_count: int | None = None
    baseline_inf_count: int | None = None
    argmax_agreement: float | None = None
    """Share of items whose largest element along the last axis stands at the same place. None: not such an output."""
    rounding: float | None = None
    """What a change by a few roundings makes of the baseline's, of the largest value.

    Of `train` a change of every weight; of `inference` one of every input, noted only where it is too much. Above
    UNDETERMINED these numbers are not judged.
    """
    float64_error: float | None = None
    """Largest distance from the model in float64, of its largest value. None: there is no such reference."""


class OutputDifference(Line):
    """How far a mode's outputs are from the baseline's."""

    max_abs_error: float | None = None
    max_rel_error: float | None = None
    within_tolerance: bool | None = None
    """None: not compared, or not to be judged."""
    rtol: float | None = None
    atol: float | None = None
    outputs: tuple[OutputFigures, ...] = ()
    """Those that differ most first. Empty: not recorded."""
    outputs_left_out: int | None = None
    """Outputs that differ less and are not listed."""
    by_seed: bool | None = None
    """True: it differs beyond the tolerance, and no more than by what another seed does to the baseline."""
    float64_error: float | None = None
    """The largest of all outputs."""
    baseline_float64_error: float | None = None


class TrainingFacts(Line):
    """What a step of `train` minimises, and how."""

    loss: str
    """By Keras's name."""
    loss_is_default: bool
    """True: it was chosen here, since neither the request nor the model names one."""
    optimizer: str
    optimizer_is_default: bool
    learning_rate: float | None = None
    """None: it follows a schedule."""
    loss_scaling: bool = False
    """True: Keras's LossScaleOptimizer is around it, since the policy is mixed_float16."""
    targets: str
    """What the made-up targets are, such as `one class of 10 per item`."""
    compared_steps: int
    """Losses and weights of every mode are compared with the baseline's after so many steps on one batch."""
    draws_random: bool = False
    """True: layers such as dropout draw random numbers."""
