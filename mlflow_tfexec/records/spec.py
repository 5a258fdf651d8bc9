"""What is to be measured: one model, one input, one device, several modes."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field

BASELINE = "eager"
"""The mode that speed-ups and outputs are measured against."""

CONTROL_SUFFIX = "_control"
"""A mode `X_control` is `X` once more in a process of its own: the A/A control, measured and never ranked."""

DEFAULT_MARGIN = 0.05
"""Two modes whose times differ by less are equivalent in practice. The seed's three identical modes were 4 % apart."""


LIVE_PREFIX = "live:/"
"""Begins the name of a model, or of inputs, that were objects of a Python program: no reference finds them again."""


def is_live(reference: str | None) -> bool:
    """Say whether *reference* names an object of a Python program, which has ended with it."""
    return reference is not None and reference.startswith(LIVE_PREFIX)


def is_control(mode: str) -> bool:
    """Say whether *mode* is an A/A control. True: it is never ranked and never called fastest."""
    return mode.endswith(CONTROL_SUFFIX)


def controlled_mode(mode: str) -> str:
    """Name the mode that the control *mode* repeats."""
    return mode.removesuffix(CONTROL_SUFFIX)


class Preset(NamedTuple):
    """How much is measured."""

    looks: tuple[int, ...]
    """Numbers of launches after which the benchmark ends if all is decided; the last is the most there are."""
    rounds: int


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "quick": Preset(looks=(1,), rounds=10),
        "standard": Preset(looks=(3, 5), rounds=10),
        "rigorous": Preset(looks=(5, 10, 15, 20), rounds=20),
    }
)


class Spec(BaseModel):
    """One benchmark as asked for. Frozen; unknown keys from later versions are kept."""

    model_config = ConfigDict(frozen=True, extra="allow", protected_namespaces=())

    model: str
    """A reference, or the name of a live object behind `live:/`."""
    modes: tuple[str, ...]
    task: str = "inference"
    preset: str = "standard"
    batch_size: int = 1
    """Items per call. In a recording: as they were measured."""
    batch_asked: bool = False
    """True: `batch_size` was asked for. False: inputs that are given, and models of a fixed batch, go before it."""
    input_shape: tuple[int, ...] | None = None
    """Shape of one item, without the batch, for every input. None: the model's own, or `input_shapes`."""
    input_shapes: dict[str, tuple[int, ...]] = Field(default_factory=dict)
    """Shape of one item of each input that is named, by its name or, from 0, its place."""
    dtype: str = "float32"
    """A Keras dtype policy."""
    weights: str | None = None
    """None: random weights from the seed, no download."""
    custom_objects: tuple[str, ...] = ()
    """Classes and functions that a model's file needs, as `module:name` or `path/to/file.py:name`."""
    safe_mode: bool = True
    """False lets a model's file run Python code that it holds."""
    endpoint: str | None = None
    """Signature of a SavedModel. None: the only one, or the usual one."""
    inputs: str | None = None
    """A file of inputs, or a function that gives them, or `live:/inputs`. None: made up from the model's signature and
    the seed."""
    include_transfer: bool = False
    """True times the way of the inputs from the host's memory to the device as well."""
    loss: str | None = None
    """Keras name of the loss of `train`. None: the model's own, or a stated default."""
    optimizer: str | None = None
    """Keras name of the optimizer of `train`. None: the model's own, or a stated default."""
    float64_reference: bool = False
    """True also compares outputs with those of the model in float64."""
    family: str | None = None
    """What the benchmarks of one sweep over batch sizes or shapes have in common. None: it is none of a sweep."""
    device: str = "auto"
    seed: int = 0
    launches: int = 3
    """The most there are."""
    looks: tuple[int, ...] = ()
    """Numbers of launches after which the data may end the benchmark, ascending. Empty: only `launches` does."""
    rounds: int = 10
    block_ms: float = 100.0
    """Timed work per mode and round; the number of calls follows from the pilot."""
    warmup_s: float = 10.0
    """Longest warm-up per mode and launch."""
    timeout_s: float = 1800.0
    """Longest wait for one answer of a worker."""
    time_budget_s: float | None = None
    """No further launch begins that would end later than this. None: no limit."""
    margin: float = DEFAULT_MARGIN
    """Margin of practical equivalence, as a fraction."""
