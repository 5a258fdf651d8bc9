"""A comparison of benchmarks for programs."""

import json

from mlflow_tfexec.reports._across._table import AcrossFormat, AcrossTable


def render(table: AcrossTable) -> str:
    """Write the comparison number by number; what is not known is null, nothing is NaN. The text is ASCII."""
    return json.dumps(table.across.to_dict(), indent=2, allow_nan=False) + "\n"


FORMAT = AcrossFormat(name="json", extension=".json", render=render)
