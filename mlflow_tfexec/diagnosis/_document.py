"""A diagnosis for programs."""

import json
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from mlflow_tfexec._version import __version__
from mlflow_tfexec.diagnosis._check import Check, Result


def to_json(diagnosis: Mapping[Check, Sequence[Result]], *, ready: bool, start: str | None) -> str:
    """Write the results in the order of the checks; what is not known is null. The text is ASCII.

    `schema` describes every key.
    """
    content = {
        "version": __version__,
        "ready": ready,
        "start": start,
        "results": [_record(check, result) for check, results in diagnosis.items() for result in results],
    }
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


def schema() -> dict[str, Any]:
    """Give the JSON Schema (draft 2020-12) of what `to_json` writes: the content of `doctor.schema.json`."""
    content: dict[str, Any] = json.loads(resources.files(__package__).joinpath("doctor.schema.json").read_text("utf-8"))
    return content


def _record(check: Check, result: Result) -> dict[str, Any]:
    return {
        "check": check.name,
        "group": check.group,
        "status": result.status,
        "found": result.found,
        "why": result.why,
        "do": result.do,
        "blocks": result.blocks,
    }
