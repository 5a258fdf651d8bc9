"""A gate's outcomes as JUnit XML, which every continuous integration reads."""

import xml.etree.ElementTree as ET  # written only, and from our own tree

from mlflow_tfexec.records.gate import Gate, ModeOutcome
from mlflow_tfexec.text import plain


def junit(gate: Gate, *, undecided_fails: bool) -> str:
    """Write one test case per mode: a failure, skipped where undecided and let through, or passed.

    The schema is that of Apache Ant's JUnit task, as Jenkins, GitLab and others read it
    (https://llg.cubic.org/docs/junit/).
    """
    failing = [mode for mode in gate.modes if _fails(mode, undecided_fails=undecided_fails)]
    skipped = [mode for mode in gate.of("undecided") if mode not in failing]
    counts = {"tests": str(len(gate.modes)), "failures": str(len(failing)), "errors": "0", "skipped": str(len(skipped))}
    suites = ET.Element("testsuites", {"name": "mlflow-tfexec check", **counts})
    suite = ET.SubElement(suites, "testsuite", {"name": _safe(gate.model), **counts})
    properties = ET.SubElement(suite, "properties")
    facts = {"benchmark": gate.new_id, "against": gate.base_id, "margin": repr(gate.margin)}
    if gate.relative_to is not None:
        facts["relative_to"] = gate.relative_to
    for name, value in facts.items():
        ET.SubElement(properties, "property", {"name": name, "value": _safe(value)})
    for mode in gate.modes:
        case = ET.SubElement(suite, "testcase", {"classname": _safe(gate.model), "name": _safe(mode.mode)})
        if mode in failing:
            ET.SubElement(case, "failure", {"type": mode.outcome, "message": _safe(mode.reason)})
        elif mode in skipped:
            ET.SubElement(case, "skipped", {"message": _safe(mode.reason)})
        else:
            ET.SubElement(case, "system-out").text = _safe(mode.reason)
    if gate.findings:
        ET.SubElement(suite, "system-out").text = "\n".join(_safe(finding.sentence()) for finding in gate.findings)
    ET.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(suites, encoding="unicode")}\n'


def _fails(mode: ModeOutcome, *, undecided_fails: bool) -> bool:
    return mode.outcome == "regression" or (undecided_fails and mode.outcome == "undecided")


def _safe(text: str) -> str:
    """Return *text* on one line and without the two characters that XML forbids and `plain` lets through."""
    return plain(text).replace("\ufffe", "").replace("\uffff", "")
