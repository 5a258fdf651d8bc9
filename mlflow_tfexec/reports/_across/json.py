"""A comparison of benchmarks for programs."""

import json
from importlib import resources
from typing import Any

from mlflow_tfexec.reports._across._table import AcrossFormat, AcrossTable


def render(table: AcrossTable) -> str:
    """Write the comparison number by number; what is not known is null, nothing is NaN.

    The text is ASCII. `schema` describes every key.
    """
    return json.dumps(table.across.to_dict(), indent=2, allow_nan=False) + "\n"


def schema() -> dict[str, Any]:
    """Give the JSON Schema (draft 2020-12) of what `render` writes: the content of `compare.schema.json`."""
    place = resources.files("mlflow_tfexec.reports").joinpath("compare.schema.json")
    content: dict[str, Any] = json.loads(place.read_text("utf-8"))
    return content


FORMAT = AcrossFormat(name="json", extension=".json", render=render)
