"""The diagnosis for programs and for people."""

import json
from typing import get_args

import pytest
from jsonschema import Draft202012Validator
from machines import answer, cpu_machine, gpu_machine

from mlflow_tfexec.cli.doctor_text import to_text
from mlflow_tfexec.diagnosis import all_checks, diagnose, is_ready
from mlflow_tfexec.diagnosis._check import Group, Status
from mlflow_tfexec.diagnosis._document import schema, to_json
from mlflow_tfexec.diagnosis._facts import EnvironmentManager, Project, Tracking

SCHEMA = schema()
VALIDATOR = Draft202012Validator(SCHEMA)
RESULT = SCHEMA["$defs"]["result"]["properties"]

MACHINES = {
    "cpu": cpu_machine(),
    "gpu": gpu_machine(),
    "dead": cpu_machine(tensorflow=answer(until="import", end="no answer within 120 s"), tracking=None, spool=None),
    "no line": cpu_machine(project=Project("/src", managers=(EnvironmentManager("local", problem="lacks mlflow"),))),
}


def written(facts):
    from mlflow_tfexec.diagnosis.mlflow_run import start_line

    diagnosis = diagnose(facts)
    ready = is_ready([result for results in diagnosis.values() for result in results])
    return diagnosis, {"ready": ready, "start": start_line(facts.project)}


def document(facts):
    diagnosis, summary = written(facts)
    return json.loads(to_json(diagnosis, **summary))


def text(facts, **options):
    diagnosis, summary = written(facts)
    return to_text(diagnosis, **summary, **options)


def test_schema_itself_is_valid_and_closed():
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["additionalProperties"] is SCHEMA["$defs"]["result"]["additionalProperties"] is False
    assert set(SCHEMA["required"]) == set(SCHEMA["properties"])
    assert set(SCHEMA["$defs"]["result"]["required"]) == set(RESULT)


def test_schema_names_the_checks_groups_and_statuses_that_there_are():
    assert RESULT["check"]["enum"] == [check.name for check in all_checks()]
    assert RESULT["group"]["enum"] == list(get_args(Group))
    assert RESULT["status"]["enum"] == list(get_args(Status))


@pytest.mark.parametrize("facts", MACHINES.values(), ids=MACHINES)
def test_every_diagnosis_is_valid(facts):
    assert [error.message for error in VALIDATOR.iter_errors(document(facts))] == []


def test_a_document_that_lacks_a_key_or_has_another_is_not_valid():
    for key in ("ready", "start", "results", "version"):
        broken = document(cpu_machine())
        del broken[key]
        assert not VALIDATOR.is_valid(broken)
    assert not VALIDATOR.is_valid({**document(cpu_machine()), "extra": 1})


def test_the_document_says_whether_it_is_ready_and_how_to_start():
    ready, dead, no_line = (document(MACHINES[name]) for name in ("cpu", "dead", "no line"))

    assert (ready["ready"], ready["start"]) == (True, "mlflow run . --env-manager local -P model=EfficientNetV2S")
    assert dead["ready"] is False
    assert (no_line["ready"], no_line["start"]) == (True, None)


def test_the_text_of_a_machine_in_order():
    assert (
        text(cpu_machine())
        == """\
TensorFlow
  ✓  TensorFlow 2.21.0 with Keras 3.15.1 imports in 4.6 s and computes on CPU
  ✓  XLA compiled and ran a small function in 80 ms
  ✓  oneDNN's operations are on
  ✓  A 512×512 matrix product on CPU takes 2.0 ms in float32, 2.1 ms in float16, 500 µs in bfloat16

GPU
  !  No GPU: NVIDIA driver library libnvidia-ml.so.1 not found
     benchmarks run on the CPU; --device gpu is refused
     → Install or repair the NVIDIA driver, or use --device cpu

Machine
  ✓  8 of 96 cores may be used (AMD EPYC 9654)
  ✓  390.62 GiB are free; a TensorFlow process without a model took 700 MiB, and a benchmark of 5 modes keeps as many
     alive
  ✓  0.1 processes wanted a core in the last minute, of 96

Settings
  ✓  No variable is set that bends results

Results
  ✓  MLflow answers at http://mlflow.example:5000
  ✓  Recordings go to /home/me/.mlflow-tfexec/spool, 49 GiB free

Start
  ✓  Python 3.11.7 has all 13 packages that mlflow-tfexec asks for
  ✓  Environments for `mlflow run`: local works (all)
     → Start with: mlflow run . --env-manager local -P model=EfficientNetV2S

A benchmark can run here (1 note):
  mlflow run . --env-manager local -P model=EfficientNetV2S
""".replace("49 GiB", "48.83 GiB")
    )


def test_the_text_ends_with_what_is_missing():
    lines = text(MACHINES["dead"]).splitlines()

    assert lines[-1] == "It is not shown that a benchmark can run here (7 unknown, 1 note)."


def test_the_text_gives_no_line_where_none_works():
    assert text(MACHINES["no line"]).splitlines()[-1] == "A benchmark can run here (1 problem, 1 note)."


def test_text_from_outside_cannot_steer_the_terminal():
    facts = cpu_machine(tracking=Tracking("http://x", problem="Cannot\x1b[2J use\u202e it"))

    assert "\x1b" not in text(facts)
    assert "\u202e" not in text(facts)


def test_colour_is_for_terminals_only():
    assert "\x1b[" not in text(gpu_machine())
    assert "\x1b[" in text(gpu_machine(), color=True)


def test_no_line_is_wider_than_the_terminal_but_the_one_to_copy():
    facts = cpu_machine(project=Project("/a/" + 60 * "b", managers=(EnvironmentManager("local"),)))
    lines = text(facts, width=60).splitlines()

    assert all(len(line) <= 60 for line in lines[:-1])
    assert lines[-1].endswith("-P model=EfficientNetV2S")
