"""Batch sizes and shapes: one of each is a benchmark, several are a family of benchmarks."""

import dataclasses
import re
import uuid
from typing import TYPE_CHECKING, Any

from mlflow_tfexec.benchmarking.request import RunOptions, build_spec, unless_auto
from mlflow_tfexec.benchmarking.shapes import input_shapes
from mlflow_tfexec.errors import RequestError

if TYPE_CHECKING:
    from mlflow_tfexec.records.spec import Spec

# More are a slip of the finger: each takes minutes.
_MOST = 100


def build_specs(options: RunOptions) -> "tuple[Spec, ...]":
    """Check every option and give one spec per batch size and shape, of one family where there are several.

    Raises:
        RequestError: one option cannot be right, or two do not go together.
    """
    batches = _listed("batch-size", options.batch_size)
    shapes = _listed("shapes", options.shapes)
    if unless_auto(options.shapes) is not None and unless_auto(options.input_shape) is not None:
        raise RequestError(
            f"--shapes {options.shapes!r} and --input-shape {options.input_shape!r} both say what to measure. Give one."
        )
    if len(batches) * len(shapes) > _MOST:
        raise RequestError(f"--batch-size and --shapes make {len(batches) * len(shapes)} benchmarks. Ask for {_MOST}.")
    family = {"family": uuid.uuid4().hex} if len(batches) * len(shapes) > 1 else {}
    if family and unless_auto(options.inputs) is not None:
        raise RequestError(
            f"--inputs {options.inputs!r} has one batch size and shape, and several are asked for. "
            "Give each a command of its own."
        )
    specs = []
    for shape in shapes:
        for batch in batches:
            one = dataclasses.replace(options, batch_size=batch, shapes=shape)
            fields: dict[str, Any] = family if unless_auto(shape) is None else family | input_shapes("shapes", shape)
            specs.append(build_spec(one).model_copy(update=fields))
    return tuple(specs)


def _listed(option: str, text: str) -> list[str]:
    """Split at commas; each entry once. What is no list is left to whoever reads a single value."""
    if unless_auto(text) is None:
        return [text]
    # Within a shape an x stands between sizes, and a semicolon between inputs.
    entries = [entry.strip() for entry in text.split(",")]
    entries = [entry for entry in entries if entry] or [text]
    for entry in entries:
        if entries.count(entry) > 1:
            raise RequestError(f"--{option} {text!r} names {entry!r} twice. Name each once.")
    if option == "shapes" and len(entries) > 1 and all(re.fullmatch("[0-9]+", entry) for entry in entries):
        raise RequestError(
            f"--shapes {text!r} could be one shape or {len(entries)}. Write 224x224x3 for one, and for sequences of "
            f"several lengths {','.join(f'{entry}x' for entry in entries)}; one shape goes to --input-shape."
        )
    return entries
