"""A report for programs: the judgement of each benchmark, number by number."""

import json
from importlib import resources
from typing import Any

from mlflow_tfexec.records.recording import Header
from mlflow_tfexec.reports._format import Format
from mlflow_tfexec.reports._table import Table


def render(table: Table) -> str:
    """Write `{"benchmarks": [...]}` with each benchmark's input and the judgement as it is.

    What is not known is null, nothing is NaN.

    The text is ASCII, so that it survives any terminal and any pipe. `schema` describes every key.
    """
    content = {
        "benchmarks": [
            benchmark.judgement.to_dict() | {"input": _input(benchmark.header)} for benchmark in table.benchmarks
        ]
    }
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


def _input(header: Header) -> dict[str, Any]:
    spec = header.spec
    return {
        "batch_size": spec.batch_size,
        "tensors": [
            {"name": one.name, "shape": list(one.shape), "dtype": one.dtype, "values": one.values}
            for one in header.inputs
        ],
        "given": spec.inputs,
        "sets": header.input_sets,
        "sha256": header.inputs_sha256,
        "include_transfer": spec.include_transfer,
        "family": spec.family,
    }


def schema() -> dict[str, Any]:
    """Give the JSON Schema (draft 2020-12) of what `render` writes: the content of `report.schema.json`."""
    content: dict[str, Any] = json.loads(resources.files(__package__).joinpath("report.schema.json").read_text("utf-8"))
    return content


FORMAT = Format(name="json", extension=".json", render=render)
