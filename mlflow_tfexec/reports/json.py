"""A report for programs: the judgement of each benchmark, number by number."""

import json
from importlib import resources
from typing import Any

from mlflow_tfexec.reports._format import Format
from mlflow_tfexec.reports._table import Table


def render(table: Table) -> str:
    """Write `{"benchmarks": [...]}` with the judgements as they are; what is not known is null, nothing is NaN.

    The text is ASCII, so that it survives any terminal and any pipe. `schema` describes every key.
    """
    content = {"benchmarks": [benchmark.judgement.to_dict() for benchmark in table.benchmarks]}
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


def schema() -> dict[str, Any]:
    """Give the JSON Schema (draft 2020-12) of what `render` writes: the content of `report.schema.json`."""
    content: dict[str, Any] = json.loads(resources.files(__package__).joinpath("report.schema.json").read_text("utf-8"))
    return content


FORMAT = Format(name="json", extension=".json", render=render)
