"""A report for programs: the judgement of each benchmark, number by number."""

import json

from mlflow_tfexec.reports._format import Format
from mlflow_tfexec.reports._table import Table


def render(table: Table) -> str:
    """Write `{"benchmarks": [...]}` with the judgements as they are; what is not known is null, nothing is NaN.

    The text is ASCII, so that it survives any terminal and any pipe.
    """
    content = {"benchmarks": [benchmark.judgement.to_dict() for benchmark in table.benchmarks]}
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


FORMAT = Format(name="json", extension=".json", render=render)
