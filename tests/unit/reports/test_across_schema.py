"""The JSON Schema of the JSON comparison: it takes every comparison there is, and nothing that is almost one."""

import copy
import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from mlflow_tfexec.reports._across.json import schema

APPROVED = sorted((Path(__file__).parents[2] / "golden" / "across").glob("*.json"))
VALIDATOR = Draft202012Validator(schema())
THREE = json.loads(next(path for path in APPROVED if path.stem == "three").read_text(encoding="utf-8"))

# Keys that are names given by the benchmarks, not by us.
LABELS = {"A", "B", "C"}


def places(value, path=()):
    """Give the path of every key of a document."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*path, key)
            yield from places(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from places(item, (*path, index))


KEYS = [path for path in places(THREE) if path[-1] not in LABELS]


def at(document, path):
    for key in path:
        document = document[key]
    return document


def descriptions(node):
    """Give, for every property in the schema, whether it says what it is."""
    if isinstance(node, dict):
        for name, item in node.get("properties", {}).items():
            yield name, "description" in item
        for item in node.values():
            yield from descriptions(item)


def test_schema_itself_is_valid_and_says_what_every_key_is():
    Draft202012Validator.check_schema(schema())

    assert [name for name, said in descriptions(schema()) if not said] == []


@pytest.mark.parametrize("path", APPROVED, ids=lambda path: path.stem)
def test_approved_comparisons_are_valid(path):
    assert [error.message for error in VALIDATOR.iter_errors(json.loads(path.read_text(encoding="utf-8")))] == []


def test_no_key_may_be_missing():
    for path in KEYS:
        document = copy.deepcopy(THREE)
        del at(document, path[:-1])[path[-1]]

        assert not VALIDATOR.is_valid(document), path


def test_no_other_key_may_be_there():
    for path in KEYS:
        holder = path[:-1]
        if holder and holder[0] == "findings":
            continue
        document = copy.deepcopy(THREE)
        at(document, holder)["another"] = 1

        assert not VALIDATOR.is_valid(document), path
