"""The JSON Schema of the JSON report: it takes every report there is, and nothing that is almost one."""

import copy
import json
from dataclasses import fields
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from mlflow_tfexec.records.findings import Finding
from mlflow_tfexec.records.judgement import Comparison, Judgement, Latency, ModeSummary, Ratio
from mlflow_tfexec.records.recording import MODE_STATUSES
from mlflow_tfexec.reports import json as json_report

GOLDEN = Path(__file__).parents[2] / "golden" / "reports"
SCHEMA = json_report.schema()
VALIDATOR = Draft202012Validator(SCHEMA)
APPROVED = sorted(GOLDEN.glob("*.json"))
OPTIONAL = {"input", "log_tail", "outputs", *("mean", "std", "p05", "p95", "p99")}


def places(value, path=()):
    """Give the path of every key and every item of a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from places(item, (*path, key))


def changed(document, path, change):
    """Return a copy of *document* in which *change* was made to the container and key at the end of *path*."""
    document = copy.deepcopy(document)
    container = document
    for key in path[:-1]:
        container = container[key]
    change(container, path[-1])
    return document


def troubled():
    return json.loads((GOLDEN / "troubled.json").read_text(encoding="utf-8"))


TROUBLED_PLACES = list(places(troubled()))
KEYS = [path for path in TROUBLED_PLACES if isinstance(path[-1], str)]


def test_schema_itself_is_valid():
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", APPROVED, ids=lambda path: path.stem)
def test_approved_reports_are_valid(path):
    assert [error.message for error in VALIDATOR.iter_errors(json.loads(path.read_text(encoding="utf-8")))] == []


def test_reports_of_today_are_valid(report):
    assert [error.message for error in VALIDATOR.iter_errors(json.loads(json_report.render(report)))] == []


def test_a_report_on_nothing_is_valid():
    assert VALIDATOR.is_valid({"benchmarks": []})


def test_a_missing_key_is_found_wherever_it_is():
    required = [path for path in KEYS if not (path[-1] in {"log_tail", "input"} or "intervals" in path[:-1])]

    missed = [
        path for path in required if VALIDATOR.is_valid(changed(troubled(), path, lambda owner, key: owner.pop(key)))
    ]

    assert len(required) > 100
    assert missed == []


@pytest.mark.parametrize("wrong", [{"strange": 1}, [[]]], ids=["object", "array"])
def test_a_value_of_the_wrong_type_is_found_wherever_it_is(wrong):
    def put(owner, key):
        owner[key] = wrong

    assert [path for path in TROUBLED_PLACES if VALIDATOR.is_valid(changed(troubled(), path, put))] == []


def test_texts_are_no_numbers_and_numbers_no_texts():
    def swap(owner, key):
        owner[key] = 1 if isinstance(owner[key], str) else "1"

    plain = [path for path in TROUBLED_PLACES if not isinstance(value_at(troubled(), path), dict | list | None)]

    assert [path for path in plain if VALIDATOR.is_valid(changed(troubled(), path, swap))] == []


def value_at(document, path):
    for key in path:
        document = document[key]
    return document


def test_a_key_too_many_is_found_except_in_a_finding():
    def add(owner, key):
        owner[key]["surplus"] = 1

    objects = [path for path in TROUBLED_PLACES if isinstance(value_at(troubled(), path), dict)]
    accepted = [path for path in objects if VALIDATOR.is_valid(changed(troubled(), path, add))]

    assert accepted == [path for path in objects if path[-2] == "findings"]
    assert len(objects) > len(accepted) > 0


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("scope",), "this lunch only"),
        (("comparisons", 0, "verdict"), "same"),
        (("comparisons", 0, "ratio"), 0),
        (("comparisons", 0, "ci95"), [None, None]),
        (("comparisons", 0, "ci95"), [1.0]),
        (("modes", 0, "latency_ms", "calls"), 1.5),
        (("modes", 0, "latency_ms", "median"), None),
        (("modes", 0, "speedup"), [1, 2]),
    ],
)
def test_a_value_out_of_range_is_found(path, value):
    def put(owner, key):
        owner[key] = value

    assert not VALIDATOR.is_valid(changed(troubled(), ("benchmarks", 0, *path), put))


@pytest.mark.parametrize(
    ("name", "record"),
    [
        ("benchmark", Judgement),
        ("mode", ModeSummary),
        ("latency", Latency),
        ("ratio", Ratio),
    ],
)
def test_keys_are_the_fields_of_the_record(name, record):
    # Beside the judgement, a benchmark has its input.
    properties = [key for key in SCHEMA["$defs"][name]["properties"] if key != "input"]

    assert properties == [field.name for field in fields(record)]


def test_keys_of_a_finding_are_its_fields():
    assert list(SCHEMA["$defs"]["finding"]["properties"]) == list(Finding.model_fields)


def test_a_comparison_has_its_interval_as_one_pair():
    names = [field.name for field in fields(Comparison)]

    assert set(SCHEMA["$defs"]["comparison"]["properties"]) == {*names, "ci95"} - {"ci95_low", "ci95_high"}


def test_every_status_is_named():
    assert SCHEMA["$defs"]["mode"]["properties"]["status"]["examples"] == list(MODE_STATUSES)


def described(node):
    """Give every object of the schema that stands for a value."""
    for definition in (node, *node["$defs"].values()):
        yield definition
        for name, part in definition.get("properties", {}).items():
            yield part | {"name": name}
            yield from part.get("properties", {}).values()


def test_every_key_is_described():
    parts = list(described(SCHEMA))

    assert len(parts) > 60
    assert [part for part in parts if not part.get("description", "").endswith(".")] == []


def test_every_key_is_required_but_those_that_may_be_left_out():
    objects = [part for part in described(SCHEMA) if part.get("type") == "object"]

    left_out = {name for part in objects for name in part["properties"] if name not in part["required"]}
    assert left_out == OPTIONAL


def test_the_caller_may_change_what_it_was_given():
    json_report.schema().clear()

    assert json_report.schema() == SCHEMA
